"""A turn in which the nearest sentence is quoted, and the model says whether it answers.

Its state says so before the first word, by `rag.answer.judge`, where one was fitted for it; what it
then writes is a vote for the sentence or for another one. A model of half a billion parameters reads
better than it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rag.answer.check import Support, Unsupported
from rag.answer.judge import Judge
from rag.answer.progress import Progress
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
        """Without a judge a sentence that the model doesn't point at needs a sure gate."""
        self._llm = llm
        self._max_tokens = max_tokens
        self._judge = judge
        self._gate_score = gate_score
        self._score: float | None = None
        self._agrees = False

    def write(
        self,
        reading: Reading,
        spoken: Language,
        progress: Progress,
        stop: Callable[[], bool],
    ) -> Iterator[Answer]:
        """Streams the nearest sentence as a draft, then what holds of it and of what goes with it."""
        chosen = reading.choose(about=self._judge is None)
        if chosen is None:
            return
        generation = self._llm.generate(reading.messages(), max_tokens=self._max_tokens, stop=stop)

        def first(sentence: str) -> Support | Unsupported:
            return self._first(sentence, chosen, writing, reading, progress)

        writing = Writing(reading.checker, reading.footnotes, spoken, first)
        for piece in generation:
            if not self._may_answer(generation, progress):
                writing.drop()
                break
            writing.add(piece)
            progress.reading_begins()
            began = bool(writing.footnotes.citations)
            yield written(progress, writing, writing.draft if began else chosen.shown)
            settled = began or writing.withheld
            if settled and (not self._agrees or writing.footnotes.sentences >= reading.most):
                writing.drop()
                break
            if writing.is_over:
                writing.drop()
                break
        if stop():
            writing.drop()
        elif self._may_answer(generation, progress):
            writing.end()
        read(progress, generation)
        yield written(progress, writing, "")

    def _first(
        self,
        sentence: str,
        chosen: Support,
        writing: Writing,
        reading: Reading,
        progress: Progress,
    ) -> Support | Unsupported:
        """What is shown for the model's first sentence."""
        if sentence.startswith("```"):
            code = reading.checker.check(sentence)
            if isinstance(code, Support):
                self._agrees = True
                return code
        vote = reading.checker.vote(sentence, chosen)
        self._agrees = vote == "the same"
        if not self._passes(agrees=self._agrees):
            return Unsupported(f"it says {vote}, and the judge was not sure enough")
        if not self._agrees:
            progress.took("quoted")
            writing.withheld += vote == "nothing" and sentence != ""
        reading.checker.remember(chosen)
        return chosen

    def _may_answer(self, generation: Generation, progress: Progress) -> bool:
        """Whether the sentence may yet be shown: before the model has voted, as if for it."""
        if self._score is None and self._judge is not None and generation.state is not None:
            self._score = self._judge.score(generation.state, self._gate_score)
            progress.took("judged")
        return self._passes(agrees=True)

    def _passes(self, *, agrees: bool) -> bool:
        if self._judge is None:
            return agrees or self._gate_score >= SURE
        return self._score is not None and self._score + self._judge.agreed * agrees >= 0
