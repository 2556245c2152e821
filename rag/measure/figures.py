"""Shares, means and ratios with their uncertainty, medians, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 1000


@dataclass(frozen=True)
class Estimate:
    """A figure over `of` observations, with a 95 % bootstrap interval (percentile method, Efron 1979)."""

    value: float
    low: float
    high: float
    of: int

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f}, n={self.of})"


def share(hits: Sequence[bool]) -> Estimate | None:
    """How many of how many; None for no observations."""
    return mean([float(hit) for hit in hits])


def mean(values: Sequence[float]) -> Estimate | None:
    """None for no observations."""
    if not values:
        return None
    observed = np.asarray(values, dtype=float)
    drawn = observed[_draws(len(observed))].mean(axis=1)
    return _estimate(float(observed.mean()), drawn, len(observed))


def ratio(hits: Sequence[bool], base: Sequence[bool]) -> Estimate | None:
    """The share of `hits` over that of `base`, of the same observations, drawn in pairs.

    None without a base to compare with.
    """
    above, below = np.asarray(hits, dtype=float), np.asarray(base, dtype=float)
    if not below.any():
        return None
    chosen = _draws(len(above))
    sums = below[chosen].sum(axis=1)
    drawn = above[chosen].sum(axis=1)[sums > 0] / sums[sums > 0]
    return _estimate(float(above.sum() / below.sum()), drawn, len(above))


def auc(inside: Sequence[float], outside: Sequence[float]) -> Estimate | None:
    """Chance that one of `inside` lies above one of `outside` (Mann & Whitney 1947).

    None where one side has none. Both sides are drawn anew for the interval.
    """
    if not inside or not outside:
        return None
    a, b = np.asarray(inside, dtype=float), np.asarray(outside, dtype=float)
    pairs = zip(a[_draws(len(a))], b[_draws(len(b), seed=1)], strict=True)
    drawn = np.array([_above(x, y) for x, y in pairs])
    return _estimate(_above(a, b), drawn, len(a) + len(b))


def middle(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    return {
        "median": round(float(np.median(values)), 1),
        "p95": round(float(np.percentile(values, 95)), 1),
    }


def lines(figures: dict[str, Any], under: str = "") -> list[str]:
    """Nested figures for a terminal: a line each, with the names that lead to it."""
    found = []
    for name, value in figures.items():
        path = f"{under} {name}".strip()
        if isinstance(value, dict) and any(isinstance(v, dict) for v in value.values()):
            found += lines(value, path)
            continue
        shown = (
            "  ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        )
        found.append(f"{path:<40} {shown}")
    return found


def _above(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Share of pairs in which the first is larger; equal ones count half."""
    b = np.sort(b)
    below = np.searchsorted(b, a, "left") + np.searchsorted(b, a, "right")
    return float(below.mean() / (2 * len(b)))


def _draws(count: int, seed: int = 0) -> NDArray[np.int64]:
    """Shape (rounds, count): observations drawn with replacement."""
    return np.random.default_rng(seed).integers(0, count, (_ROUNDS, count))


def _estimate(value: float, drawn: NDArray[np.float64], of: int) -> Estimate:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, float(low), float(high), of)
