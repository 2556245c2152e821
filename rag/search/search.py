"""Dense and lexical search together, and what the gate needs to know of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.search.balance import OWN_LANGUAGE, Balance
from rag.search.lexical import Bridge, LexicalIndex
from rag.search.store import Stored
from rag.search.vectors import Vectors
from rag.types import Chunk, Encoder, Hit

CANDIDATES = 50
LEXICAL_SHARE = 0.15
SENTENCE_SHARE = 0.3
"""Weights of the BM25 score and of the best sentence's cosine beside the chunk's own cosine.

`docs/answers.md` has the recall that they reach.
"""
PER_PAGE = 2
"""Chunks of one page among the first hits, so that one page can't crowd out the rest."""


@dataclass(frozen=True)
class Found:
    """The hits of one query, best first, with the query's vector."""

    query: str
    """As it was asked."""
    spelt: str
    """With the misspelt words bridged: what was embedded."""
    vector: Vectors
    hits: tuple[Hit, ...]
    positions: tuple[int, ...]
    """Of the hits' chunks in the collection."""
    background: tuple[float, float]
    """Mean and standard deviation of the query's cosine with the other candidates."""
    bridges: tuple[Bridge, ...]
    sentence: float = -1.0
    """Cosine of the query and the nearest sentence of the hits."""


class Searcher:
    """Searches one loaded collection. Safe to share between threads: it changes nothing."""

    def __init__(self, stored: Stored, encoder: Encoder) -> None:
        self.stored = stored
        self.encoder = encoder
        self.lexical = stored.lexical or LexicalIndex.of(stored.chunks)
        counts = [len(chunk.sentences) for chunk in stored.chunks]
        self._first_sentence = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        languages = [chunk.language for chunk in stored.chunks]
        everywhere = list(range(len(stored.chunks))) if len(set(languages)) > 1 else []
        self._balance = (
            Balance(
                stored.index.vectors(everywhere),
                languages,
                {
                    language: np.array(mean, dtype=np.float32)
                    for language, mean in stored.manifest.question_means.items()
                },
            )
            if everywhere
            else None
        )

    def search(
        self,
        query: str,
        k: int,
        language: str,
        *,
        excluding: frozenset[str] = frozenset(),
    ) -> Found:
        """The `k` best chunks for a query.

        Of a post in several languages the version in `language` is kept. `excluding` holds addresses
        of pages or sections that are treated as if they weren't there, for calibration.
        """
        bridges = self.lexical.bridges(query)
        spelt = query
        for bridge in bridges:
            spelt = spelt.replace(bridge.asked, bridge.found)
        vector = self.encoder.encode_query(spelt)
        chunks = self.stored.chunks
        lexical = self.lexical.scores(query, bridges)
        most = CANDIDATES + len(excluding) * 20
        dense = dict(self.stored.index.search(vector, most))
        others = _highest(lexical, CANDIDATES)
        balance = self._balance if self._balance and self._balance.needed else None
        balanced = balance.question(vector, language) if balance else vector
        if balance:  # the nearest of the other language too, which rank far behind
            others += [i for i, _ in self.stored.index.search(balanced, most)]
        missing = [i for i in dict.fromkeys(others) if i not in dense]
        if missing:
            cosines = self.stored.index.vectors(missing) @ vector
            dense.update(zip(missing, np.clip(cosines, -1, 1).tolist(), strict=True))
        allowed = {
            i: s for i, s in dense.items() if not excluding & {chunks[i].page, chunks[i].url}
        }
        if not allowed:
            return Found(query, spelt, vector, (), (), (0.0, 1.0), bridges)
        sentences = self._sentences(list(allowed))
        if balance:
            meaning = self._balanced(sentences, balance, balanced, language)
        else:
            meaning = {i: (s, _best(sentences[i], vector)) for i, s in allowed.items()}
        ranked = _fuse(meaning, lexical)
        kept = _spread(ranked, chunks, k, language)
        hits = tuple(
            Hit(chunks[i], allowed[i], lexical=float(lexical[i]), fused=fused) for i, fused in kept
        )
        scores = np.sort(np.array(list(allowed.values())))[::-1]
        rest = scores[k:] if len(scores) > 2 * k else scores
        background = (float(rest.mean()), float(rest.std()) or 1.0)
        positions = tuple(i for i, _ in kept)
        nearest = max(_best(sentences[i], vector) for i in positions)
        return Found(query, spelt, vector, hits, positions, background, bridges, nearest)

    def overview(self, query: str, k: int, language: str) -> Found:
        """The chunks of the written page about the whole collection, nearest first.

        In `language` where there is one.
        """
        vector = self.encoder.encode_query(query)
        pages = [i for i, chunk in enumerate(self.stored.chunks) if chunk.kind == "overview"]
        pages = [i for i in pages if self.stored.chunks[i].language == language] or pages
        if not pages:
            return Found(query, query, vector, (), (), (0.0, 1.0), ())
        cosines = np.clip(self.stored.index.vectors(pages) @ vector, -1, 1).tolist()
        ranked = sorted(zip(pages, cosines, strict=True), key=lambda item: -item[1])[:k]
        hits = tuple(Hit(self.stored.chunks[i], score, fused=score) for i, score in ranked)
        return Found(query, query, vector, hits, tuple(i for i, _ in ranked), (0.0, 1.0), ())

    def _balanced(
        self, sentences: dict[int, Vectors], balance: Balance, question: Vectors, language: str
    ) -> dict[int, tuple[float, float]]:
        """The balanced cosines of each chunk and of its best sentence."""
        wholes = self.stored.index.vectors(list(sentences))
        cosines: dict[int, tuple[float, float]] = {}
        for whole, (position, own_sentences) in zip(wholes, sentences.items(), strict=True):
            spoken = self.stored.chunks[position].language
            own = OWN_LANGUAGE if spoken == language else 0.0
            rows = np.vstack((whole, own_sentences))
            first, *others = balance.cosines(question, rows, spoken).tolist()
            cosines[position] = (first + own, max(others, default=-1.0) + own)
        return cosines

    def sentence_vectors(self, position: int) -> Vectors:
        """Shape (sentences of the chunk at `position`, dimension)."""
        return self._sentences([position])[position]

    def _sentences(self, positions: list[int]) -> dict[int, Vectors]:
        """The vectors of each chunk's sentences, fetched at once: a database is asked once."""
        first = self._first_sentence
        rows = [np.arange(first[i], first[i + 1]) for i in positions]
        vectors = np.asarray(self.stored.sentence_vectors[np.concatenate(rows)], dtype=np.float32)
        ends = np.cumsum([len(own) for own in rows])[:-1]
        return dict(zip(positions, np.split(vectors, ends), strict=True))


