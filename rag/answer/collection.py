"""A loaded collection, and what an answer from it is written from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from rag.answer import choice, prompt, texts
from rag.answer.check import Checker, Passage
from rag.answer.footnotes import Footnotes
from rag.answer.interview.interview import Interview
from rag.answer.reading import Reading
from rag.answer.suggest import Suggester
from rag.search.gate import Gate
from rag.search.search import Found, Searcher
from rag.types import CollectionInfo, Language

_SENTENCES = 2
"""Most sentences of an answer."""


@dataclass(frozen=True)
class Collection:
    """A loaded collection with its gate."""

    searcher: Searcher
    gate: Gate
    interview: Interview | None = None
    """With the subject of the page, where it is one."""

    @cached_property
    def suggester(self) -> Suggester:
        """What to ask next."""
        return Suggester(self.searcher.stored)

    @property
    def info(self) -> CollectionInfo:
        return self.searcher.stored.manifest.info()

    def voice(self, spoken: Language, question: str = "") -> texts.Voice:
        """For the written replies in a language."""
        if self.interview:
            return self.interview.voice(spoken, question)
        manifest = self.searcher.stored.manifest
        return texts.Voice(spoken, manifest.title, manifest.topics.get(spoken, ()))

    def reading(
        self,
        question: str,
        context: str | None,
        found: Found,
        spoken: Language,
        count_tokens: Callable[[str], int],
        *,
        translations: bool,
        abroad: bool,
    ) -> Reading:
        """What a blog's answer is written from. `translations`: whether the model's own words may be
        shown where it puts those of a page into another language; `abroad`: whether such a page may
        be quoted as it is."""
        passages = [
            Passage.of(hit.chunk, hit.score, self.searcher.sentence_vectors(position))
            for hit, position in zip(found.hits, found.positions, strict=True)
        ]

        def asked() -> prompt.Prompt:
            notes = prompt.select(found.spelt, found.vector, passages, count_tokens)
            return prompt.of(question, context, notes, spoken)

        return Reading(
            asked,
            Checker(
                question,
                spoken,
                passages,
                self.searcher.encoder,
                found.spelt,
                translations=translations,
            ),
            Footnotes(passages),
            choice.candidates(found.spelt, found.vector, passages, spoken, only=not abroad),
            _SENTENCES,
            prompt.wants_code(question),
        )
