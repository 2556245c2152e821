"""The check of each sentence, and that it stays in the subject's voice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answer.check import Checker, Support, Unsupported
from rag.ingest.first_person.spanish_verbs import preterite
from rag.search import analyse
from rag.types import Card, Encoder, Language

from .passages import TurnedPassage

_QUOTED = re.compile(r"\"[^\"]*\"?|“[^”]*”?|«[^»]*»?")
_OWN_PRONOUNS = {
    "en": {"m": "he him his himself", "f": "she her hers herself"},
    "es": {"m": "él", "f": "ella"},
}
_READER = {"en": "you your yours yourself", "es": "tú tu tus usted ustedes tuyo tuya te ti contigo"}


class VoiceChecker(Checker):
    """As `Checker`, over passages in the first person.

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
        self._outside = frozenset([*own, *names])
        self._spanish = language == "es"
        self._told = " ".join(p.chunk.text for p in passages)

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
