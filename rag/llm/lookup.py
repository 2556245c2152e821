"""Prompt-lookup decoding: guesses the next tokens from where the last ones stood before.

Grounded answers copy from their prompt. The model checks all guesses in one run, so a wrong one
costs little, and the result is the model's own choice at each position (arXiv:2304.04487).
"""

from __future__ import annotations

from collections.abc import Sequence


class Lookup:
    """Tokens so far, and where each run of two to `longest` of them was last followed by more."""

    def __init__(self, ids: Sequence[int], longest: int = 3, shortest: int = 1) -> None:
        self._ids: list[int] = []
        self._sizes = range(longest, shortest - 1, -1)
        self._after: dict[tuple[int, ...], int] = {}
        self.add(ids)

    def add(self, ids: Sequence[int]) -> None:
        """Appends tokens."""
        for token in ids:
            # The runs that end before this token are only now followed by something.
            for size in self._sizes:
                if len(self._ids) >= size:
                    self._after[tuple(self._ids[-size:])] = len(self._ids)
            self._ids.append(token)

    def guess(self, count: int) -> list[int]:
        """At most `count` tokens that followed the longest known run at the end."""
        for size in self._sizes:
            start = self._after.get(tuple(self._ids[-size:])) if len(self._ids) >= size else None
            if start is not None:
                return self._ids[start : start + count]
        return []
