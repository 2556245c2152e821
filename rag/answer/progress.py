"""An answer object while it grows."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from rag.types import Answer, Outcome, Stage, Timings


@dataclass
class Progress:
    """The answer as far as it is made, and the time since `started` (`time.perf_counter`)."""

    started: float
    answer: Answer
    timings: Timings = field(default_factory=Timings)

    def milliseconds(self) -> int:
        """Since the question came."""
        return round((time.perf_counter() - self.started) * 1000)

    def reading_begins(self) -> None:
        """The reader sees the first words now."""
        if not self.timings.first_token_ms:
            self.timings = replace(self.timings, first_token_ms=self.milliseconds())

    def took(self, step: str) -> None:
        """Adds a step to the answer's route."""
        self.answer = replace(self.answer, route=(*self.answer.route, step))

    def partial(self, stage: Stage, **changes: object) -> Answer:
        """The answer with these fields changed."""
        self.answer = replace(self.answer, stage=stage, **changes)  # type: ignore[arg-type]
        return self.answer

    def done(self, outcome: Outcome, text: str, **changes: object) -> Answer:
        """The whole answer."""
        timings = replace(self.timings, total_ms=self.milliseconds())
        return self.partial(
            "done", outcome=outcome, answer=text, draft="", timings=timings, **changes
        )
