"""What tokens look at: attention computed again, outside the graph, for a few tokens of interest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def shares(
    queries: np.ndarray, keys: np.ndarray, start: int, spans: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Which share of its attention each token gives to each span of tokens.

    `queries` (layers, tokens, heads × size) and `keys` (layers, groups, end, size), both turned by
    their positions; the tokens stand at `start` and behind it, up to `end`, and look at nothing
    behind themselves. Heads share the keys of a group, in order. Returns float32 of shape
    (layers, heads, tokens, spans).
    """
    layers, tokens, width = queries.shape
    _, groups, end, size = keys.shape
    heads = width // size
    ahead = np.arange(end) > np.arange(start, start + tokens)[:, None]
    found = np.empty((layers, heads, tokens, len(spans)), np.float32)
    # A layer at a time: all of them would be tens of megabytes.
    for layer in range(layers):
        asked = queries[layer].reshape(tokens, groups, -1, size).transpose(1, 2, 0, 3)
        scores = asked @ keys[layer, :, None].swapaxes(-1, -2) / np.sqrt(size, dtype=np.float32)
        scores[..., ahead] = -np.inf
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        scores = scores.reshape(heads, tokens, end)
        for n, (first, last) in enumerate(spans):
            found[layer, :, :, n] = scores[:, :, first:last].sum(axis=-1)
    return found


class Look:
    """What a question's tokens, and those behind it, look at among sentences; gathered while a prompt
    is read in pieces."""

    def __init__(self, question: tuple[int, int], *sentences: tuple[int, int]) -> None:
        """Places of tokens in the prompt, as (first, end)."""
        self.first, self._end = question
        """Where the question begins."""
        self.sentences = sentences
        self._pieces: list[np.ndarray] = []

    def add(self, found: np.ndarray) -> None:
        """The `shares` of the next tokens from the question's first on."""
        self._pieces.append(found)

    def result(self) -> np.ndarray:
        """The mean over the question's tokens and that over those behind it: float32 of shape
        (2, layers × heads, sentences)."""
        found = np.concatenate(self._pieces, axis=2)
        layers, heads, _, sentences = found.shape
        # A template may put nothing behind the question: then its last token stands for that.
        asked, behind = self._end - self.first, min(self._end - self.first, found.shape[2] - 1)
        both = [found[:, :, :asked].mean(axis=2), found[:, :, behind:].mean(axis=2)]
        return np.stack(both).reshape(2, layers * heads, sentences)
