"""How good are search and gate? Over SQuAD-format files, each asked of each parallel one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rag.measure.figures import auc, share
from rag.measure.squad import Paragraphs, index
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.types import Encoder, Progress

LET_THROUGH = 0.95


def evaluate_search(
    files: Sequence[Paragraphs], encoder: Encoder, progress: Progress
) -> list[dict[str, Any]]:
    """Each file's questions against each file's paragraphs (of equal number: parallel files).

    Search is measured with all paragraphs indexed; the gate with every second article left out, at
    the threshold that lets 95 % of the answerable questions through, and at the shipped one.
    """
    rows = []
    for pages in files:
        every = range(len(pages.paragraphs))
        half = [i for i in every if pages.articles[i] % 2 == 0]
        whole = Searcher(index(pages, every, encoder, progress), encoder)
        partly = Searcher(index(pages, half, encoder, progress), encoder)
        for asked in files:
            if len(asked.paragraphs) == len(pages.paragraphs):
                rows.append(_direction(asked, pages, whole, partly, progress))
    return rows


def _direction(
    asked: Paragraphs,
    pages: Paragraphs,
    whole: Searcher,
    partly: Searcher,
    progress: Progress,
) -> dict[str, Any]:
    name = f"{asked.name} → {pages.name}"
    ranks: list[int] = []
    inside: list[float] = []
    outside: list[float] = []
    gate = Gate()
    for done, (question, gold) in enumerate(zip(asked.questions, asked.gold, strict=True), 1):
        hits = whole.search(question, 10, asked.language).hits
        found = [int(hit.chunk.id) for hit in hits]
        ranks.append(found.index(gold) if gold in found else 10)
        verdict = gate.decide(question, partly.search(question, 3, asked.language), asked.language)
        (inside if pages.articles[gold] % 2 == 0 else outside).append(verdict.score)
        progress(name, done, len(asked.questions))
    row: dict[str, Any] = {
        "set": name,
        **{f"recall@{k}": share([rank < k for rank in ranks]) for k in (1, 3, 10)},
    }
    if inside and outside:
        threshold = float(np.quantile(inside, 1 - LET_THROUGH))
        row |= {
            "gate AUC": auc(inside, outside),
            "others let through at 95 %": share([score >= threshold for score in outside]),
            "answerable let through as shipped": share([score >= 0 for score in inside]),
            "others let through as shipped": share([score >= 0 for score in outside]),
        }
    return row
