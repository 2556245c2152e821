"""The few lines by which a reader chooses whom to talk to."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from rag.ingest.first_person.subject import Subject
from rag.ingest.sentences import sentences
from rag.types import Card, Document

_WIKIPEDIA = "CC BY-SA 4.0"
_IS = re.compile(r"\b(?:was|is|fue|es|era) (?:(?:an?|the|una?|el|la) )?(?P<line>[^;]+?)\.?$")
_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_LONGEST = 120


def card_of(document: Document, subject: Subject, licence: str | None) -> Card:
    """From an article's first sentence; `licence` wins over what its address tells."""
    lead = next((b.text for b in document.blocks if b.kind == "paragraph"), "")
    first = next(iter(sentences(lead, document.language)), "")
    dated = next((b for b in _BRACKETS.findall(first) if _YEAR.search(b)), "")
    found = _YEAR.findall(dated)
    years = f"{found[0]}–{found[-1]}" if len(found) > 1 else (found[0] if found else "")
    said = _IS.search(_BRACKETS.sub("", first))
    line = said["line"].strip() if said else ""
    if len(line) > _LONGEST:
        line = line[:_LONGEST].rsplit(" ", 1)[0].rstrip(",") + " …"
    host = urlsplit(document.url).hostname or ""
    if licence is None and host.endswith("wikipedia.org"):
        licence = _WIKIPEDIA
    return Card(
        name=subject.name,
        gender=subject.gender,
        names=tuple(sorted(subject.names)),
        line=line,
        years=years,
        is_dead=subject.is_dead,
        licence=licence,
    )
