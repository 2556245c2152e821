"""How fast is it? Cold questions, each asked once in this process, in both languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Literal

from rag.answer.answerer import Answerer
from rag.answer.load import load_answerer, load_collections, load_encoder, warm_up
from rag.llm.build import ensure_models
from rag.llm.generate import OnnxLanguageModel
from rag.measure.baseline import PASSAGES, LlamaCpp
from rag.measure.figures import middle
from rag.measure.served import serve_and_ask
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import Answer, FootnoteError

FIELDS = (
    "retrieve_ms", "first_token_ms", "total_ms", "prompt_tokens", "decode_tokens_per_s",
)  # fmt: skip
_SERVED = 20
"""Questions that the app is asked before its memory is looked at: they fill what it keeps."""
_BASELINE_TOKENS = 64
_LABELS = (
    ("retrieve_ms", "question's vector, search and gate", "ms", 1),
    ("first_token_ms", "to the first token that a reader sees", "s", 1000),
    ("total_ms", "whole answer", "s", 1000),
    ("decode_tokens_per_s", "decoding", "tokens/s", 1),
    ("prompt_tokens", "prompt", "tokens", 1),
    ("ready_s", "start of the process to ready", "s", 1),
)
Row = dict[str, float]


def bench(
    settings: Settings,
    questions: Sequence[tuple[str, str]],
    progress: Callable[[str, int, int], None],
    *,
    compare: Literal["llama-cpp"] | None = None,
    without_guesses: bool = False,
) -> dict[str, Any]:
    """The speed table of (question, language) pairs. Only answered questions count.

    With `compare`, the baseline answers each of them right after; with `without_guesses`, so does
    the same model without prompt-lookup decoding.

    Raises FootnoteError when nothing is answered, and for a baseline that can't be had.
    """
    baseline = LlamaCpp(settings) if compare else None
    served = serve_and_ask(settings, [q for q, _ in questions[:_SERVED]], progress)
    answerer, _ = load_answerer(settings)
    plain = _without_guesses(settings) if without_guesses else None
    searcher = _searcher(settings) if baseline else None
    rows: dict[str, list[Row]] = defaultdict(list)
    plain_rows: list[Row] = []
    baseline_rows: list[Row] = []
    same = 0
    for done, (question, language) in enumerate(questions, 1):
        answer = answerer.ask(question, settings.collection)
        progress("bench", done, len(questions))
        if answer.outcome != "answered":
            continue
        rows[language].append(_row(answer))
        if plain:
            other = plain.ask(question, settings.collection)
            plain_rows.append(_row(other))
            same += other.answer == answer.answer
        if baseline and searcher:
            passages = _chunks(searcher, question, language)
            baseline_rows.append(baseline.ask(question, passages, _BASELINE_TOKENS))
    every = [row for some in rows.values() for row in some]
    if not every:
        raise FootnoteError(
            f"None of the {len(questions)} questions was answered by {settings.collection}; give "
            "--questions FILE with questions about it."
        )
    result: dict[str, Any] = {
        "ready_s": middle(served.ready_s),
        **_columns(every),
        "rss_mb": round(served.rss_mb),
        "questions": len(every),
        "stages": _stages(every),
        "by_language": {name: _columns(some) for name, some in sorted(rows.items())},
    }
    if plain:
        result["without_guesses"] = {
            "same_answers": round(same / len(every), 3),
            **_columns(plain_rows),
        }
    if baseline:
        result["baseline"] = {"engine": compare, **_columns(baseline_rows)}
    return result


def markdown(result: dict[str, Any]) -> str:
    """The table of the README and docs out of what `bench` measured."""
    baseline = result.get("baseline", {})
    lines = ["| | median | p95 |" + (" llama.cpp |" if baseline else "")]
    lines.append("|---|---|---|" + ("---|" if baseline else ""))
    for name, label, unit, scale in _LABELS:
        cells = [_shown(result[name][part] / scale, unit) for part in ("median", "p95")]
        if baseline:
            other = baseline.get(name)
            cells.append(_shown(other["median"] / scale, unit) if other else "")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    lines.append(
        f"| resident memory of the app | {result['rss_mb']:,} MiB | |{' |' * bool(baseline)}"
    )
    return "\n".join(lines)


def _shown(value: float, unit: str) -> str:
    digits = 2 if unit == "s" and value < 10 else 0
    return f"{value:,.{digits}f} {unit}".rstrip()


def _searcher(settings: Settings) -> Searcher:
    return load_collections(settings, load_encoder(settings))[settings.collection].searcher


def _without_guesses(settings: Settings) -> Answerer:
    llm = OnnxLanguageModel(ensure_models(settings).llm, settings.threads, guesses=0)
    warm_up(llm)
    return Answerer(load_collections(settings, load_encoder(settings)), llm, settings)


def _row(answer: Answer) -> Row:
    timings = answer.timings
    writing = (timings.total_ms - timings.first_token_ms) / 1000
    # The first token was there before the clock of the others began.
    rate = (timings.output_tokens - 1) / writing if writing > 0 else 0.0
    found = {name: float(getattr(timings, name)) for name in FIELDS[:-1]}
    return {**found, "decode_tokens_per_s": rate}


def _columns(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    names = [name for name in FIELDS if name in rows[0]] if rows else []
    return {name: middle([row[name] for row in rows]) for name in names}


def _stages(rows: Sequence[Row]) -> dict[str, float]:
    """Shares of the time of all answers: searching, reading the prompt, writing and checking."""
    total = sum(row["total_ms"] for row in rows)
    search = sum(row["retrieve_ms"] for row in rows)
    first = sum(row["first_token_ms"] for row in rows)
    shares = {"search": search, "read": first - search, "write": total - first}
    return {name: round(value / total, 3) for name, value in shares.items()}


def _chunks(searcher: Searcher, question: str, language: str) -> list[str]:
    found = searcher.search(question, PASSAGES, language)
    return [hit.chunk.told for hit in found.hits]
