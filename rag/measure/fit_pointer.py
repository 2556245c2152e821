"""Fits `rag.answer.choice.Pointer`: a conditional logit (McFadden, 1974) over the sentences of notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from rag.answer.choice import COSINE, DEFINES, LEAST_DEFINES, Pointer, bounded
from rag.types import FootnoteError

_PENALTIES = (1e-4, 2e-2)
"""Of the squared weights of signs and of heads, which are many; over standardised features. 1e-2 and
3e-2 point at the right sentence within 0.005 as often on left-out blogs."""


@dataclass(frozen=True)
class Sentences:
    """The candidates among a question's notes."""

    signs: NDArray[np.float32]
    """(sentences, SIGNS), of `rag.answer.choice.Candidate`."""
    looks: NDArray[np.float32]
    """(2, heads, sentences), of `rag.llm.protocol.Generation`."""
    right: NDArray[np.bool_]
    """Which have the answer."""
    holds: NDArray[np.bool_]
    """Which have the kind of thing that was asked for."""
    agrees: NDArray[np.bool_]
    """Which the model's first sentence says."""

    def first(self, pointer: Pointer, tried: int) -> int | None:
        """The likeliest that holds, of the `tried` likeliest."""
        order = np.argsort(-pointer.scores(self.signs, self.looks), kind="stable")[:tried]
        return next((int(i) for i in order if self.holds[i]), None)

    def features(self) -> NDArray[np.float64]:
        """(sentences, signs + 2 × heads)."""
        kinds, heads, sentences = self.looks.shape
        looks = bounded(self.looks).transpose(2, 0, 1).reshape(sentences, kinds * heads)
        return np.hstack([self.signs, looks]).astype(np.float64)


def fit(questions: Sequence[Sentences]) -> Pointer:
    """The pointer of the questions whose answer stands in one of the sentences.

    Raises FootnoteError when there are none.
    """
    known = [question for question in questions if question.right.any()]
    if not known:
        raise FootnoteError(
            "No question has its `answer` among the sentences of its notes: nothing shows which "
            "sentence is right. Give more blogs, with answers as they stand on their pages."
        )
    features = np.concatenate([question.features() for question in known])
    right = np.concatenate([question.right for question in known])
    starts = np.cumsum([0, *(len(question.right) for question in known[:-1])])
    lengths = [len(question.right) for question in known]
    signs = known[0].signs.shape[1]
    scale = features.std(axis=0) + 1e-6
    scaled = (features - features.mean(axis=0)) / scale
    penalty = np.full(scaled.shape[1], _PENALTIES[1])
    penalty[:signs] = _PENALTIES[0]

    def shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
        return scores / np.repeat(np.add.reduceat(scores, starts), lengths)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = scaled @ weights
        among_all = shares(scores)
        among_right = shares(np.where(right, scores, -1e9))
        likelihood = np.add.reduceat(among_all * right, starts)
        value = -np.log(likelihood + 1e-12).mean() + (penalty * weights**2).sum()
        slope = (among_all - among_right) @ scaled / len(known) + 2 * penalty * weights
        return float(value), slope

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B")
    weights = (found.x / scale).astype(np.float32)
    # Too few questions ask for a definition (30 of 1,513) to fit its weight, so it is at least what it
    # is where the encoder chooses. With that the pointer is right for 29 of them, as without.
    weights[DEFINES] = max(weights[DEFINES], weights[COSINE] * LEAST_DEFINES)
    return Pointer(weights[:signs], weights[signs:].reshape(2, -1))
