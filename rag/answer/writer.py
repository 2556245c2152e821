"""The model's turn: what it writes is checked sentence by sentence, and streamed as it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from rag.answer.judge import Judge
from rag.answer.progress import Progress
from rag.answer.reading import Reading
from rag.answer.writing import Writing
from rag.llm.protocol import Generation, LanguageModel
from rag.types import Answer, Language

_WRITTEN_TO_BE_QUOTED = {"overview", "lead"}
"""Steps that find what needs no model: its sentences are written as answers."""


class Writer:
    """Writes one answer from what was found."""

    def __init__(
        self, llm: LanguageModel, max_tokens: int, judge: Judge | None, gate_score: float
    ) -> None:
        """`judge` decides before the first word whether the notes answer the question; None where
        the model's states can't be read, or for what needs no judging."""
        self._llm = llm
        self._max_tokens = max_tokens
        self._judge = judge
        self._gate_score = gate_score
        self.judged: bool | None = None
        """What the judge said; None where it wasn't asked."""

    def write(
        self,
        reading: Reading,
        spoken: Language,
        progress: Progress,
        stop: Callable[[], bool],
    ) -> Iterator[Answer]:
        """Streams what the model's sentences point at, each only when the check finds its support."""
        if _WRITTEN_TO_BE_QUOTED & {*progress.answer.route}:
            return
        writing = Writing(reading.checker, reading.footnotes, spoken)
        generation = self._llm.generate(reading.messages(), max_tokens=self._max_tokens, stop=stop)
        for piece in generation:
            if not self._may_answer(generation):
                break
            writing.add(piece)
            draft = writing.draft
            if draft:
                progress.reading_begins()
            yield _written(progress, writing, draft)
            failed = writing.withheld and not writing.footnotes.citations
            if failed or writing.is_over or writing.footnotes.sentences >= reading.most:
                writing.drop()
                break
        if stop():
            writing.drop()
        writing.end()
        progress.timings = replace(
            progress.timings,
            prompt_tokens=generation.prompt_tokens,
            cached_tokens=generation.cached_tokens,
            output_tokens=generation.output_tokens,
        )
        yield _written(progress, writing, "")

    def quote(self, reading: Reading, spoken: Language, progress: Progress) -> Iterator[Answer]:
        """The nearest sentence that holds, as it stands on its page."""
        writing = Writing(reading.checker, reading.footnotes, spoken)
        if reading.quote(writing):
            progress.took("quoted")
            progress.reading_begins()
            yield _written(progress, writing, "", progress.answer.withheld)

    def _may_answer(self, generation: Generation) -> bool:
        if self.judged is None and self._judge is not None and generation.state is not None:
            self.judged = self._judge.score(generation.state, self._gate_score) >= 0
        return self.judged is not False


def _written(progress: Progress, writing: Writing, draft: str, withheld: int = 0) -> Answer:
    """What stands so far; `withheld` counts what was held back before."""
    return progress.partial(
        "writing",
        outcome="answered",
        answer=writing.footnotes.text,
        citations=writing.footnotes.citations,
        withheld=withheld + writing.withheld,
        draft=draft,
    )
