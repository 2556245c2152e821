"""The interview: what a conversation with a page's subject does otherwise than one about a blog."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag.answer import choice, smalltalk
from rag.answer import prompt as blog_prompt
from rag.answer.check import Passage, Support
from rag.answer.followup import Query
from rag.answer.interview import prompt
from rag.answer.interview.held import PremiseChecker, VoiceChecker
from rag.answer.interview.passages import TurnedFootnotes, TurnedPassage
from rag.answer.interview.route import Route
from rag.answer.interview.voice import InterviewVoice
from rag.answer.reading import TRIED, Reading
from rag.answer.whole import asks_about_the_whole
from rag.answer.writing import Writing
from rag.search import analyse
from rag.search.gate import Verdict
from rag.search.search import Found, Searcher
from rag.types import Card, Language, Nearest, Turn

_ABOUT_YOU = re.compile(
    r"^(?:please )?(?:tell me|talk) (?:something |a bit |a little |more )?about (?:you|yourself|your life)$"
    r"|^introduce yourself$|^who were you$|^what (?:were|are) you known for$"
    r"|^(?:hablame|cuentame|dime)(?: algo| un poco)? (?:de ti|sobre ti|de usted|de tu vida)$"
    r"|^presentate$|^quien fuiste$"
)
_NEAREST = 3
_FACTS = ("Facts", "Datos")
_LEAD_SENTENCES = 2
_MOST = 2
"""Sentences of an answer: no more than was asked."""


class Interview:
    """One loaded page whose subject answers. Safe to share between threads."""

    def __init__(self, searcher: Searcher, card: Card) -> None:
        self._searcher = searcher
        self.card = card
        self.route = Route(searcher, card)
        chunks = searcher.stored.chunks
        heads = [(c.section or "").partition(" > ")[0] for c in chunks if c.kind == "article"]
        self._topics = tuple(dict.fromkeys(h for h in heads if h and h not in _FACTS))

    def voice(self, spoken: Language, question: str = "") -> InterviewVoice:
        """For the written replies."""
        title = self._searcher.stored.manifest.title
        return InterviewVoice(spoken, title, self._topics, self.card, question)

    def smalltalk(self, question: str, history: Sequence[Turn]) -> smalltalk.Kind | None:
        """What kind of small talk the message is; what can be asked is told by the subject."""
        if _ABOUT_YOU.match(_bare(question)):
            return None
        kind = smalltalk.classify(question)
        if kind is None and asks_about_the_whole(question, in_conversation=bool(history)):
            return "help"
        return kind

    def find(
        self, question: str, history: Sequence[Turn], k: int, spoken: Language
    ) -> tuple[Query, Found, Verdict, tuple[str, ...]]:
        """Up to `k` passages, whether they answer the question, and the steps that were taken."""
        if _ABOUT_YOU.match(_bare(question)):
            found = self.route.lead(question, spoken)
            return Query(found.query, False, None), found, Verdict(True, 0.0, ()), ("lead",)
        return self.route.find(question, history, k, spoken)

    def nearest(self, found: Found) -> tuple[Nearest, ...]:
        """The sections that came closest."""
        sections: dict[str, Nearest] = {}
        for hit in found.hits:
            title = (hit.chunk.section or "").rpartition(" > ")[2]
            if not title or title in _FACTS:
                continue
            sections.setdefault(title, Nearest(title, hit.chunk.url, round(hit.score, 3)))
        return tuple(sections.values())[:_NEAREST]

    def reading(
        self,
        question: str,
        context: str | None,
        found: Found,
        spoken: Language,
        count_tokens: Callable[[str], int],
    ) -> Reading:
        """What the model reads and its sentences are checked by."""
        passages = self._passages(found)
        footnotes = TurnedFootnotes(passages)
        introduces = _ABOUT_YOU.match(_bare(question)) is not None
        sought = "" if introduces else found.spelt
        checker = VoiceChecker(
            sought and question, spoken, passages, self._searcher.encoder, sought, self.card
        )

        def asked() -> blog_prompt.Prompt:
            notes = blog_prompt.select(found.spelt, found.vector, passages, count_tokens)
            return blog_prompt.Prompt(prompt.messages(question, context, notes.text, spoken))

        def untold() -> bool:
            return self._quote_untold(question, found, passages, footnotes, spoken)

        candidates = choice.candidates(found.spelt, found.vector, passages, spoken, only=True)
        lead = range(len(passages[0].kept))[:_LEAD_SENTENCES] if introduces else ()
        return InterviewReading(asked, checker, footnotes, candidates, _MOST, False, untold, lead)

    def _quote_untold(
        self,
        question: str,
        found: Found,
        passages: Sequence[TurnedPassage],
        footnotes: TurnedFootnotes,
        spoken: Language,
    ) -> bool:
        """Gives the page's own words where a sentence can't be told in the first person.

        Whether one of the nearest holds as an answer.
        """
        originals = [
            Passage.of(p.original, p.score, self._searcher.sentence_vectors(position))
            for p, position in zip(passages, found.positions, strict=True)
        ]
        language: Language = "es" if passages[0].original.language == "es" else "en"
        checker = PremiseChecker(question, language, originals, self._searcher.encoder, found.spelt)
        could = choice.candidates(found.spelt, found.vector, originals, language, only=True)
        for place in choice.nearest(could)[:TRIED]:
            support = checker.quote(place.passage, place.sentence)
            if isinstance(support, Support):
                shown = self.voice(spoken).quoting(support.quote)
                footnotes.add_quote(replace(support, shown=shown))
                return True
        return False

    def _passages(self, found: Found) -> list[TurnedPassage]:
        return [
            TurnedPassage.turn(hit.chunk, hit.score, self._searcher.sentence_vectors(position))
            for hit, position in zip(found.hits, found.positions, strict=True)
        ]


@dataclass(frozen=True)
class InterviewReading(Reading):
    """As `Reading`; what can't be told in the first person is quoted from the page."""

    untold: Callable[[], bool]
    lead: Sequence[int]
    """Sentences of the first passage that are the answer together, where it is asked for."""

    def quote(self, writing: Writing) -> bool:
        """Adds the nearest sentence that holds as an answer by itself; whether there is one."""
        if self.lead:
            held = [writing.quote(0, i) for i in self.lead]
            return any(held)
        return super().quote(writing) or self.untold()


def _bare(question: str) -> str:
    return " ".join(analyse.fold(question).strip(" ¿¡?!.,").split())
