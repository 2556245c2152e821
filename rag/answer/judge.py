"""Do the notes answer the question? Read off the state in which the model has read both.

A model of half a billion parameters can't say whether it was told something, but in the middle of
its layers its state at the end of the prompt differs: a linear classifier over it tells better than
anything the model writes. The prompt is read anyway, so it costs no time. The classifier is fitted
by `python -m rag.measure.fit_judge` for one language model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.answer.choice import Pointer
from rag.types import FootnoteError

_MOST_GATE = 6.0
"""The gate's score counts up to here, both ways."""
PERCENTS = range(50, 100)
"""Of the answerable questions that may be let through; the file has a point for each."""
_LEAST_GATE = -3.0
"""A question whose gate score is lower is refused without being read."""


@dataclass(frozen=True)
class Judge:
    """A logistic classifier over the state and the gate's score."""

    weights: NDArray[np.float32]
    """Shape (hidden,)."""
    gate: float
    """Weight of the gate's score."""
    agreed: float
    """Added when the model's first sentence says what the chosen one says."""
    offset: float
    """Less the chosen point."""
    pointer: Pointer | None = None
    """What was fitted beside it, where the model tells its looks."""

    def may_look(self, gate_score: float) -> bool:
        """Whether a question is near enough to the collection to be read with its notes."""
        return gate_score >= _LEAST_GATE

    def score(self, state: NDArray[np.float32], gate_score: float) -> float:
        """Log-odds above the chosen point, without a vote: from 0 on the notes answer the question.

        `state` is that of a prompt's last token, float32 of shape (hidden,).
        """
        bounded = float(np.clip(gate_score, -_MOST_GATE, _MOST_GATE))
        return float(state @ self.weights) + self.gate * bounded + self.offset


def path_of(model: str) -> Path:
    """Where the judge of a language model lies, by its name."""
    return Path(__file__).parent / "judges" / f"{Path(model).name}.json"


def judge_of(model: str, lets_through: int) -> Judge | None:
    """The judge that was fitted for a language model; None when there is none.

    `lets_through`: percent of the answerable questions, one of PERCENTS. Raises FootnoteError for a
    file that isn't whole.
    """
    path = path_of(model)
    if not path.exists():
        return None
    try:
        fitted = json.loads(path.read_text(encoding="utf-8"))
        point = dict(zip(PERCENTS, fitted["points"], strict=True))[lets_through]
        weights = np.array(fitted["weights"], np.float32)
        offset = float(fitted["offset"]) - point
        pointed = fitted.get("pointer")  # not in files of before there were any
        pointer = pointed and Pointer(
            np.array(pointed["signs"], np.float32), np.array(pointed["heads"], np.float32)
        )
        return Judge(weights, float(fitted["gate"]), float(fitted["agreed"]), offset, pointer)
    except (ValueError, KeyError, TypeError) as error:
        raise FootnoteError(
            f"{path} is not whole; write it again with python -m rag.measure.fit_judge."
        ) from error
