"""Labelled batteries: are answerable questions answered, others refused, and what is said held?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.measure import interview
from rag.measure.answers import checked
from rag.measure.figures import auc, mean, share
from rag.measure.second_check import Inspection, inspect
from rag.types import Chunk, FootnoteError, Progress

_OUTCOMES = ("answered", "refused", "greeting", "error")


def evaluate_battery(
    path: Path,
    answerer: Answerer,
    collection: Collection,
    passages: int,
    progress: Progress,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of a labelled battery asked end to end, and each question with its answer.

    `passages` is how many hits the gate looks at.
    """
    entries = _read_battery(path)
    pages = chunks_by_page(collection)
    asked: list[dict[str, Any]] = []
    inspections: list[Inspection] = []
    for done, entry in enumerate(entries, 1):
        question, language = entry["question"], entry["language"]
        answer = answerer.ask(question, collection.info.name).as_json()
        found = collection.searcher.search(question, passages, language)
        score = collection.gate.decide(question, found, language).score
        result = {**entry, "set": path.name, "gate score": score, "answer": answer}
        if answer["outcome"] == "answered":
            inspections.append(inspect(answer, language, pages))
            result["second check"] = asdict(inspections[-1])
        asked.append(result)
        progress(path.name, done, len(entries))
    row = _figures(path.name, asked, inspections, pages)
    if collection.interview:
        row |= interview.figures(asked, collection.interview)
        for entry in asked:
            card = collection.interview.card
            entry["out of voice"] = interview.out_of_voice(entry["answer"], card)
    return row, asked


def collection_of(path: Path) -> str | None:
    """The collection that a battery says it is about; None where it says nothing."""
    name = read_lines(path)[0].get("collection")
    return str(name) if name else None


def _figures(
    name: str,
    asked: Sequence[dict[str, Any]],
    inspections: Sequence[Inspection],
    pages: dict[str, list[Chunk]],
) -> dict[str, Any]:
    inside = [a for a in asked if a["answerable"]]
    outside = [a for a in asked if not a["answerable"]]
    answered = [a for a in inside if _outcome(a) == "answered"]
    row: dict[str, Any] = {"set": name}
    for label, group in (("answerable", inside), ("others", outside)):
        for outcome in _OUTCOMES:
            counted = [_outcome(a) == outcome for a in group]
            if any(counted) or outcome in ("answered", "refused"):
                row[f"{label} {outcome}"] = share(counted)
    kinds = sorted({(not a["answerable"], a["kind"]) for a in asked if a.get("kind")})
    for other, kind in kinds:
        group = [a for a in (outside if other else inside) if a.get("kind") == kind]
        label = "others" if other else "answerable"
        row[f"{label} answered, {kind}"] = share([_outcome(a) == "answered" for a in group])
    return row | {
        "refused without the model": share(
            [not a["answer"]["timings"]["prompt_tokens"] for a in outside]
        ),
        "gate AUC": auc([a["gate score"] for a in inside], [a["gate score"] for a in outside]),
        "right page cited": share([
            any(is_page(c["url"], a["page"], pages) for c in a["answer"]["citations"])
            for a in answered
            if a.get("page")
        ]),
        **checked(inspections),
        "sentences withheld per answer": mean([a["answer"]["withheld"] for a in answered]),
    }  # fmt: skip


def chunks_by_page(collection: Collection) -> dict[str, list[Chunk]]:
    """By the page's address, without a fragment."""
    pages: dict[str, list[Chunk]] = {}
    for chunk in collection.searcher.stored.chunks:
        pages.setdefault(chunk.page, []).append(chunk)
    return pages


def is_page(url: str, wanted: str, pages: dict[str, list[Chunk]]) -> bool:
    """Whether an address is the page whose path ends with `wanted`, in whichever language version."""
    page = url.partition("#")[0]
    versions = {page} | {other for chunk in pages.get(page, ()) for other in chunk.alternates}
    return any(version.rstrip("/").endswith(wanted.rstrip("/")) for version in versions)


def _outcome(asked: dict[str, Any]) -> str:
    return str(asked["answer"]["outcome"])


def _read_battery(path: Path) -> list[dict[str, Any]]:
    entries = []
    for entry in read_lines(path):
        try:
            entries.append({
                **entry, "question": str(entry["question"]), "language": str(entry["language"]),
                "answerable": bool(entry["answerable"]),
            })  # fmt: skip
        except KeyError as error:
            raise FootnoteError(
                f'{path}: a battery has {{"question", "language", "answerable"}} a line '
                f"({error} is missing)."
            ) from error
    return entries


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file. Raises FootnoteError for anything else."""
    entries = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FootnoteError(f"Cannot read {path}: {error}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise FootnoteError(f"{path}, line {number} is no JSON: {error}.") from error
        if not isinstance(entry, dict):
            raise FootnoteError(f"{path}, line {number} is no JSON object.")
        entries.append(entry)
    if not entries:
        raise FootnoteError(f"{path} has no questions: there is nothing to measure.")
    return entries
