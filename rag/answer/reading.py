"""What one answer is written from and checked by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.answer.check import Checker, Support, Unsupported
from rag.answer.choice import Place
from rag.answer.footnotes import Footnotes
from rag.answer.writing import Writing
from rag.types import Message

TRIED = 4
"""Nearest sentences that are tried as the answer."""
CLOSE = 0.02
"""A second sentence that is less likely than the first by at most so much may be the answer as well."""


@dataclass(frozen=True)
class Reading:
    """A prompt, the check of what the model makes of it, and where the checked text grows."""

    messages: Callable[[], Sequence[Message]]
    checker: Checker
    footnotes: Footnotes
    nearest: Callable[[], Sequence[Place]]
    """What could be an answer as it stands, the likeliest first."""
    most: int
    """Sentences that the answer may have."""
    wants_code: bool
    """Whether code may be the answer."""

    def choose(self, *, about: bool) -> list[Support]:
        """The likeliest sentence that could be the answer, and a second one that is about as likely;
        with `about`, only what has a fair share of the question's words."""
        found: list[Support] = []
        best = 0.0
        for place in self.nearest()[:TRIED]:
            support = self.checker.candidate(place.passage, place.sentence, about=about)
            if isinstance(support, Unsupported):
                continue
            if not found:
                found, best = [support], place.likely
            elif place.likely > best - CLOSE and self.checker.goes_with(support, found[0]):
                return [*found, support]
        return found

    def quote(self, writing: Writing) -> bool:
        """Adds the nearest sentence that holds as an answer by itself; whether there is one."""
        return any(writing.quote(p.passage, p.sentence) for p in self.nearest()[:TRIED])
