"""What one answer is written from and checked by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.answer.check import Checker, Support
from rag.answer.footnotes import Footnotes
from rag.answer.writing import Writing
from rag.types import Message

TRIED = 4
"""Nearest sentences that are tried as the answer when the model found none."""


@dataclass(frozen=True)
class Reading:
    """A prompt, the check of what the model makes of it, and where the checked text grows."""

    messages: Callable[[], Sequence[Message]]
    checker: Checker
    footnotes: Footnotes
    nearest: Callable[[], Sequence[tuple[int, int]]]
    """(passage, sentence) of what could be an answer as it stands, the nearest first; only worked out
    where the model pointed at nothing."""
    most: int
    """Sentences that the answer may have."""

    def choose(self, *, about: bool) -> Support | None:
        """The likeliest sentence that could be the answer; with `about`, that has a fair share of the
        question's words too."""
        tried = (self.checker.candidate(n, i, about=about) for n, i in self.nearest()[:TRIED])
        return next((support for support in tried if isinstance(support, Support)), None)

    def quote(self, writing: Writing) -> bool:
        """Adds the nearest sentence that holds as an answer by itself; whether there is one."""
        return any(writing.quote(n, i) for n, i in self.nearest()[:TRIED])
