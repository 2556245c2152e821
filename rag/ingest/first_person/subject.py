"""Whom an article is about: the person's names and gender, or nobody."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from rag.types import Document

Gender = Literal["m", "f"]

_BORN = re.compile(
    r"\b(?:née?|born|nacid[oa]|nació)\b|\(\D{0,60}\b\d{1,2}\s+(?:de\s+)?\w+\s+(?:de\s+)?\d{3,4}\b"
    r"|\([A-ZÁÉÍÓÚ][^\d()]{1,60}, (?:c\. ?|hacia )?\d{3,4}\b"
)
# A school or a war has years too; only what the lead calls he or she was born then.
_YEARS = re.compile(r"\((?:c\. ?|circa |hacia )?\d{3,4}\s*[–-]")
_IT = re.compile(r"\b(?:it|its)\b", re.I)
_BORN_FACT = re.compile(r"(?:^|: )(?:Born|Date of birth|Nacimiento|Fecha de nacimiento):", re.M)
_MALE = re.compile(r"\b(?:he|him|his|himself|él|hijo|fue un|un|nacido|conocido|llamado)\b")
_FEMALE = re.compile(r"\b(?:she|her|hers|herself|ella|hija|fue una|una|nacida|conocida|llamada)\b")
_ENGLISH_PRONOUNS = {"m": r"\b(?:he|him|his|himself)\b", "f": r"\b(?:she|her|hers|herself)\b"}
_LEAST_PRONOUNS = 3
_SUFFIX = re.compile(r",? (?:Jr|Sr|II|III|IV)\.?$")
_PARTICLES = frozenset("de del la las los y e i van von der den di da dos ap of the".split())


@dataclass(frozen=True)
class Subject:
    """The person that an article is about."""

    name: str
    """As a reader would say it: the title without what tells it from others of the name."""
    gender: Gender
    language: str
    full_name: str
    """What the lead begins with; may equal `name`."""
    names: frozenset[str]
    """Single words that mean the person when they stand alone."""
    is_dead: bool
    """Whether the lead names a year of death."""


def find_subject(document: Document) -> Subject | None:
    """The person behind an article; None for one about anything else.

    A person has a date of birth, and in English a gender that the text's pronouns agree on.
    """
    lead = next((b.text for b in document.blocks if b.kind == "paragraph"), "")
    facts = "\n".join(b.text for b in document.blocks if b.kind == "facts")
    born = _BORN.search(lead[:400]) or _BORN_FACT.search(facts)
    if not (born or _lived(lead, document.language)):
        return None
    gender = _gender(document, lead)
    if gender is None:
        return None
    name = _SUFFIX.sub("", document.title.partition(" (")[0].strip())
    words = [w for w in name.split() if w.lower() not in _PARTICLES]
    names = {words[0], words[-1]} if words else set()
    if document.language == "es" and len(words) > 2:
        names.add(words[-2])  # the first of two surnames
    full = re.split(r" \(|, (?!\w+ (?:of|de)\b)| (?:was|is|fue|es) ", lead, maxsplit=1)[0]
    named = names & set(full.split()) and len(full.split()) <= 8
    return Subject(
        name=name,
        gender=gender,
        language=document.language,
        full_name=full if named else name,
        names=frozenset(names),
        is_dead=bool(re.search(r"\d{3,4}\s*(?:a\. ?C\. ?)?[–-][^)]{0,60}\d{3,4}", lead[:400])),
    )


def _lived(lead: str, language: str) -> bool:
    """Whether years alone are those of a life: in English the lead has pronouns for a person."""
    if language == "es" or not _YEARS.search(lead[:400]):
        return False
    people = sum(len(re.findall(p, lead.lower())) for p in _ENGLISH_PRONOUNS.values())
    return people > len(_IT.findall(lead))


def _gender(document: Document, lead: str) -> Gender | None:
    """The one that most pronouns have, and in Spanish the lead's own words."""
    if document.language == "es":
        sentence = lead.lower()
        he, she = len(_MALE.findall(sentence)), len(_FEMALE.findall(sentence))
        first = re.search(r"\b(?:fue|es|era)\s+(una?)\b", sentence)
        if first:
            return "f" if first[1] == "una" else "m"
        return "m" if he >= she else "f"
    text = document.text.lower()
    counts = Counter({g: len(re.findall(p, text)) for g, p in _ENGLISH_PRONOUNS.items()})
    lead_counts = {g: len(re.findall(p, lead.lower())) for g, p in _ENGLISH_PRONOUNS.items()}
    if sum(counts.values()) < _LEAST_PRONOUNS:
        return None
    if lead_counts["m"] != lead_counts["f"] and min(lead_counts.values()) == 0:
        return "m" if lead_counts["m"] else "f"
    return "m" if counts["m"] >= counts["f"] else "f"
