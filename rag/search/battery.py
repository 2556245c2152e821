"""Questions made from the collection itself: to calibrate the gate with, and to open a chat with."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from rag.search import analyse
from rag.search.calibrate import Labelled
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.types import Chunk, FootnoteError, Mode, Progress

Writer = Callable[[str, str, str], str]
"""(title, passage, language) → one question that the passage answers, or anything else."""

MOST = 56
_MOST_OF_ONE_PAGE = 24
_OPENERS = 6
_RARE = 0.8
_ABOUT = 0.6
_TELLING, _TELLING_ALONE = 0.3, 0.7
"""Least rarity of a word that tells what a question is about, with another and alone."""
_SHORT = {"en": "What is {}?", "es": "qué es {}"}
_OVERVIEW = {
    "en": {"blog": "What topics does this blog cover?", "interview": "What can I ask you about?"},
    "es": {"blog": "¿De qué trata este blog?", "interview": "¿Sobre qué te puedo preguntar?"},
}
_POINTS_AT_TEXT = re.compile(
    r"\b(?:passage|text|paragraph|article|post|author|section|excerpt|example above|following|"
    r"pasaje|texto|parrafo|articulo|entrada|autora?|seccion|fragmento|siguiente)\b"
)


def make_battery(chunks: Sequence[Chunk], writer: Writer, progress: Progress) -> list[Labelled]:
    """Some questions, spread evenly over the pages, each with the page that answers it."""
    usable = [c for c in chunks if c.kind != "overview" and len(c.sentences) > 1]
    single = len({c.page for c in usable}) == 1
    chosen = _spread(usable, _MOST_OF_ONE_PAGE if single else MOST)
    battery: dict[str, Labelled] = {}
    for done, chunk in enumerate(chosen, 1):
        question = _clean(writer(chunk.title, chunk.text, chunk.language))
        if question:
            key = analyse.fold(question)
            source = chunk.url if single else chunk.page
            battery.setdefault(key, Labelled(question, chunk.language, True, source))
        progress("questions", done, len(chosen))
    for labelled in _short_ones(usable):
        battery.setdefault(analyse.fold(labelled.question), labelled)
    return list(battery.values())


def _short_ones(chunks: Sequence[Chunk]) -> list[Labelled]:
    """ "What is …?" for the rarest word of a page's title, for up to MOST pages.

    Readers ask in few words, and few words score lower than a model's careful question.
    """
    titles = {chunk.page: chunk for chunk in chunks}
    asked = []
    step = 1 + len(titles) // MOST
    for chunk in list(titles.values())[::step]:
        words = sorted(analyse.content_words(chunk.title), key=lambda w: -analyse.rarity(w.folded))
        if words and analyse.rarity(words[0].folded) >= _RARE and chunk.language in _SHORT:
            question = _SHORT[chunk.language].format(words[0].text)
            asked.append(Labelled(question, chunk.language, True, chunk.page))
    return asked


def read_battery(path: Path) -> list[Labelled]:
    """The author's own: JSON lines `{"question", "language", "answerable"}`. Raises FootnoteError."""
    battery = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FootnoteError(f"Cannot read the battery {path}: {error}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            battery.append(
                Labelled(str(entry["question"]), str(entry["language"]), bool(entry["answerable"]))
            )
        except (ValueError, KeyError, TypeError) as error:
            raise FootnoteError(
                f'{path}, line {number}: needs {{"question", "language", "answerable"}} as JSON.'
            ) from error
    return battery


# An interrogative, its verb soon after, and something behind it: what a reader would type.
_WELL_FORMED = {
    "en": re.compile(
        r"(?:What|Which|Who|Why|When|Where|How)(?: \w+){0,2} (?:is|are|was|were|do|does|did|can|"
        r"should|has|have|had|will|would)\b(?: \S+){2,10}\?|What is [A-Z][A-Z0-9]{2,}\?"
    ),
    "es": re.compile(
        r"¿(?:Qué|Cuál|Cuáles|Quién|Por qué|Cuándo|Dónde|Cómo|Cuánt[oa]s?)(?: \S+){2,10}\?"
    ),
}


