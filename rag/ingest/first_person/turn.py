"""A page's sentences in the first person, kept beside the originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag.ingest.first_person.english import EnglishTurner
from rag.ingest.first_person.spanish import SpanishTurner
from rag.ingest.first_person.subject import Subject
from rag.ingest.sentences import sentences
from rag.types import Chunk, Document

_TURNERS: dict[str, type[EnglishTurner] | type[SpanishTurner]] = {
    "en": EnglishTurner,
    "es": SpanishTurner,
}


def first_person(document: Document, subject: Subject) -> dict[str, str | None]:
    """Each sentence of a page → its first-person form, or None where it can't be turned safely.

    A sentence that doesn't speak of the subject is its own form. In a language without rules no
    sentence has one.
    """
    make = _TURNERS.get(document.language)
    turner = make(subject, document.text) if make else None
    forms: dict[str, str | None] = {}
    opened = False
    for block in document.blocks:
        if block.kind == "heading":
            continue
        if turner:
            turner.new_paragraph()
        for sentence in sentences(block.text, document.language):
            is_first = block.kind == "paragraph" and not opened
            opened = opened or is_first
            forms[sentence] = turner.turn(sentence, is_first=is_first) if turner else None
    return forms


def turned(chunks: Sequence[Chunk], document: Document, subject: Subject) -> list[Chunk]:
    """The document's chunks with the first-person form of each sentence; others as they are."""
    forms = first_person(document, subject)
    return [
        replace(
            chunk,
            first_person=tuple(forms.get(chunk.text[start:end]) for start, end in chunk.sentences),
        )
        if chunk.kind == "article"
        else chunk
        for chunk in chunks
    ]
