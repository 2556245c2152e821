"""One decoder graph and its key/value cache."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from rag.llm.attention import shares

_QUERIES = "queries."
"""Outputs of `rag.llm.fuse.expose_queries`, with the layer's number behind it."""
MAX_TOKENS = 4096
"""Longest prompt and answer together; the cache's memory is only taken as it fills."""


class Session:
    """Runs tokens behind those that are already in the cache.

    A graph with GroupQueryAttention (`rag.llm.fuse`) writes into one buffer that is bound once; any
    other graph with `past_key_values.*` gets and gives whole arrays at every run.

    `threads` is how many processors a run may use, 0 for all. Not for several threads at once.
    """

    def __init__(self, path: Path, threads: int = 0, capacity: int = MAX_TOKENS) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        inputs = {value.name: value for value in self._session.get_inputs()}
        outputs = {value.name: value for value in self._session.get_outputs()}
        self._past = [name for name in inputs if name.startswith("past_key_values.")]
        _, heads, _, size = inputs[self._past[0]].shape
        self.capacity = capacity
        self.vocabulary: int = outputs["logits"].shape[-1]
        self._inputs = set(inputs)
        self.hidden: int | None = outputs["state"].shape[-1] if "state" in outputs else None
        """Width of the states, where the graph gives them."""
        self._states = np.empty((0, self.hidden or 0), np.float32)
        self._query_names = [name for name in outputs if name.startswith(_QUERIES)]
        self._keys = [
            self._past.index(f"past_key_values.{name.removeprefix(_QUERIES)}.key")
            for name in self._query_names
        ]
        self._query_width = outputs[self._query_names[0]].shape[-1] if self._query_names else 0
        self._queries = np.empty((len(self._query_names), 0, self._query_width), np.float32)
        self._fused = "seqlens_k" in inputs
        room = capacity + 1  # for the second row of a run of one token
        self._cache = np.zeros((len(self._past), heads, room, size), np.float32)
        self._before = np.zeros(1, np.int32)
        self._total = np.zeros((), np.int32)
        self._logits_wanted = np.zeros(1, np.int64)
        self._logits = np.empty((1, self.vocabulary), np.float32)
        self._binding = self._session.io_binding()
        if self._fused:
            self._bind_cache()

    def run(self, ids: Sequence[int], start: int, logits: int = 1) -> np.ndarray:
        """Runs `ids` behind the cache's first `start` tokens.

        Returns the logits of the last `logits` tokens, float32 of shape (logits, vocabulary); the
        next run overwrites them.
        """
        if start + len(ids) > self.capacity:
            raise ValueError(f"{start + len(ids)} tokens are more than the cache's {self.capacity}")
        return (self._run_fused if self._fused else self._run_plain)(ids, start, logits)

    @property
    def state(self) -> np.ndarray | None:
        """A copy of the last run's last token's state, (hidden,); None where the graph has none."""
        return self._states[-1].copy() if len(self._states) else None

    @property
    def looks(self) -> bool:
        """Whether the graph tells what its tokens look at."""
        return bool(self._query_names)

    def looked_at(self, tokens: int, end: int, spans: Sequence[tuple[int, int]]) -> np.ndarray:
        """Which share of its attention each of the last run's last `tokens` tokens gave to each span
        of tokens, as `rag.llm.attention.shares` has it; `end` is where that run ended."""
        queries = self._queries[:, -tokens:]
        return shares(queries, self._cache[self._keys, :, :end], end - tokens, spans)

    def read_cache(self, start: int, end: int) -> np.ndarray:
        """A copy of the cache's tokens `start` to `end`: (2 × layers, heads, tokens, size).

        It has a mapping of its own, which goes back to the system with it: many megabytes that come
        and go in another order and in many threads leave holes in malloc's heaps.
        """
        part = self._cache[:, :, start:end]
        room = mmap.mmap(-1, part.nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        copy = np.frombuffer(room, part.dtype).reshape(part.shape)
        copy[:] = part
        return copy

    def write_cache(self, values: np.ndarray, start: int = 0) -> None:
        """Puts what `read_cache` gave behind the first `start` tokens."""
        self._cache[:, :, start : start + values.shape[2]] = values

    def _bind_cache(self) -> None:
        shape = (1, *self._cache.shape[1:])
        for name, buffer in zip(self._past, self._cache, strict=True):
            present = name.replace("past_key_values", "present")
            pointer = buffer.ctypes.data
            self._binding.bind_input(name, "cpu", 0, np.float32, shape, pointer)
            self._binding.bind_output(present, "cpu", 0, np.float32, shape, pointer)
        self._bind("seqlens_k", self._before)
        self._bind("total_sequence_length", self._total)
        self._bind("num_logits", self._logits_wanted)

    def _bind(self, name: str, array: np.ndarray) -> None:
        self._binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)

    def _run_fused(self, ids: Sequence[int], start: int, logits: int) -> np.ndarray:
        # One row alone is summed by another kernel, in another order. With two or more, a token's
        # results are the same to the last bit whatever runs beside it.
        lonely = len(ids) == 1
        tokens = np.array([[*ids, *ids] if lonely else ids], np.int64)
        rows = logits + lonely
        end = start + tokens.shape[1]
        self._bind("input_ids", tokens)
        self._before[0] = end - 1
        self._total[()] = end
        self._logits_wanted[0] = rows
        if len(self._logits) < rows:
            self._logits = np.empty((rows, self.vocabulary), np.float32)
        self._binding.bind_output(
            "logits",
            "cpu",
            0,
            np.float32,
            (1, rows, self.vocabulary),
            self._logits.ctypes.data,
        )
        if self.hidden:
            self._states = np.empty((tokens.shape[1], self.hidden), np.float32)
            shape = (1, *self._states.shape)
            pointer = self._states.ctypes.data
            self._binding.bind_output("state", "cpu", 0, np.float32, shape, pointer)
        if self._query_names:
            # Not kept from run to run: a prompt's pieces differ in length.
            count = tokens.shape[1]
            self._queries = np.empty((len(self._query_names), count, self._query_width), np.float32)
            for name, buffer in zip(self._query_names, self._queries, strict=True):
                shape = (1, *buffer.shape)
                self._binding.bind_output(name, "cpu", 0, np.float32, shape, buffer.ctypes.data)
        self._session.run_with_iobinding(self._binding)
        self._states = self._states[: len(ids)]
        self._queries = self._queries[:, : len(ids)]
        return self._logits[:logits]

    def _run_plain(self, ids: Sequence[int], start: int, logits: int) -> np.ndarray:
        end = start + len(ids)
        feed: dict[str, Any] = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, end), np.int64),
            "position_ids": np.arange(start, end)[None],
            "num_logits": np.array([logits]),
        }
        feed = {name: value for name, value in feed.items() if name in self._inputs}
        for name, buffer in zip(self._past, self._cache, strict=True):
            feed[name] = buffer[None, :, :start]
        presents = [name.replace("past_key_values", "present") for name in self._past]
        wanted = ["logits", *presents, *(["state"] if self.hidden else [])]
        found, *cache = self._session.run(wanted, feed)
        if self.hidden:
            self._states = np.asarray(cache.pop())[0]
        for buffer, values in zip(self._cache, cache, strict=True):
            buffer[:, start:end] = values[0, :, start:]
        return np.asarray(found)[0, -logits:]
