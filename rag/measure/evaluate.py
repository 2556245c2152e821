"""`python -m rag evaluate`: which measurement a file gets, and its figures as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rag.answer.answerer import Answerer
from rag.answer.load import load_collections, load_encoder, warm_up
from rag.llm.build import ensure_models
from rag.llm.generate import OnnxLanguageModel
from rag.measure.answers import collect, evaluate_answers
from rag.measure.battery import collection_of, evaluate_battery
from rag.measure.conversations import are_conversations, evaluate_conversations, failures
from rag.measure.figures import Estimate
from rag.measure.search import evaluate_search
from rag.measure.squad import RememberingEncoder, read_squad
from rag.settings import Settings
from rag.types import Progress


@dataclass
class Report:
    """What was measured."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    """A table of figures for each set."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Each question with its answer and what the second check found in it."""
    remarks: list[str] = field(default_factory=list)
    """What to look at: sentences that the second check objects to, conversations that failed."""

    def add(self, row: dict[str, Any], asked: Sequence[dict[str, Any]]) -> None:
        self.rows.append(row)
        self.asked += asked
        self.remarks += [
            f"{entry['question']!r}: {offence['sentence']!r} lacks {', '.join(offence['lacking'])} "
            f"in its passage, which says {offence['quote']!r}"
            for entry in asked
            for offence in entry.get("second check", {}).get("offences", ())
        ]
        self.remarks += [
            f"{entry['question']!r}: {entry['out of voice']!r} is out of the subject's voice in "
            f"{entry['answer']['answer']!r}"
            for entry in asked
            if entry.get("out of voice")
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        rows = [{k: _plain(v) for k, v in row.items()} for row in self.rows]
        return {"rows": rows, "remarks": self.remarks, "answers": self.asked}

    def as_text(self) -> str:
        """For a terminal."""
        return "\n\n".join(filter(None, [*map(_table, self.rows), "\n".join(self.remarks)]))


def evaluate(
    files: Sequence[Path], settings: Settings, progress: Progress, *, answers: int, search: bool
) -> Report:
    """Measures each file: SQuAD format (`.json`), a labelled battery, or conversations.

    `answers` questions of each SQuAD-format file are answered end to end; without `search` that is
    all that is done with it. Raises FootnoteError for files of another shape.
    """
    report = Report()
    squad = [read_squad(path) for path in files if path.suffix == ".json"]
    others = [path for path in files if path.suffix != ".json"]
    conversations = {path: are_conversations(path) for path in others}
    encoder = load_encoder(settings)
    remembering = RememberingEncoder(encoder)
    if squad and search:
        report.rows += evaluate_search(squad, remembering, progress)
    if not others and not (squad and answers):
        return report
    llm = OnnxLanguageModel(ensure_models(settings).llm, settings.threads)
    warm_up(llm)
    for pages in squad if answers else ():
        collection = collect(pages, remembering, llm, settings, progress)
        report.add(*evaluate_answers(pages, answers, collection, llm, settings, progress))
    if not others:
        return report
    collections = load_collections(settings, encoder)
    answerer, chosen = Answerer(collections, llm, settings), collections[settings.collection]
    for path in others:
        if conversations[path]:
            row, asked = evaluate_conversations(path, answerer, chosen, progress)
            report.remarks += failures(asked)
        else:
            own = collections.get(collection_of(path) or settings.collection, chosen)
            row, asked = evaluate_battery(path, answerer, own, settings.passages, progress)
        report.add(row, asked)
    return report


def _plain(value: Any) -> Any:
    return asdict(value) if isinstance(value, Estimate) else value


def _table(row: dict[str, Any]) -> str:
    width = max(map(len, row))
    return "\n".join(
        f"{key:<{width}}  {'–' if value is None else value}" for key, value in row.items()
    )
