"""The gate's centres, scales and threshold, for one corpus, one embedder and one chunk size.

The battery is made from the collection: questions that a passage answers. Asked of the whole
collection they are answerable; asked with the passage's page left out they are near negatives, the
only ones that matter: a question next door, not one about pizza.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from rag.search.gate import OTHER_LANGUAGE, SAME_LANGUAGE, Gate, Signals, Weights, read_signals
from rag.search.search import Searcher
from rag.search.store import Manifest
from rag.types import FootnoteError

LET_THROUGH = 0.97
"""Share of answerable questions that the chosen threshold lets through; the author may change it."""
_ENOUGH = 12
"""Fewer questions than this leave the shipped weights as they are."""


@dataclass(frozen=True)
class Labelled:
    """A question of the battery."""

    question: str
    language: str
    answerable: bool = True
    source: str | None = None
    """The page that answers it, or of an article the section; left out, the question becomes a
    negative. None: it is only asked as it is."""


@dataclass(frozen=True)
class Calibration:
    """What was chosen and from what, as the manifest keeps it."""

    same: Weights
    other: Weights
    report: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"same": asdict(self.same), "other": asdict(self.other), **self.report}


def gate_of(manifest: Manifest) -> Gate:
    """The gate that a collection was calibrated with. Raises FootnoteError when it is not whole."""
    stored = manifest.calibration
    if not stored:
        return Gate()
    try:
        return Gate(*(_weights(stored[key]) for key in ("same", "other")))
    except (KeyError, TypeError, ValueError) as error:
        raise FootnoteError(
            f"The calibration of {manifest.name} is not whole; build it again with build_index.py."
        ) from error


def calibrate(
    searcher: Searcher,
    battery: Sequence[Labelled],
    k: int,
    let_through: float = LET_THROUGH,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Calibration:
    """Chooses the threshold that lets `let_through` of the answerable questions pass.

    Only questions whose best hit is in their own language decide; the other language's threshold
    moves along, as the cosines' centres do.
    """
    positives: list[NDArray[np.float64]] = []
    negatives: list[NDArray[np.float64]] = []
    asked: list[tuple[str, bool, NDArray[np.float64]]] = []
    for done, labelled in enumerate(battery, 1):
        for answerable, row in _rows(searcher, labelled, k):
            (positives if answerable else negatives).append(row)
            asked.append((labelled.question, answerable, row))
        progress("calibration", done, len(battery))
    report: dict[str, Any] = {
        "questions": len(battery),
        "let_through": let_through,
        "battery": [asdict(labelled) for labelled in battery],
    }
    if len(positives) < _ENOUGH or len(negatives) < _ENOUGH:
        return Calibration(SAME_LANGUAGE, OTHER_LANGUAGE, report)
    inside, outside = np.stack(positives), np.stack(negatives)
    same = _centred(SAME_LANGUAGE, inside, outside)
    scores_in, scores_out = _scores(same, inside), _scores(same, outside)
    threshold = float(np.quantile(scores_in, 1 - let_through))
    same = replace(same, threshold=threshold)
    shift = np.array(same.centre) - np.array(SAME_LANGUAGE.centre)
    other = replace(
        OTHER_LANGUAGE,
        centre=(
            OTHER_LANGUAGE.centre[0] + float(shift[0]),
            *OTHER_LANGUAGE.centre[1:-1],
            OTHER_LANGUAGE.centre[-1] + float(shift[-1]),
        ),
    )
    wrong = [
        {"question": question, "answerable": answerable}
        for question, answerable, row in asked
        if (float(_scores(same, row[None])[0]) >= threshold) != answerable
    ]
    report |= {
        "answerable": len(positives),
        "left_out": len(negatives),
        "answerable_scores": _distribution(scores_in),
        "left_out_scores": _distribution(scores_out),
        "answerable_passed": round(float((scores_in >= threshold).mean()), 4),
        "left_out_passed": round(float((scores_out >= threshold).mean()), 4),
        "auc": round(_auc(scores_in, scores_out), 4),
        "wrong": wrong,
    }
    return Calibration(same, other, report)


def _rows(searcher: Searcher, labelled: Labelled, k: int) -> list[tuple[bool, NDArray[np.float64]]]:
    """The signals of one question: as it is, and with its source left out."""
    asked = [(labelled.answerable, frozenset[str]())]
    if labelled.source:
        versions = {labelled.source} | {
            address
            for chunk in searcher.stored.chunks
            if chunk.page == labelled.source
            for address in chunk.alternates
        }
        asked.append((False, frozenset(versions)))
    rows = []
    for answerable, excluding in asked:
        found = searcher.search(labelled.question, k, labelled.language, excluding=excluding)
        if found.hits and found.hits[0].chunk.language == labelled.language:
            rows.append((answerable, read_signals(labelled.question, found)[0].as_array()))
    return rows


def _centred(
    weights: Weights, inside: NDArray[np.float64], outside: NDArray[np.float64]
) -> Weights:
    """The weights with this collection's own centres and scales."""
    both = np.concatenate([inside, outside])
    scale = np.maximum(both.std(axis=0), np.array(weights.scale) / 3)
    return replace(weights, centre=tuple(both.mean(axis=0).tolist()), scale=tuple(scale.tolist()))


def _scores(weights: Weights, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return ((rows - np.array(weights.centre)) / np.array(weights.scale)) @ np.array(weights.weight)


def _distribution(scores: NDArray[np.float64]) -> dict[str, float]:
    return {f"p{q}": round(float(np.percentile(scores, q)), 2) for q in (0, 5, 25, 50, 75, 95, 100)}


def _auc(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Chance that an answerable question scores above an unanswerable one (Mann-Whitney)."""
    above = (inside[:, None] > outside[None, :]).mean()
    return float(above + 0.5 * (inside[:, None] == outside[None, :]).mean())


def _weights(stored: Any) -> Weights:
    """Raises ValueError when it isn't a finite number for each signal."""
    weights = TypeAdapter(Weights).validate_python(stored)
    rows = np.array([weights.centre, weights.scale, weights.weight])
    signals = len(fields(Signals))
    if rows.shape != (3, signals) or not np.isfinite([*rows.flat, weights.threshold]).all():
        raise ValueError(f"not three numbers for each of {signals} signals")
    if not (rows[1] > 0).all():
        raise ValueError("a scale is not above 0")
    return weights
