"""Does an answer of an interview hold the first person? Judged from the text alone.

What speaks only of other people or things holds it, and so does what is quoted from the page as such
("My page puts it like this: …"). What speaks of the subject from outside doesn't: by name, by a
pronoun that nobody else in the answer could be meant by, in Spanish by a verb without a subject. The
product's own check isn't asked: this looks for other signs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answer.interview.voice import frames
from rag.ingest.first_person.spanish_verbs import preterite
from rag.ingest.sentences import sentences
from rag.types import Card, Language

_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|«[^»]*»|\[\d+\]")
_MACHINE = re.compile(
    r"\bas an ai\b|\blanguage model\b|\bcomo (?:una )?ia\b|\bmodelo de lenguaje\b|\bbased on the\b|"
    r"\b(?:according to|in) (?:the|this) (?:page|article|text|context|passages?|notes provided)\b|"
    r"\b(?:the|this) (?:page|article|text|context|passages?|notes) (?:says?|states?|mentions?|does|do)\b|"
    r"\b(?:según|en) (?:la página|el texto|el artículo|el contexto|las notas)\b|\bla página dice\b",
    re.I,
)
_PRONOUN: dict[Language, dict[str, re.Pattern[str]]] = {
    "en": {
        "m": re.compile(r"\b(?:he|him|his|himself)\b", re.I),
        "f": re.compile(r"\b(?:she|her|hers|herself)\b", re.I),
    },
    "es": {
        "m": re.compile(r"\bél\b|\bsus? (?:padres?|madre|mujer|hij[oa]s?|herman[oa]s?)\b", re.I),
        "f": re.compile(r"\bella\b|\bsus? (?:padres?|madre|marido|hij[oa]s?|herman[oa]s?)\b", re.I),
    },
}
_NAMED = (
    r"(?<!\b[Ii]n )(?<!\b[Aa]t )(?<!\b[Ff]rom )(?<!\bto )(?<!\bnear )(?<!\b[Ee]n )(?<!\b[Aa] )"
    r"(?<=[\w,;] )[A-ZÁÉÍÓÚ][a-záéíóúñü]+|"
)
_EITHER = "child|friend|student|teacher|pupil|artist|judge|doctor|discípulo|maestro"
_SOMEBODY = {
    "m": re.compile(
        rf"{_NAMED}\b(?:father|grandfather|husband|son|brother|uncle|man|boy|engineer|headmaster|tutor|king|"
        rf"padre|abuelo|marido|hijo|hermano|tío|hombre|muchacho|amigo|rey|alcalde|{_EITHER})\b"
    ),
    "f": re.compile(
        rf"{_NAMED}\b(?:mother|grandmother|wife|daughter|sister|aunt|woman|women|girl|governess|queen|madre|"
        rf"abuela|mujer|hija|hermana|tía|muchacha|amiga|reina|{_EITHER})\b"
    ),
}
"""Who else a pronoun may mean: a person's name, not a place's, or a word for one of that gender."""
_NAMED_SO = re.compile(
    r"(?:\b[Tt]he (?:[a-z]+ ){1,2}|[A-ZÁÉÍÓÚ][\w.'’-]*|[(«“]|\b(?:a|an|the|of|called|named|me|as|después|de|"
    r"del|el|la|y|and|llam\w+))\s*$"
)
_ADVERBIAL = re.compile(
    r"^(?:En|A|Al|Desde|Durante|Tras|Con|Por|Entre|Hasta|De|Del|Allí|Aquí)\b[^,]*, "
)
_SUBJECT_FOLLOWS = re.compile(
    r"(?:el|la|los|las|un|una|su|sus|mi|mis|otro|otra|aquel|este|esta|[A-ZÁÉÍÓÚ]\w+)\b"
)
_MAKES_IT_IMPERSONAL = re.compile(r"^(?:Hubo|Hizo falta|Ocurrió|Bastó|Faltó)\b")


def fault(text: str, language: Language, card: Card) -> str | None:
    """What in an answer speaks of the subject from outside, or as a program would; None for nothing."""
    told = text
    for frame in frames(language):
        told = told.replace(frame, " ")
    told = _QUOTED.sub(" ", told)
    machine = _MACHINE.search(told)
    if machine:
        return machine.group()
    for sentence in sentences(told, language):
        found = _name(sentence, card) or (_bare_verb(sentence) if language == "es" else None)
        if found:
            return found
    return _pronoun(told, language, card)


def _name(sentence: str, card: Card) -> str | None:
    """The subject's name as that of somebody who does something; not as part of a longer name."""
    for name in sorted({card.name, *card.names}, key=len, reverse=True):
        for match in re.finditer(rf"\b{re.escape(name)}\b(?![-'’]|,? [A-ZÁÉÍÓÚ(])", sentence):
            before = sentence[: match.start()]
            if not _NAMED_SO.search(before) and not re.match(r"(?:I|Yo), $", before):
                return match.group()
    return None


def _pronoun(text: str, language: Language, card: Card) -> str | None:
    """A pronoun that could mean the subject and, of those named before it, nobody else."""
    names: Sequence[str] = (card.name, *card.names)
    for match in _PRONOUN[language][card.gender].finditer(text):
        before = text[: match.start()]
        for name in names:
            before = re.sub(rf"\b{re.escape(name)}\b", " ", before)
        if not _SOMEBODY[card.gender].search(before):
            return match.group()
    return None


def _bare_verb(sentence: str) -> str | None:
    """A verb in the third person that opens a sentence and has no subject behind it."""
    rest = _ADVERBIAL.sub("", sentence.strip(" -"))
    verb, _, after = rest.partition(" ")
    if _MAKES_IT_IMPERSONAL.match(rest) or not preterite(verb.lower()):
        return None
    return None if _SUBJECT_FOLLOWS.match(after) else verb
