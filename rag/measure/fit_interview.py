"""Fits the constants of `rag.answer.interview.relevance` on the people battery.

`python -m rag.measure.fit_interview corpus/people/*.jsonl` prints them, and how each person fares with
constants that were fitted on the others.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from rag.answer import followup
from rag.answer.interview.relevance import signals
from rag.answer.interview.route import Route
from rag.answer.load import load_collections, load_encoder
from rag.settings import Settings

_PASSAGES = 5
_LET_THROUGH = 0.027
"""Share of the unanswerable questions that the offset lets pass."""


def main(paths: list[str]) -> None:
    """Prints constants and held-out shares."""
    settings = Settings.from_environment()
    collections = load_collections(settings, load_encoder(settings))
    rows: list[dict[str, Any]] = []
    for path in paths:
        entries = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        searcher = collections[entries[0]["collection"]].searcher
        card = collections[entries[0]["collection"]].info.card
        assert card is not None
        route = Route(searcher, card)
        for entry in entries:
            spoken = entry["language"]
            asked = route.ask(followup.Query(entry["question"], False, None), spoken)
            for ranked in asked.ranked[:_PASSAGES]:
                found = signals(
                    asked.words,
                    searcher.stored.chunks[ranked.position],
                    searcher.sentence_vectors(ranked.position),
                    asked.vector,
                )
                rows.append({
                    **entry,
                    "x": [found.cosine, float(found.whole), found.rarest],
                    "gold": ranked.section == entry.get("section"),
                    "stranger": route._names_a_stranger(asked, spoken),
                    "words": [w.said for w in asked.words],
                })  # fmt: skip
    people = sorted({row["collection"] for row in rows})
    held_out = [
        _values(rows, *_fit([r for r in rows if r["collection"] != p]), only=p) for p in people
    ]
    everyone: dict[tuple[str, str], float] = {}
    for values in held_out:
        everyone |= values
    weights, offset = _fit(rows)
    _report("held out", rows, everyone)
    threshold = _report("fitted on all", rows, _values(rows, weights, offset))
    print("weights", weights.round(2).tolist(), "offset", round(offset - threshold, 2))


def _fit(rows: list[dict[str, Any]]) -> tuple[NDArray[np.float64], float]:
    used = [r for r in rows if r["gold"] or not r["answerable"]]
    model = LogisticRegression(class_weight="balanced", max_iter=5000, C=30.0)
    x = np.array([r["x"] for r in used])
    scale = x.std(axis=0)
    model.fit(x / scale, [r["gold"] for r in used])
    return model.coef_[0] / scale, float(model.intercept_[0])


def _values(
    rows: list[dict[str, Any]], weights: NDArray[np.float64], offset: float, only: str | None = None
) -> dict[tuple[str, str], float]:
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        if only in (None, row["collection"]):
            key = (row["collection"], row["question"])
            value = -99.0 if row["stranger"] else float(np.array(row["x"]) @ weights) + offset
            best[key] = max(best.get(key, -99.0), value)
    return best


def _report(
    name: str,
    rows: list[dict[str, Any]],
    values: dict[tuple[str, str], float],
) -> float:
    answerable = {(r["collection"], r["question"]): r["answerable"] for r in rows}
    words = {(r["collection"], r["question"]): r["words"] for r in rows}
    inside = [v for key, v in values.items() if answerable[key]]
    outside = sorted((v for key, v in values.items() if not answerable[key]), reverse=True)
    threshold = outside[int(_LET_THROUGH * len(outside))] + 1e-6
    print(
        f"{name}: {np.mean([v >= threshold for v in inside]):.3f} of the answerable pass, "
        f"{np.mean([v >= threshold for v in outside]):.3f} of the others"
    )
    for key, value in sorted(values.items(), key=lambda item: item[1]):
        if answerable[key] and value < threshold:
            print(f"  kept out  {value:6.2f} {key[1]} {words[key]}")
    for key, value in sorted(values.items(), key=lambda item: -item[1])[:200]:
        if not answerable[key] and value > threshold - 1.5:
            print(
                f"  {'let in  ' if value >= threshold else 'next    '}  {value:6.2f} {key[1]} {words[key]}"
            )
    return threshold


if __name__ == "__main__":
    main(sys.argv[1:])
