"""Fitting the judge, on states that are made up."""

from __future__ import annotations

import json

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
        made.append(Row(f"blog{n % 3}", answerable, answerable, 0.0, state))
    return made


def test_what_the_states_say_is_found_on_blogs_that_were_left_out() -> None:
    scores, answerable = held_out(rows(2.0))
    gap = scores[answerable].mean() - scores[~answerable].mean()
    assert gap > 1.5 * scores.std()
    judge, points = fit(rows(2.0))
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
    judge, points = fit(rows(2.0))
    written = json.loads(as_json("m", judge, points))
    assert written["points"] == pytest.approx(points, abs=1e-3)
    assert written["model"] == "m"
    assert written["weights"] == pytest.approx(judge.weights.tolist(), rel=1e-3)
    assert written["offset"] == pytest.approx(judge.offset, abs=1e-4)
