"""What one answer is written from and checked by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.answer.check import Checker, Support, Unsupported
from rag.answer.choice import Candidate, Place, among, nearest
from rag.answer.footnotes import Footnotes
from rag.answer.prompt import Line, Prompt
from rag.answer.writing import Writing

TRIED = 4
"""Likeliest sentences that are tried as the answer."""


@dataclass(frozen=True)
class Reading:
    """A prompt, the check of what the model makes of it, and where the checked text grows."""

    prompt: Callable[[], Prompt]
    checker: Checker
    footnotes: Footnotes
    candidates: Sequence[Candidate]
    """What could be an answer as it stands."""
    most: int
    """Sentences that the answer may have."""
    wants_code: bool
    """Whether code may be the answer."""

    def nearest(self) -> Sequence[Place]:
        """The candidates, the likeliest first by the encoder alone."""
        return nearest(self.candidates)

    def may_answer(self, lines: Sequence[Line]) -> bool:
        """Whether any candidate among lines of notes has the kind of thing that was asked for."""
        read, _ = among(self.candidates, lines)
        return any(
            isinstance(self.checker.candidate(c.passage, c.sentence, about=False), Support)
            for c in read
        )

    def choose(self, places: Sequence[Place], close: float, *, about: bool) -> list[Support]:
        """The first of the likeliest places that could be the answer, and a second one that is less
        likely by at most `close`; with `about`, only what has a fair share of the question's words."""
        found: list[Support] = []
        best = 0.0
        for place in places[:TRIED]:
            support = self.checker.candidate(place.passage, place.sentence, about=about)
            if isinstance(support, Unsupported):
                continue
            if not found:
                found, best = [support], place.likely
            elif place.likely > best - close and self.checker.goes_with(support, found[0]):
                return [*found, support]
        return found

    def quote(self, writing: Writing) -> bool:
        """Adds the nearest sentence that holds as an answer by itself; whether there is one."""
        return any(writing.quote(p.passage, p.sentence) for p in self.nearest()[:TRIED])
