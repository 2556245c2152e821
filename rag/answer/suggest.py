"""What to ask next: questions near the cited passages that the collection is known to answer.

They were written and put to the gate when the collection was built, so that choosing among them
costs one small matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.search import analyse
from rag.search.store import Stored
from rag.search.vectors import Vectors
from rag.types import Citation, Language

MOST = 6
_OF_THE_NEAREST = 2
"""Questions of the page that was cited; one of every other."""
_SAME = 0.6
"""Share of words in common from which two questions are one."""


@dataclass(frozen=True)
class _Pages:
    """A language's pages that have questions."""

    questions: tuple[tuple[str, ...], ...]
    vectors: Vectors
    """Shape (pages, dimension): the direction of each page's chunks."""


class Suggester:
    """Chooses for one collection. Safe to share between threads: it changes nothing."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self._positions: dict[str, list[int]] = {}
        for position, chunk in enumerate(stored.chunks):
            for address in {chunk.url, chunk.page}:
                self._positions.setdefault(address, []).append(position)
        self._pages: dict[str, _Pages] = {}
        for language, by_page in stored.manifest.questions.items():
            known = {page: asked for page, asked in by_page.items() if page in self._positions}
            if known:
                vectors = np.stack([self._direction(page) for page in known])
                self._pages[language] = _Pages(tuple(map(tuple, known.values())), vectors)

    def suggest(
        self, cited: Sequence[Citation], language: Language, asked: Sequence[str]
    ) -> tuple[str, ...]:
        """Up to MOST questions in `language`, the nearest first, none like one that was `asked`.

        A collection without questions of its own in that language gives its openers.
        """
        openers = self._stored.manifest.suggestions.get(language, ())
        chosen: list[str] = []
        seen = [_words(question, language) for question in asked]
        for question in (*self._near(cited, language), *openers):
            words = _words(question, language)
            if len(chosen) < MOST and not any(_alike(words, other) for other in seen):
                seen.append(words)
                chosen.append(question)
        return tuple(chosen)

    def _near(self, cited: Sequence[Citation], language: Language) -> list[str]:
        pages = self._pages.get(language)
        places = [c.url for c in cited if c.url in self._positions]
        if not pages or not places:
            return []
        here = np.sum([self._direction(place) for place in places], axis=0)
        order = np.argsort(-(pages.vectors @ here), kind="stable")
        found: list[str] = []
        for rank, position in enumerate(order):
            found += pages.questions[position][: 1 if rank else _OF_THE_NEAREST]
        return found

    def _direction(self, address: str) -> Vectors:
        vector = self._stored.index.vectors(self._positions[address]).sum(axis=0)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _words(question: str, language: Language) -> frozenset[str]:
    return frozenset(analyse.stem(w.folded, language) for w in analyse.content_words(question))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    either = one | other
    return len(one & other) >= _SAME * len(either) if either else True
