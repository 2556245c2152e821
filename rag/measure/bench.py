"""How fast is it? Cold questions, each asked once in this process, in both languages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import psutil

from rag.answer.load import load_answerer
from rag.measure.figures import middle
from rag.settings import Settings

FIELDS = ("retrieve_ms", "first_token_ms", "total_ms", "prompt_tokens")


def bench(
    settings: Settings,
    questions: Sequence[str],
    progress: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """The speed table. Only answered questions count; `ready_s` is loading and the first token."""
    started = time.perf_counter()
    answerer, _ = load_answerer(settings)
    ready = time.perf_counter() - started
    measured: list[dict[str, float]] = []
    for done, question in enumerate(questions, 1):
        answer = answerer.ask(question, settings.collection)
        progress("bench", done, len(questions))
        if answer.outcome != "answered":
            continue
        timings = answer.timings
        writing = (timings.total_ms - timings.first_token_ms) / 1000
        values = {name: float(getattr(timings, name)) for name in FIELDS}
        values["decode_tokens_per_s"] = timings.output_tokens / writing if writing > 0 else 0.0
        measured.append(values)
    columns = (*FIELDS, "decode_tokens_per_s")
    return {
        "ready_s": {"median": round(ready, 2), "p95": round(ready, 2)},
        **{name: middle([m[name] for m in measured]) for name in columns},
        "rss_mb": round(psutil.Process().memory_info().rss / 2**20),
        "questions": len(measured),
    }
