"""How an interview finds what answers a question, one small step after the other.

The question is put as the page would have it; the section that it is about is searched first, then
the whole page, then the page's n-grams. Each step keeps what scores 5 and more out of 10. No step
asks a language model anything, so the first word costs one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import fuzz, process

from rag.answer import followup
from rag.answer.interview import relevance
from rag.answer.interview.address import about, spoken_of
from rag.answer.interview.category import Ranked, Sections
from rag.answer.interview.relevance import ENOUGH, Word
from rag.search import analyse
from rag.search.gate import Verdict
from rag.search.lexical import Bridge
from rag.search.search import Found, Searcher
from rag.search.vectors import Vectors
from rag.types import Card, Hit, Language, Turn

_LOOKED_AT = 5
"""Passages that are scored when the section alone doesn't do."""
_OF_SECTION = 3
_NO_WORD = 1.5
"""Zipf frequency up to which a word is taken for a slip or a name."""
_POINTING = frozenset("he him his she her it they them there ella alli".split())
_FACTS = frozenset({"Facts", "Datos"})
_COGNATE = 75
"""Least likeness, 0 to 100, of a name's two forms."""
_GRAM = 2
"""Least length of an n-gram that finds a passage by itself."""


@dataclass(frozen=True)
class Asked:
    """A question on its way."""

    query: followup.Query
    sought: str
    """As the page would have it, misspelt and familiar words put right."""
    words: Sequence[Word]
    vector: Vectors
    ranked: Sequence[Ranked]
    bridges: tuple[Bridge, ...]
    steps: tuple[str, ...]
    """What was done to the question."""


