"""The check of each sentence: it holds what the question takes for granted, in the subject's voice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answer.check import Checker, Passage, Support, Unsupported
from rag.answer.interview.passages import TurnedPassage
from rag.answer.interview.premise import Premise
from rag.ingest.first_person.spanish_verbs import preterite
from rag.search import analyse
from rag.types import Card, Chunk, Encoder, Language

_QUOTED = re.compile(r"\"[^\"]*\"?|“[^”]*”?|«[^»]*»?")
_ENDED = re.compile(r"(?<=[.?!])\s+(?=[¿\w])")
_LISTED = re.compile(r"(?:^|\n) *(?:\d+[.)]|[-*•]) +\Z")
_ANNOUNCES = re.compile(
    r"\b(?:in (?:two|three|four|several) ways|de (?:dos|tres|cuatro|varias) (?:maneras|formas|modos))\.$"
)
_OWN_PRONOUNS = {
    "en": {"m": "he him his himself", "f": "she her hers herself"},
    "es": {"m": "él", "f": "ella"},
}
_READER = {"en": "you your yours yourself", "es": "tú tu tus usted ustedes tuyo tuya te ti contigo"}


class PremiseChecker(Checker):
    """As `Checker`; what answers a question must hold what it takes for granted."""

    def __init__(
        self,
        question: str,
        language: Language,
        passages: Sequence[Passage],
        encoder: Encoder,
        query: str,
    ) -> None:
        super().__init__(question, language, passages, encoder, query)
        asked = _ENDED.split(query.strip())[-1]  # a follow-up's own question comes last
        self._premise = Premise.of(asked, language)

    def _is_about_the_question(self, support: Support) -> bool:
        if not super()._is_about_the_question(support):
            return False
        chunk, quote = self._on_page(support)
        return self._premise.lacking(quote, chunk.section or "", *_beside(chunk, quote)) is None

    def _on_page(self, support: Support) -> tuple[Chunk, str]:
        """The page's chunk, and its own words there."""
        return self._passages[support.passage].chunk, support.quote


class VoiceChecker(PremiseChecker):
    """As `PremiseChecker`, over passages in the first person.

    A word that speaks of the subject from outside, or to the reader, may only stand where the
    passage has it.
    """

    def __init__(
        self,
        question: str,
        language: Language,
        passages: Sequence[TurnedPassage],
        encoder: Encoder,
        query: str,
        card: Card,
    ) -> None:
        super().__init__(question, language, passages, encoder, query)
        names = [n.casefold() for n in card.names]
        own = f"{_OWN_PRONOUNS[language][card.gender]} {_READER[language]}".split()
        self._turned = passages
        self._outside = frozenset([*own, *names])
        self._spanish = language == "es"
        self._told = " ".join(p.chunk.text for p in passages)

    def _judged(self, support: Support) -> Support | Unsupported:
        chunk, quote = self._on_page(support)
        if quote == support.quote and _LISTED.search(chunk.text[: chunk.text.find(quote)]):
            return Unsupported("an item of a list, which nobody says; it may be quoted as such")
        if _ANNOUNCES.search(support.shown):
            return Unsupported("only announces what follows")
        return super()._judged(support)

    def _on_page(self, support: Support) -> tuple[Chunk, str]:
        passage = self._turned[support.passage]
        return passage.original, passage.original_of(support.quote)

    def may_go_on(self, draft: str) -> bool:
        """Whether a sentence that is still being written could yet hold."""
        return super().may_go_on(draft) and not self._breaks(draft.rpartition(" ")[0], self._told)

    def check(self, sentence: str) -> Support | Unsupported:
        """The support of a whole sentence that is in the subject's voice."""
        found = super().check(sentence)
        if isinstance(found, Support) and (word := self._breaks(found.shown, found.quote)):
            return Unsupported(f"“{word}” is out of the subject's voice")
        return found

    def _breaks(self, sentence: str, quote: str) -> str | None:
        """The first word that isn't the subject's own."""
        held = {w.text.casefold() for w in analyse.words(quote)}
        for word in analyse.words(_QUOTED.sub(" ", sentence)):
            said = word.text.casefold().replace("’", "'").removesuffix("'s")
            if said in held:
                continue
            if said in self._outside:
                return word.text
            if self._spanish and (first := preterite(said)) and first[0] in held:
                return word.text
        return None


def _beside(chunk: Chunk, quote: str) -> tuple[str, str]:
    """The sentences before and after a quote; empty where a paragraph ends."""
    start = chunk.text.find(quote)
    end = start + len(quote)
    text = chunk.text
    befores = [b for b in chunk.sentences if b[1] <= start and "\n" not in text[b[1] : start]]
    afters = [a for a in chunk.sentences if a[0] >= end and "\n" not in text[end : a[0]]]
    before = text[slice(*befores[-1])] if befores else ""
    return before, text[slice(*afters[0])] if afters else ""
