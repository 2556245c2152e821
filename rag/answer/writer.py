"""The model's turn: what it writes is checked sentence by sentence, and streamed as it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from rag.answer.progress import Progress
from rag.answer.reading import Reading
from rag.answer.writing import Writing
from rag.llm.protocol import Generation, LanguageModel
from rag.types import Answer, Language

_WRITTEN_TO_BE_QUOTED = {"overview", "lead"}
"""Steps that find what needs no model: its sentences are written as answers."""
SURE = 2.0
"""The gate's score from which the nearest sentence is quoted where the model points at none; below, a
model that finds nothing is believed."""


class Writer:
    """Writes one answer from what was found."""

    def __init__(self, llm: LanguageModel, max_tokens: int) -> None:
        self._llm = llm
        self._max_tokens = max_tokens

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
        asked = reading.prompt().messages
        generation = self._llm.generate(asked, max_tokens=self._max_tokens, stop=stop)
        for piece in generation:
            writing.add(piece)
            draft = writing.draft
            if draft:
                progress.reading_begins()
            yield written(progress, writing, draft)
            failed = writing.withheld and not writing.footnotes.citations
            if failed or writing.is_over or writing.footnotes.sentences >= reading.most:
                writing.drop()
                break
        if stop():
            writing.drop()
        writing.end()
        read(progress, generation)
        yield written(progress, writing, "")

    def quote(self, reading: Reading, spoken: Language, progress: Progress) -> Iterator[Answer]:
        """The nearest sentence that holds, as it stands on its page."""
        writing = Writing(reading.checker, reading.footnotes, spoken)
        if reading.quote(writing):
            progress.took("quoted")
            progress.reading_begins()
            yield written(progress, writing, "", progress.answer.withheld)


def written(progress: Progress, writing: Writing, draft: str, withheld: int = 0) -> Answer:
    """What stands so far; `withheld` counts what was held back before."""
    return progress.partial(
        "writing",
        outcome="answered",
        answer=writing.footnotes.text,
        citations=writing.footnotes.citations,
        withheld=withheld + writing.withheld,
        draft=draft,
    )


def read(progress: Progress, generation: Generation) -> None:
    """Notes how much the model read and wrote."""
    progress.timings = replace(
        progress.timings,
        prompt_tokens=generation.prompt_tokens,
        cached_tokens=generation.cached_tokens,
        output_tokens=generation.output_tokens,
    )
