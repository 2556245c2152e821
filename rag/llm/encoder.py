"""The embedder as it serves: ONNX Runtime and the tokenizer alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

# Tokens of one run, padding included: larger runs gain nothing and need memory.
_RUN_TOKENS = 2048
_DEEPEST = 32


@dataclass(frozen=True)
class _Window:
    text: int
    ids: list[int]
    tokens: int


class OnnxEncoder:
    """`rag.types.Encoder` over a folder that `export_encoder` wrote.

    `threads` is how many processors one run may use.
    """

    def __init__(self, folder: Path, threads: int = 0) -> None:
        described = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
        self.dimension: int = described["dimension"]
        built = folder / "model.json"
        model = json.loads(built.read_text(encoding="utf-8")) if built.exists() else {}
        self.name: str = model.get("name", folder.name)
        self.fingerprint: str = model.get("fingerprint", "")
        self._query: str = described["query_prompt"]
        self._passage: str = described["passage_prompt"]
        self._pad: int = described["pad_id"]
        self._limit: int = described["max_tokens"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session = ort.InferenceSession(
            folder / "model.onnx", options, providers=["CPUExecutionProvider"]
        )

    def encode_query(self, text: str) -> np.ndarray:
        """Float32 array of shape (dimension,), length 1."""
        return self._encode([text], self._query)[0]

    def encode_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Float32 array of shape (len(texts), dimension), rows of length 1.

        A text longer than the encoder's window is cut into windows of whole tokens; its vector is
        the mean of theirs, weighted by their tokens and brought back to length 1.
        """
        return self._encode(texts, self._passage)

    def count_tokens(self, text: str) -> int:
        """Tokens without the special ones."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _encode(self, texts: Sequence[str], prompt: str) -> np.ndarray:
        windows = [w for i, text in enumerate(texts) for w in self._windows(i, text, prompt)]
        windows.sort(key=lambda window: len(window.ids))
        total = np.zeros((len(texts), self.dimension), np.float32)
        start = 0
        while start < len(windows):
            end = start + 1
            while end < len(windows) and len(windows[end].ids) * (end + 1 - start) <= _RUN_TOKENS:
                end += 1
            batch = windows[start:end]
            for window, vector in zip(batch, self._run(batch), strict=True):
                total[window.text] += vector * window.tokens
            start = end
        return total / np.linalg.norm(total, axis=1, keepdims=True).clip(min=1e-12)

    def _windows(self, text_number: int, text: str, prompt: str, depth: int = 0) -> list[_Window]:
        """One window, or as few and as even ones as the encoder's limit allows."""
        encoding = self._tokenizer.encode(prompt + text)
        if len(encoding.ids) <= self._limit or depth > _DEEPEST:
            tokens = max(1, self.count_tokens(text))
            return [_Window(text_number, encoding.ids[: self._limit], tokens)]
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        room = self._limit - (len(encoding.ids) - len(offsets))
        parts = -(-len(offsets) // max(1, room))
        cuts = [offsets[len(offsets) * part // parts][0] for part in range(parts)] + [len(text)]
        return [
            window
            for a, b in pairwise(cuts)
            for window in self._windows(text_number, text[a:b], prompt, depth + 1)
        ]

    def _run(self, windows: list[_Window]) -> np.ndarray:
        longest = max(len(window.ids) for window in windows)
        ids = np.full((len(windows), longest), self._pad, np.int64)
        mask = np.zeros((len(windows), longest), np.int64)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1
        (vectors,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        return np.asarray(vectors)
