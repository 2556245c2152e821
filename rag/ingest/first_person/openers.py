"""Opening questions for an interview, made from the page's sections."""

from __future__ import annotations

from rag.types import Document, Language

_MOST = 5
_FIRST: dict[Language, str] = {
    "en": "What can I ask you about?",
    "es": "¿Sobre qué te puedo preguntar?",
}
_YOURS: dict[str, dict[str, str]] = {
    "en": dict.fromkeys(
        """family childhood education career death legacy work works youth marriage parents research
        childhood-and-education early-life personal-life later-life private-life early-years later-years
        illness-and-death family-and-childhood husband-and-children later-interests portraits upbringing
        first-tutors early-career books writings awards health politics""".split(),
        "Tell me about your {topic}.",
    ),
    "es": {
        **dict.fromkeys("familia infancia juventud educación formación carrera muerte vida-familiar "
                        "vida-personal carrera-científica obra infancia-y-juventud".split(),
                        "Háblame de tu {topic}."),
        **dict.fromkeys("primeros-años últimos-años estudios libros discípulos premios colegios "
                        "últimos-años-y-muerte estudios-de-medicina".split(), "Háblame de tus {topic}."),
    },
}  # fmt: skip
_ANY: dict[Language, str] = {"en": "Tell me about “{topic}”.", "es": "Háblame de «{topic}»."}
_FACTS = frozenset({"Facts", "Datos"})


def section_openers(document: Document) -> dict[str, list[str]]:
    """Up to six questions in the page's own language, each about another part of the page."""
    language: Language = "es" if document.language == "es" else "en"
    parts: dict[str, str] = {}
    for block in document.blocks:
        if block.section and block.kind != "heading" and block.section[0] not in _FACTS:
            parts.setdefault(block.section[0], block.section[-1])
    asked = [_question(topic, language) for topic in parts.values()]
    step = max(1, len(asked) // _MOST)
    return {language: [_FIRST[language], *asked[::step][:_MOST]]}


def _question(heading: str, language: Language) -> str:
    """About what a person has, where the heading is such a thing; else about the heading."""
    topic = heading[:1].lower() + heading[1:]
    yours = _YOURS[language].get("-".join(topic.split()))
    return yours.format(topic=topic) if yours else _ANY[language].format(topic=heading)
