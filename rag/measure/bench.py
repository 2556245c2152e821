"""How fast is it? Cold questions, each asked once in this process, in both languages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rag.answer.answerer import Answerer, Collection
from rag.answer.load import load_collections, load_encoder, warm_up
from rag.llm.build import ensure_models
from rag.llm.engine import load_llm
from rag.llm.generate import OnnxLanguageModel
from rag.llm.protocol import LanguageModel
from rag.measure.baseline import PASSAGES, LlamaCpp
from rag.measure.figures import middle
from rag.measure.served import serve_and_ask
from rag.measure.watched import WatchedLanguageModel
from rag.settings import Settings
from rag.types import Answer, FootnoteError

log = logging.getLogger(__name__)

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
Progress = Callable[[str, int, int], None]


class Asked:
    """One way to answer, the model watched, and what its answers took."""

    def __init__(
        self, collections: dict[str, Collection], llm: LanguageModel, settings: Settings
    ) -> None:
        warm_up(llm)
        self._llm = WatchedLanguageModel(llm)
        self._answerer = Answerer(collections, self._llm, settings)
        self._collection = settings.collection
        self.rows: list[Row] = []

    def ask(self, question: str) -> Answer:
        """Answers, and keeps the row of an answered question."""
        self._llm.pace = None
        answer = self._answerer.ask(question, self._collection)
        if answer.outcome == "answered":
            pace = self._llm.pace
            self.rows.append(_row(answer, pace.tokens_per_s if pace else None))
        return answer


@dataclass
class Measured:
    """What the questions so far took."""

    own: Asked
    plain: Asked | None = None
    baseline: LlamaCpp | None = None
    languages: list[str] = field(default_factory=list)
    baseline_rows: list[Row] = field(default_factory=list)
    same: int = 0

    def as_json(self, compare: str | None) -> dict[str, Any]:
        """The object that `bench --json` prints, but for start and memory."""
        rows = self.own.rows
        by_language = {
            name: [row for row, spoken in zip(rows, self.languages, strict=True) if spoken == name]
            for name in sorted(set(self.languages))
        }
        result: dict[str, Any] = {
            **_columns(rows),
            "questions": len(rows),
            "stages": _stages(rows),
            "by_language": {name: _columns(some) for name, some in by_language.items()},
        }
        if self.plain:
            result["without_guesses"] = {
                "same_answers": round(self.same / len(rows), 3),
                **_columns(self.plain.rows),
            }
        if self.baseline:
            result["baseline"] = {"engine": compare, **_columns(self.baseline_rows)}
        return result


def bench(
    settings: Settings,
    questions: Sequence[tuple[str, str]],
    progress: Progress,
    *,
    compare: Literal["llama-cpp"] | None = None,
    without_guesses: bool = False,
) -> dict[str, Any]:
    """The speed table of (question, language) pairs. Only answered questions count.

    With `compare`, the baseline answers each of them right after; with `without_guesses`, so does
    the same model without prompt-lookup decoding. Interrupted, it ends with the questions so far.

    Raises FootnoteError when nothing is answered, and for a baseline that can't be had.
    """
    baseline = LlamaCpp(settings) if compare else None
    served = serve_and_ask(settings, [q for q, _ in questions[:_SERVED]], progress)
    collections = load_collections(settings, load_encoder(settings))
    own = Asked(collections, load_llm(settings), settings)
    plain = Asked(collections, _without_guesses(settings), settings) if without_guesses else None
    measured = Measured(own, plain, baseline)
    try:
        for done, (question, language) in enumerate(questions, 1):
            _ask(measured, question, language, collections[settings.collection])
            progress("bench", done, len(questions))
    except KeyboardInterrupt:
        log.warning("interrupted: these are the figures of %d answers", len(own.rows))
    if not own.rows:
        raise FootnoteError(
            f"None of the {len(questions)} questions was answered by {settings.collection}; give "
            "--questions FILE with questions about it."
        )
    return {
        "ready_s": middle(served.ready_s),
        "rss_mb": round(served.rss_mb),
        **measured.as_json(compare),
    }


def _ask(measured: Measured, question: str, language: str, collection: Collection) -> None:
    answer = measured.own.ask(question)
    if answer.outcome != "answered":
        return
    measured.languages.append(language)
    if measured.plain:
        measured.same += measured.plain.ask(question).answer == answer.answer
    if measured.baseline:
        found = collection.searcher.search(question, PASSAGES, language)
        passages = [hit.chunk.told for hit in found.hits]
        row = measured.baseline.ask(question, passages, _BASELINE_TOKENS)
        measured.baseline_rows.append(row)


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


def _without_guesses(settings: Settings) -> LanguageModel:
    return OnnxLanguageModel(ensure_models(settings).llm, settings.threads, guesses=0)


def _row(answer: Answer, tokens_per_s: float | None) -> Row:
    """`FIELDS` of one answer; without the model's where it wrote nothing or a single piece."""
    row = {name: float(getattr(answer.timings, name)) for name in FIELDS[:-1]}
    if not answer.timings.prompt_tokens:
        del row["prompt_tokens"]
    return row if tokens_per_s is None else {**row, "decode_tokens_per_s": tokens_per_s}


def _columns(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    columns = {name: [row[name] for row in rows if name in row] for name in FIELDS}
    return {name: middle(values) for name, values in columns.items() if values}


def _stages(rows: Sequence[Row]) -> dict[str, float]:
    """Shares of the time of all answers: searching, reading the prompt, writing and checking."""
    total = sum(row["total_ms"] for row in rows)
    search = sum(row["retrieve_ms"] for row in rows)
    first = sum(row["first_token_ms"] for row in rows)
    shares = {"search": search, "read": first - search, "write": total - first}
    return {name: round(value / total, 3) for name, value in shares.items()}
