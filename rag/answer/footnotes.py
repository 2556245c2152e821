"""The text of an answer with its markers, and the sources behind them: one number a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag.answer.check import Passage, Support
from rag.types import Citation

_MARKERS = re.compile(r"\s*\[\d+(?:\s*,\s*\d+)*\]")


class Footnotes:
    """Grows sentence by sentence; a number, once given, stays."""

    def __init__(self, passages: Sequence[Passage], *, by_section: bool = False) -> None:
        self._passages = passages
        self._by_section = by_section
        self._citations: dict[str, Citation] = {}
        self.text = ""
        self.sentences = 0

    @property
    def citations(self) -> tuple[Citation, ...]:
        """In order of first use."""
        return tuple(self._citations.values())

    @staticmethod
    def bare(sentence: str) -> str:
        """Without markers that the model wrote itself, which would lead nowhere, and without bold."""
        return _MARKERS.sub("", sentence).replace("**", "")

    def add(self, support: Support) -> None:
        """Appends what is shown, with the marker of the passage that supports it."""
        passage = self._passages[support.passage]
        chunk = passage.chunk
        source = chunk.url if self._by_section else chunk.page
        known = self._citations.get(source)
        if known:
            text = known.passage
            if chunk.text not in text:
                text = f"{text}\n\n[…]\n\n{chunk.text}"
            known = replace(known, quotes=(*known.quotes, support.quote), passage=text)
        self._citations[source] = known or Citation(
            n=len(self._citations) + 1,
            title=chunk.title,
            url=chunk.url,
            section=chunk.section,
            published=chunk.published,
            quote=support.quote,
            score=round(passage.score, 4),
            language=chunk.language,
            passage=chunk.text,
            quotes=(support.quote,),
        )
        self.sentences += 1
        bare = self.bare(support.shown).strip()
        block = bare.startswith(("```", "- ", "* ")) or self.text.endswith("```")
        between = "" if not self.text else "\n" if block else " "
        self.text += f"{between}{bare} [{self._citations[source].n}]"
