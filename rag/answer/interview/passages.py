"""Passages as the subject would tell them, with the way back to the page's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.answer.check import Passage, Support
from rag.answer.facts import Evidence
from rag.answer.footnotes import Footnotes
from rag.types import Chunk

_LIFE: dict[str, str] = {"en": "My life", "es": "Mi vida"}


@dataclass(frozen=True)
class TurnedPassage(Passage):
    """A passage whose text is in the first person; `original` is what is quoted."""

    original: Chunk
    kept: tuple[int, ...]
    """Of each sentence, its place among the original's."""

    @classmethod
    def turn(cls, chunk: Chunk, score: float, vectors: NDArray[np.float32]) -> TurnedPassage:
        """From a chunk with first-person forms. Sentences without one are left out."""
        text, spans, kept = "", [], []
        end_before = 0
        for i, ((start, end), form) in enumerate(
            zip(chunk.sentences, chunk.first_person, strict=True)
        ):
            if form is not None:
                between = "\n" if "\n" in chunk.text[end_before:start] else " "
                text += between if text else ""
                spans.append((len(text), len(text) + len(form)))
                text += form
                kept.append(i)
            end_before = end
        first, _, rest = (chunk.section or "").partition(" > ")
        told = replace(
            chunk,
            title=first or _LIFE.get(chunk.language, _LIFE["en"]),
            section=rest or None,
            text=text,
            sentences=tuple(spans),
        )
        return cls(
            told, score, vectors[kept], Evidence.of(told.told, told.language), chunk, tuple(kept)
        )

    def original_of(self, quote: str) -> str:
        """The page's own words for a stretch of whole sentences."""
        ends = {end: i for i, (_, end) in enumerate(self.chunk.sentences)}
        for i, (start, _) in enumerate(self.chunk.sentences):
            last = ends.get(start + len(quote))
            if last is not None and self.chunk.text.startswith(quote, start):
                return self.original_sentences(i, last)
        raise ValueError(f"no sentence of the passage begins {quote[:40]!r}")

    def original_sentences(self, first: int, last: int) -> str:
        """The page's words from one of the kept sentences to another."""
        start = self.original.sentences[self.kept[first]][0]
        end = self.original.sentences[self.kept[last]][1]
        return self.original.text[start:end]


class TurnedFootnotes(Footnotes):
    """Footnotes under sentences in the first person, with quotes in the page's own words."""

    def __init__(self, passages: Sequence[TurnedPassage]) -> None:
        originals = [Passage(p.original, p.score, p.vectors, p.evidence) for p in passages]
        super().__init__(originals, by_section=True)
        self._turned = passages

    def add(self, support: Support) -> None:
        """Appends what is shown, with the marker of the section that supports it."""
        quote = self._turned[support.passage].original_of(support.quote)
        super().add(replace(support, quote=quote))

    def add_quote(self, support: Support) -> None:
        """Appends a written sentence around the page's own words."""
        super().add(support)