class Route:
    """Finds passages on one page. Safe to share between threads: it changes nothing."""

    def __init__(self, searcher: Searcher, card: Card) -> None:
        self._searcher = searcher
        self._card = card
        self._sections = Sections(searcher)
        chunks = [searcher.stored.chunks[i] for i in self._sections.positions]
        self._language: Language = "es" if chunks[0].language == "es" else "en"
        self._page = frozenset(
            stem
            for chunk in chunks
            for stem in analyse.terms(f"{chunk.section or ''}\n{chunk.text}", chunk.language)
        )
        self._names = frozenset(analyse.fold(n) for n in card.names)

    def find(
        self, question: str, history: Sequence[Turn], k: int, spoken: Language
    ) -> tuple[followup.Query, Found, Verdict, tuple[str, ...]]:
        """Up to `k` passages, whether they answer the question, and the steps that were taken."""
        query = followup.resolve(question, history)
        if query.context and not query.rewritten and self._leans(question):
            query = followup.Query(followup.join(query.context, question), True, query.context)
        asked = self.ask(query, spoken)
        chosen, step = self._choose(asked, spoken)
        steps = (*asked.steps, *step)
        if not chosen and query.context and not query.rewritten:
            wider = followup.Query(followup.join(query.context, question), True, query.context)
            again = self.ask(wider, spoken)
            chosen, step = self._choose(again, spoken)
            if chosen:
                asked, steps = again, (*again.steps, *step, "context-retry")
        told = [r for r in chosen if r.section not in _FACTS]
        chosen = told or chosen  # rows of a box are no sentences that a person says
        found = self._found(asked, chosen[:k] or asked.ranked[:k], spoken)
        missing = self._missing(asked) if spoken == self._language else ()
        shown = followup.Query(found.query, asked.query.rewritten, asked.query.context)
        return shown, found, Verdict(bool(chosen), 0.0, missing), steps

    def _leans(self, question: str) -> bool:
        """Whether a message is little more than a pronoun that means somebody of the conversation."""
        pointing = _POINTING - (
            {"he", "him", "his"} if self._card.gender == "m" else {"she", "her"}
        )
        said = {word.folded for word in analyse.words(question)}
        return bool(pointing & said) and len(relevance.words_of(question, self._language)) < 2

    def _missing(self, asked: Asked) -> tuple[str, ...]:
        """The words of the question, as typed, that the page holds nowhere."""
        typed = {w.folded for w in analyse.words(asked.query.text)}
        return tuple(
            w.text.removesuffix("'s")
            for w in asked.words
            if w.stem not in self._page and analyse.fold(w.text) in typed
        )

    def sections(self, question: str, spoken: Language) -> list[str]:
        """The page's section paths, the likeliest for a question first; the lead's is empty."""
        asked = self.ask(followup.Query(question, False, None), spoken)
        return list(dict.fromkeys(r.section for r in asked.ranked))

    def lead(self, question: str, spoken: Language) -> Found:
        """The lead, for a question about the subject as such."""
        query = followup.Query(question, False, None)
        asked = self.ask(query, spoken)
        first = min(asked.ranked, key=lambda r: r.position)
        return self._found(asked, [first], spoken)

    def ask(self, query: followup.Query, spoken: Language) -> Asked:
        """The rewritten question, its vector, and the page's passages ranked for it."""
        said = spoken_of(query.text, self._card, spoken)
        familiar = relevance.plainly(said)
        bridges = tuple(b for b in self._searcher.lexical.bridges(familiar) if _is_a_slip(b))
        sought = familiar
        for bridge in bridges:
            sought = sought.replace(bridge.asked, bridge.found)
        vector = self._searcher.encoder.encode_query(sought)
        steps = ["rewritten"] if query.rewritten or said != query.text else []
        steps += ["familiar-word"] if familiar != said else []
        steps += ["spelling"] if bridges else []
        return Asked(
            query,
            sought,
            relevance.words_of(sought, self._language),
            vector,
            self._sections.rank(sought, vector, bridges),
            bridges,
            ("dense", "lexical", *steps),
        )

    def _choose(self, asked: Asked, spoken: Language) -> tuple[list[Ranked], tuple[str, ...]]:
        """The passages that answer, best first, and the steps that led there."""
        if self._names_a_stranger(asked, spoken):
            return [], ()
        by_section = self._in_section(asked, spoken)
        if by_section:
            return by_section, ("category",)
        ranked = self._scored(asked, asked.ranked[:_LOOKED_AT], spoken)
        if ranked:
            return ranked, ("category", "ranked")
        by_grams = self._by_grams(asked) if spoken == self._language else []
        return by_grams, ("category", "ranked", "ngram")

    def _names_a_stranger(self, asked: Asked, spoken: Language) -> bool:
        """Whether the question names something that the page holds nowhere.

        In another language a name may have another form: Alejandro, Londres.
        """
        for word in asked.words:
            if not word.is_name or word.stem in self._page:
                continue
            match = process.extractOne(word.said, self._page, scorer=fuzz.ratio)
            if spoken == self._language or match is None or match[1] < _COGNATE:
                return True
        return False

    def _in_section(self, asked: Asked, spoken: Language) -> list[Ranked]:
        """The passages of the likeliest section, when the best of them answers the question."""
        section = asked.ranked[0].section
        own = [r for r in asked.ranked if r.section == section]
        kept = self._scored(asked, own[:_OF_SECTION], spoken)
        if not kept:
            return []
        others = self._scored(asked, [r for r in asked.ranked[:_LOOKED_AT] if r not in own], spoken)
        return [*kept, *others]

    def _scored(self, asked: Asked, ranked: Sequence[Ranked], spoken: Language) -> list[Ranked]:
        """Those that score enough out of 10; a box's rows only by their words."""
        foreign = spoken != self._language
        return [
            r
            for r in ranked
            if not (foreign and r.section in _FACTS) and self.score(asked, r, spoken) >= ENOUGH
        ]

    def score(self, asked: Asked, ranked: Ranked, spoken: Language) -> float:
        """0 to 10: how well a passage answers a question."""
        chunk = self._searcher.stored.chunks[ranked.position]
        vectors = self._searcher.sentence_vectors(ranked.position)
        found = relevance.signals(asked.words, chunk, vectors, asked.vector)
        return relevance.score(found, other_language=spoken != self._language)

    def _by_grams(self, asked: Asked) -> list[Ranked]:
        """Passages that hold all of the question's words, two of them side by side as asked.

        A name that stands in no passage by meaning is found like this, however it is spelt.
        """
        stems = [w.stem for w in asked.words]
        wanted = set(pairwise(stems))
        found = []
        for ranked in asked.ranked:
            chunk = self._searcher.stored.chunks[ranked.position]
            held = analyse.terms(chunk.text, chunk.language)
            if len(stems) >= _GRAM and set(stems) <= set(held) and wanted & set(pairwise(held)):
                found.append(ranked)
        return found

    def _found(self, asked: Asked, chosen: Sequence[Ranked], spoken: Language) -> Found:
        chunks = self._searcher.stored.chunks
        return Found(
            query=about(asked.query.text, self._card, spoken),
            spelt=asked.sought,
            vector=asked.vector,
            hits=tuple(Hit(chunks[r.position], r.cosine, fused=r.fused) for r in chosen),
            positions=tuple(r.position for r in chosen),
            background=(0.0, 1.0),
            bridges=asked.bridges,
        )


def _is_a_slip(bridge: Bridge) -> bool:
    """Whether the question or the page misspells a word: "demandó" is none of "demanda"."""
    pair = (analyse.fold(bridge.asked), bridge.found)
    return any(max(analyse.zipf(w, x) for x in ("en", "es")) <= _NO_WORD for w in pair)
