"""Is an interview as quick as a blog? Questions of both in turn, in one process, each asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from rag.answer.load import load_answerer
from rag.measure.battery import collection_of, read_lines
from rag.measure.figures import middle
from rag.settings import Settings
from rag.types import FootnoteError

_FIELDS = ("retrieve_ms", "first_token_ms", "total_ms", "prompt_tokens")


def bench_interview(
    settings: Settings,
    questions: Sequence[tuple[str, str]],
    batteries: Sequence[Path],
    limit: int | None,
    progress: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Medians of both, and the interview's time to the first word over the blog's.

    `questions` are (question, language) pairs about the default collection, `batteries` labelled
    questions about pages with somebody to talk to; `limit` is how many of each are asked. Only
    answered questions count. Raises FootnoteError when a side has none.
    """
    people = [_of(path) for path in batteries]
    spread = [pair for group in zip_longest(*people) for pair in group if pair][:limit]
    blog = [(question, settings.collection) for question, _ in questions][:limit]
    answerer, _ = load_answerer(settings)
    rows: dict[str, list[dict[str, float]]] = {"blog": [], "interview": []}
    pairs = list(zip(blog, spread, strict=False))
    for done, both in enumerate(pairs, 1):
        for question, collection in both:
            answer = answerer.ask(question, collection)
            if answer.outcome == "answered":
                rows[answer.mode].append({f: float(getattr(answer.timings, f)) for f in _FIELDS})
        progress("bench", done, len(pairs))
    missing = [mode for mode, answered in rows.items() if not answered]
    if missing:
        raise FootnoteError(
            f"None of the questions to the {missing[0]} was answered; give others with --questions "
            "FILE and --interview FILE."
        )
    first = {mode: np.median([r["first_token_ms"] for r in some]) for mode, some in rows.items()}
    return {
        **{
            mode: {
                "questions": {"answered": len(some)},
                **{field: middle([row[field] for row in some]) for field in _FIELDS},
            }
            for mode, some in rows.items()
        },
        "first word, interview over blog": round(float(first["interview"] / first["blog"]), 2),
    }


def _of(path: Path) -> list[tuple[str, str]]:
    name = collection_of(path)
    if name is None:
        raise FootnoteError(f'{path} doesn\'t say which "collection" it is about.')
    return [(str(e["question"]), name) for e in read_lines(path) if e.get("answerable", True)]