def invitations(
    searcher: Searcher, gate: Gate, battery: Sequence[Labelled], k: int
) -> list[Labelled]:
    """The questions that may be offered to a reader, the surest first.

    The gate lets them through and their own page comes up first, they are about what their page is
    about, and are put as a reader would.
    """
    headings: dict[str, str] = defaultdict(str)
    for chunk in searcher.stored.chunks:
        for address in set(_addresses(chunk)):
            headings[address] += f" {chunk.title} {chunk.section or ''} {' '.join(chunk.tags)}"
    ranked = []
    for labelled in battery:
        language, source = labelled.language, labelled.source
        if language not in _WELL_FORMED or not source:
            continue
        if not _WELL_FORMED[language].fullmatch(labelled.question):
            continue
        if not _names_its_subject(labelled.question, language):
            continue
        if not _is_about(labelled.question, headings[source], language):
            continue
        result = searcher.search(labelled.question, k, language)
        verdict = gate.decide(labelled.question, result, language)
        if verdict.passes and source in _addresses(result.hits[0].chunk):
            ranked.append((verdict.score, labelled))
    return [labelled for _, labelled in sorted(ranked, key=lambda item: -item[0])]


def openers(inviting: Sequence[Labelled], mode: Mode) -> dict[str, list[str]]:
    """Per language, the overview question and the surest others, one a page, to show the breadth."""
    found: dict[str, list[str]] = {}
    for language, by_mode in _OVERVIEW.items():
        pages: dict[str | None, str] = {}
        for labelled in inviting:
            if labelled.language == language:
                pages.setdefault(labelled.source, labelled.question)
        found[language] = [by_mode[mode], *list(pages.values())[: _OPENERS - 1]]
    return found


def by_page(inviting: Sequence[Labelled]) -> dict[str, dict[str, list[str]]]:
    """Questions to go on with: per language and page (of an article, section)."""
    found: dict[str, dict[str, list[str]]] = {}
    for labelled in inviting:
        pages = found.setdefault(labelled.language, {})
        pages.setdefault(str(labelled.source), []).append(labelled.question)
    return found


def _names_its_subject(question: str, language: str) -> bool:
    """Whether a question is understood by one who hasn't its passage before him.

    "Where should the threshold be placed?" isn't: of what? It takes two words that aren't everyday
    ones, or one that is rare.
    """
    weights = {
        analyse.stem(w.folded, language): analyse.rarity(w.folded)
        for w in analyse.content_words(question)
    }
    telling = [weight for weight in weights.values() if weight >= _TELLING]
    return len(telling) > 1 or max(telling, default=0.0) >= _TELLING_ALONE


def _is_about(question: str, headings: str, language: str) -> bool:
    """Whether most of a question's words, by rarity, stand in the titles that it is asked under.

    What a passage mentions by the way is no invitation.
    """
    held = frozenset(analyse.terms(headings, language))
    words = analyse.content_words(question)
    weights = {analyse.stem(w.folded, language): 0.15 + analyse.rarity(w.folded) for w in words}
    told = sum(weight for stem, weight in weights.items() if stem in held)
    return told >= _ABOUT * sum(weights.values())


def _addresses(chunk: Chunk) -> tuple[str, str]:
    return chunk.page, chunk.url


def _spread(chunks: Sequence[Chunk], most: int) -> list[Chunk]:
    """Takes from every page in turn, each page's chunks in order."""
    by_page: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        by_page[chunk.page].append(chunk)
    rounds = max((len(own) for own in by_page.values()), default=0)
    turns = [own[i] for i in range(rounds) for own in by_page.values() if i < len(own)]
    return turns[:most]


def _clean(text: str) -> str | None:
    """The first question in what a model wrote, if it can stand alone and names its subject."""
    match = re.search(r"[¿A-ZÁÉÍÓÚÑ][^?\n]{12,200}\?", text)
    if not match:
        return None
    question = " ".join(match.group().split())
    if _POINTS_AT_TEXT.search(analyse.fold(question)) or len(analyse.content_words(question)) < 2:
        return None
    return question
