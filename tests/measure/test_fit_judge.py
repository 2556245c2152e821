"""Fitting the judge, on states that are made up."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from rag.answer.judge import PERCENTS
from rag.measure.fit_judge import Row, as_json, fit, held_out


def rows(signal: float) -> list[Row]:
    """Three blogs whose states say along one axis whether the notes answer, under noise."""
    random = np.random.default_rng(1)
    made = []
    for n in range(240):
        answerable = n % 2 == 0
        state = random.normal(size=8).astype(np.float32)
        state[2] += signal if answerable else -signal
        made.append(Row(f"blog{n % 3}", answerable, answerable, "", 0.0, False, state))
    return made


def test_what_the_states_say_is_found_on_blogs_that_were_left_out() -> None:
    scores, answerable = held_out(rows(2.0))
    gap = scores[answerable].mean() - scores[~answerable].mean()
    assert gap > 1.5 * scores.std()
    judge, points, _ = fit(rows(2.0))
    assert int(np.abs(judge.weights).argmax()) == 2
    assert points == sorted(points, reverse=True) and len(points) == len(PERCENTS)
    point = points[PERCENTS.index(80)]
    passed = [judge.score(r.state, r.gate) >= point for r in rows(2.0) if r.answerable]
    assert np.mean(passed) == pytest.approx(0.8, abs=0.06)


def test_where_the_states_say_nothing_nothing_is_found() -> None:
    scores, answerable = held_out(rows(0.0))
    gap = scores[answerable].mean() - scores[~answerable].mean()
    assert abs(gap) < 0.5 * scores.std()


def test_what_is_written_is_the_judge() -> None:
    judge, points, _ = fit(rows(2.0))
    written = json.loads(as_json("m", judge, points))
    assert written["points"] == pytest.approx(points, abs=1e-3)
    assert written["model"] == "m"
    assert written["weights"] == pytest.approx(judge.weights.tolist(), rel=1e-3)
    assert written["offset"] == pytest.approx(judge.offset, abs=1e-4)


def test_what_is_asked_for_counts_neither_for_an_answer_nor_against_one() -> None:
    """The second axis says only that a price is asked for, which is mostly unanswerable."""
    random = np.random.default_rng(2)
    made = []
    for n in range(600):
        price = n % 3 == 0
        answerable = bool(random.random() < (0.25 if price else 0.6))
        state = random.normal(size=4).astype(np.float32)
        state[0] += 1.5 if answerable else -1.5
        state[1] += 3.0 if price else 0.0
        made.append(Row(f"b{n % 4}", answerable, answerable, "price" * price, 0.0, False, state))
    even, *_ = fit(made)
    uneven, *_ = fit([replace(row, kind="") for row in made])
    assert abs(even.weights[1]) < 0.5 * abs(uneven.weights[1])
    assert even.weights[0] > 0
