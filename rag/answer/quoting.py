"""A turn in which a sentence is quoted that the model has looked at, and the model says whether it
answers.

Where a judge and a pointer were fitted for the model (`rag.answer.judge`, `rag.answer.choice`), what
it did while it read says both before its first word; what it then writes is a vote for the sentence
or for another one. A model of half a billion parameters reads better than it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rag.answer.check import Support, Unsupported
from rag.answer.choice import ENCODER_CLOSE
from rag.answer.judge import Judge
from rag.answer.progress import Progress
from rag.answer.prompt import Prompt
from rag.answer.reading import Reading
from rag.answer.writer import SURE, read, written
from rag.answer.writing import Writing
from rag.llm.protocol import Generation, LanguageModel
from rag.types import Answer, Language


class Quoting:
    """Gives one answer from what was found."""

    def __init__(
        self, llm: LanguageModel, max_tokens: int, judge: Judge | None, gate_score: float
    ) -> None:
        """Without a judge a sentence that the model doesn't vote for needs a sure gate."""
        self._llm = llm
        self._max_tokens = max_tokens
        self._judge = judge
        self._pointer = judge.pointer if judge else None
        self._gate_score = gate_score
        self._score: float | None = None

    def write(
        self,
        reading: Reading,
        spoken: Language,
        progress: Progress,
        stop: Callable[[], bool],
    ) -> Iterator[Answer]:
        """Streams the likeliest sentence, as a draft where it needs no vote, then what holds of it and
        of what goes with it."""
        asked = reading.prompt()
        if not (self._may_choose(reading, asked) or reading.wants_code):
            return
        watch = asked.watch if self._pointer else None
        generation = self._llm.generate(
            asked.messages, max_tokens=self._max_tokens, stop=stop, watch=watch
        )

        @cache
        def chosen() -> list[Support]:
            return self._choose(reading, asked, generation.looks)

        def first(sentence: str) -> Support | Unsupported:
            return self._first(sentence, chosen(), writing, reading, progress)

        writing = Writing(reading.checker, reading.footnotes, spoken, first)
        for piece in generation:
            if not self._may_answer(generation, progress):
                writing.drop()
                break
            writing.add(piece)
            began = bool(writing.footnotes.citations)
            if began:
                draft = writing.draft
            else:
                sure = chosen() and not writing.closed and self._passes(agrees=False)
                draft = chosen()[0].shown if sure else ""
            if began or draft:
                progress.reading_begins()
            yield written(progress, writing, draft)
            full = writing.footnotes.sentences >= reading.most
            if writing.closed or writing.is_over or full:
                writing.drop()
                break
        if stop() or not self._may_answer(generation, progress):
            writing.drop()
        writing.end()
        read(progress, generation)
        yield written(progress, writing, "")

    def _choose(
        self, reading: Reading, asked: Prompt, looks: NDArray[np.float32] | None
    ) -> list[Support]:
        """What is to be shown; `looks` are known from the first piece of the model's on."""
        if self._pointer is None or looks is None:
            return self._nearest(reading)
        places = self._pointer.likeliest(reading.candidates, asked.lines, looks)
        return reading.choose(places, self._pointer.CLOSE, about=False)

    def _may_choose(self, reading: Reading, asked: Prompt) -> bool:
        """Whether there can be something to show, before the model has read."""
        return reading.may_answer(asked.lines) if self._pointer else bool(self._nearest(reading))

    def _nearest(self, reading: Reading) -> list[Support]:
        return reading.choose(reading.nearest(), ENCODER_CLOSE, about=self._judge is None)

    def _first(
        self,
        sentence: str,
        chosen: list[Support],
        writing: Writing,
        reading: Reading,
        progress: Progress,
    ) -> Support | Unsupported:
        """What is shown for the model's first sentence."""
        if sentence.startswith("```"):
            code = reading.checker.check(sentence)
            if isinstance(code, Support):
                return code
        vote = reading.checker.vote(sentence, chosen[0]) if chosen else "nothing"
        agrees = vote == "the same"
        writing.closed = not agrees
        if not chosen or not self._passes(agrees=agrees):
            return Unsupported(f"it says {vote}, and the judge was not sure enough")
        if agrees:
            reading.checker.remember(chosen[0])
            return chosen[0]
        progress.took("quoted")
        writing.withheld += vote == "nothing" and sentence != ""
        *before, last = chosen  # which of two isn't known
        for support in before:
            reading.footnotes.add(support)
        return last

    def _may_answer(self, generation: Generation, progress: Progress) -> bool:
        """Whether the sentence may yet be shown: before the model has voted, as if for it."""
        if self._score is None and self._judge is not None and generation.state is not None:
            self._score = self._judge.score(generation.state, self._gate_score)
            progress.took("judged")
        return self._passes(agrees=True)

    def _passes(self, *, agrees: bool) -> bool:
        if self._judge is None or self._score is None:
            return agrees or self._gate_score >= SURE
        return self._score + self._judge.agreed * agrees >= 0
