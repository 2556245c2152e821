"""Shares with their uncertainty, medians, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Share:
    """How many of how many, with a 95 % bootstrap interval (percentile method, Efron 1979)."""

    value: float
    low: float
    high: float
    of: int

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f}, n={self.of})"


def share(hits: Sequence[bool], rounds: int = 1000, seed: int = 0) -> Share | None:
    """None for no observations."""
    if not hits:
        return None
    values = np.asarray(hits, dtype=float)
    drawn = np.random.default_rng(seed).choice(values, (rounds, len(values))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Share(float(values.mean()), float(low), float(high), len(values))


def auc(inside: Sequence[float], outside: Sequence[float]) -> float:
    """Chance that one of `inside` lies above one of `outside` (Mann & Whitney 1947)."""
    a, b = np.asarray(inside)[:, None], np.asarray(outside)[None, :]
    return float((a > b).mean() + 0.5 * (a == b).mean())


def middle(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    return {
        "median": round(float(np.median(values)), 1),
        "p95": round(float(np.percentile(values, 95)), 1),
    }
