"""Fitting the judge, on states that are made up."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from rag.answer.choice import SIGNS, Pointer
from rag.answer.judge import PERCENTS
from rag.measure import fit_pointer
from rag.measure.fit_judge import Row, as_json, fit, held_out
from rag.measure.fit_pointer import Sentences
from rag.types import FootnoteError


def sentences(
    right: int | None, signal: float = 0.0, random: np.random.Generator | None = None
) -> Sentences:
    """Four candidates, of which `right` is the answer; one head of two looks at it."""
    looks = np.full((2, 2, 4), 0.01, np.float32)
    if random is not None:
        looks *= random.uniform(0.5, 2.0, looks.shape).astype(np.float32)
    if right is not None:
        looks[0, 1, right] *= np.exp(signal)
    where = np.arange(4) == (4 if right is None else right)
    return Sentences(np.zeros((4, SIGNS), np.float32), looks, where, np.ones(4, bool), where)


def rows(signal: float, *, votes: bool = False) -> list[Row]:
    """Three blogs whose states say along one axis whether the notes answer, under noise."""
    random, other = np.random.default_rng(1), np.random.default_rng(2)
    made = []
    for n in range(240):
        answerable = n % 2 == 0
        state = random.normal(size=8).astype(np.float32)
        state[2] += signal if answerable else -signal
        read = sentences(n % 4 if answerable else None, signal, other)
        if not votes:
            read = replace(read, agrees=np.ones(4, bool))
        made.append(Row(f"blog{n % 3}", answerable, answerable, "", 0.0, read, state))
    return made


def test_what_the_states_say_is_found_on_blogs_that_were_left_out() -> None:
    held = held_out(rows(2.0))
    gap = held.scores[held.answerable].mean() - held.scores[~held.answerable].mean()
    assert gap > 1.5 * held.scores.std()
    judge, points, _ = fit(rows(2.0))
    assert int(np.abs(judge.weights).argmax()) == 2
    assert points == sorted(points, reverse=True) and len(points) == len(PERCENTS)
    point = points[PERCENTS.index(80)]
    passed = [judge.score(r.state, r.gate) >= point for r in rows(2.0) if r.answerable]
    assert np.mean(passed) == pytest.approx(0.8, abs=0.06)


def test_where_the_states_say_nothing_nothing_is_found() -> None:
    held = held_out(rows(0.0))
    gap = held.scores[held.answerable].mean() - held.scores[~held.answerable].mean()
    assert abs(gap) < 0.5 * held.scores.std()
    assert held.right[held.could].mean() < 0.5  # one of four


def test_the_head_that_looks_at_the_answer_is_found_on_blogs_that_were_left_out() -> None:
    held = held_out(rows(3.0, votes=True))
    assert held.could.sum() == 120 and held.right[held.could].mean() > 0.9
    assert 110 < held.agrees.sum() <= 120  # the made-up model says what is right
    judge, _, _ = fit(rows(3.0, votes=True))
    assert judge.pointer is not None
    assert int(np.abs(judge.pointer.heads).argmax()) == 1
    assert judge.agreed > 0  # only where it is answerable does the model say the same


def test_without_looks_the_signs_alone_point() -> None:
    random = np.random.default_rng(3)
    questions = []
    for n in range(60):
        signs = random.uniform(0.8, 0.85, (4, SIGNS)).astype(np.float32)
        signs[n % 4, 0] = 0.9
        looks = np.zeros((2, 0, 4), np.float32)
        questions.append(replace(sentences(n % 4), signs=signs, looks=looks))
    pointer = fit_pointer.fit(questions)
    assert pointer.heads.shape == (2, 0)
    assert [question.first(pointer, 4) for question in questions] == [n % 4 for n in range(60)]


def test_questions_without_answers_are_one_sentence() -> None:
    with pytest.raises(FootnoteError, match="answer"):
        fit_pointer.fit([sentences(None)] * 3)


def test_a_definition_counts_even_where_hardly_any_question_asks_for_one() -> None:
    random = np.random.default_rng(3)
    questions = []
    for n in range(60):
        signs = np.zeros((4, SIGNS), np.float32)
        signs[:, 0] = random.uniform(0.8, 0.85, 4)
        signs[n % 4, 0] = 0.9  # the nearest is right
        questions.append(replace(sentences(n % 4), signs=signs))
    pointer = fit_pointer.fit(questions)
    assert pointer.signs[4] == pytest.approx(0.1 * pointer.signs[0]) and pointer.signs[0] > 1


def test_what_lacks_the_kind_that_was_asked_for_is_passed_over() -> None:
    signs = np.zeros(SIGNS, np.float32)
    pointer = Pointer(signs, np.array([[0, 1], [0, 0]], np.float32))
    read = replace(sentences(2, 3.0), holds=np.array([True, False, False, True]))
    assert read.first(pointer, 4) == 0
    assert read.first(pointer, 1) is None
    assert sentences(2, 3.0).first(pointer, 1) == 2
    nothing = np.zeros(0, bool)
    none = Sentences(signs[None][:0], np.zeros((2, 2, 0), np.float32), nothing, nothing, nothing)
    assert none.first(pointer, 4) is None


def test_what_is_written_is_the_judge() -> None:
    judge, points, _ = fit(rows(2.0))
    written = json.loads(as_json("m", judge, points))
    assert written["points"] == pytest.approx(points, abs=1e-3)
    assert written["model"] == "m"
    assert written["weights"] == pytest.approx(judge.weights.tolist(), rel=1e-3)
    assert judge.pointer is not None
    assert written["pointer"]["signs"] == pytest.approx(judge.pointer.signs.tolist(), rel=1e-3)
    heads = np.array(written["pointer"]["heads"])
    assert np.allclose(heads, judge.pointer.heads, rtol=1e-3)
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
        read = sentences(0 if answerable else None)
        made.append(Row(f"b{n % 4}", answerable, answerable, "price" * price, 0.0, read, state))
    even, *_ = fit(made)
    uneven, *_ = fit([replace(row, kind="") for row in made])
    assert abs(even.weights[1]) < 0.5 * abs(uneven.weights[1])
    assert even.weights[0] > 0
