"""Remembers key/value caches of prompts, so that a shared beginning is computed once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Prefix:
    """A prompt's tokens and their cache, (2 × layers, heads, tokens, size)."""

    ids: tuple[int, ...]
    cache: np.ndarray


class PrefixStore:
    """The prompts used last, within `budget` bytes; what is kept for good doesn't count.

    A prefix is only found by its own tokens, so nobody gets a cache of a text that isn't also in
    their own prompt.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._kept: list[Prefix] = []
        self._recent: OrderedDict[tuple[int, ...], Prefix] = OrderedDict()

    def find(self, ids: Sequence[int]) -> tuple[Prefix | None, int]:
        """The prefix that shares most of its beginning with `ids`, and how many tokens."""
        best, longest = None, 0
        for prefix in [*self._kept, *self._recent.values()]:
            shared = common_prefix(prefix.ids, ids)
            if shared > longest:
                best, longest = prefix, shared
        if best is not None and best.ids in self._recent:
            self._recent.move_to_end(best.ids)
        return best, longest

    def add(self, prefix: Prefix, *, keep: bool = False) -> None:
        """Remembers a prefix; drops those that haven't been used for longest."""
        if keep:
            self._kept.append(prefix)
            return
        self._recent[prefix.ids] = prefix
        self._recent.move_to_end(prefix.ids)
        while sum(p.cache.nbytes for p in self._recent.values()) > self._budget:
            self._recent.popitem(last=False)


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """How many elements two sequences share from the start on."""
    length = min(len(a), len(b))
    return next((i for i in range(length) if a[i] != b[i]), length)
