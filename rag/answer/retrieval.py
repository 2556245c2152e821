"""Retrieval alone: what a question finds, with scores, and whether the gate would let it through."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rag.answer import language
from rag.search.gate import Gate, Verdict
from rag.search.search import Searcher
from rag.types import Hit, Language

MOST = 50
"""Hits of one search; more candidates aren't compared."""


@dataclass(frozen=True)
class Retrieved:
    """The hits of a question, best first, and the gate's verdict on it."""

    query: str
    collection: str
    language: Language
    verdict: Verdict
    hits: tuple[Hit, ...]

    def as_json(self) -> dict[str, Any]:
        """Each hit is its chunk with the scores `score` (cosine), `lexical` (BM25) and `fused`."""
        return {
            "query": self.query,
            "collection": self.collection,
            "language": self.language,
            "passes": self.verdict.passes,
            "score": self.verdict.score,
            "missing": self.verdict.missing,
            "hits": [
                {
                    **asdict(hit.chunk),
                    "score": hit.score,
                    "lexical": hit.lexical,
                    "fused": hit.fused,
                }
                for hit in self.hits
            ],
        }


def retrieve(query: str, searcher: Searcher, gate: Gate, passages: int, k: int) -> Retrieved:
    """The `k` best hits, 1 to MOST of them. The verdict is that of an answer from `passages` of them."""
    manifest = searcher.stored.manifest
    spoken = language.detect(query, manifest.info().language)
    found = searcher.search(query, passages, spoken)
    verdict = gate.decide(query, found, spoken)
    wider = found if k == passages else searcher.search(query, min(max(k, 1), MOST), spoken)
    return Retrieved(query, manifest.name, spoken, verdict, wider.hits)