def _best(sentences: Vectors, vector: Vectors) -> float:
    """The best cosine among a chunk's sentences, -1 without any."""
    return float((sentences @ vector).max()) if len(sentences) else -1.0


def _fuse(
    cosines: dict[int, tuple[float, float]], lexical: NDArray[np.float32]
) -> list[tuple[int, float]]:
    """Convex combination of the three scores, each scaled to 0…1 among the candidates.

    `cosines` are the chunk's and its best sentence's.

    Bruch, Gai & Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval" (2022), find it
    better than reciprocal ranks.
    """
    positions = list(cosines)
    meaning = np.array(list(cosines.values())) @ (1 - SENTENCE_SHARE, SENTENCE_SHARE)
    fused = (1 - LEXICAL_SHARE) * _scaled(meaning) + LEXICAL_SHARE * _scaled(lexical[positions])
    return sorted(zip(positions, fused.tolist(), strict=True), key=lambda item: -item[1])


def _highest(scores: NDArray[np.float32], count: int) -> list[int]:
    """Positions of the `count` highest scores above 0, in no order; without sorting all of them."""
    found = np.flatnonzero(scores > 0)
    if len(found) > count:
        found = found[np.argpartition(scores[found], -count)[-count:]]
    return found.tolist()


def _scaled(scores: NDArray[np.floating]) -> NDArray[np.floating]:
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _spread(
    ranked: list[tuple[int, float]], chunks: Sequence[Chunk], k: int, language: str
) -> list[tuple[int, float]]:
    """The first `k` with at most PER_PAGE of a page and one language version of a post."""
    in_language = {chunks[i].page for i, _ in ranked if chunks[i].language == language}
    kept: list[tuple[int, float]] = []
    per_page: dict[str, int] = {}
    for i, score in ranked:
        chunk = chunks[i]
        if chunk.language != language and in_language.intersection(chunk.alternates):
            continue
        if per_page.get(chunk.page, 0) < PER_PAGE:
            per_page[chunk.page] = per_page.get(chunk.page, 0) + 1
            kept.append((i, score))
        if len(kept) == k:
            break
    return kept
