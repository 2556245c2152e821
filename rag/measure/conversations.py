"""Follow-ups: is the right page found from the conversation, and does a new subject stay new?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.measure.battery import chunks_by_page, is_page, read_lines
from rag.measure.figures import share
from rag.measure.numerals import fold
from rag.types import Answer, FootnoteError, Progress, Turn

CHANGE = "change"
"""The kind of a message that begins a new subject."""
_FIRST = 3


def are_conversations(path: Path) -> bool:
    """Whether the entries of a JSON-lines file have a history."""
    return "history" in read_lines(path)[0]


def evaluate_conversations(
    path: Path, answerer: Answerer, collection: Collection, progress: Progress
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of a file of conversations, and each with the pages that were found.

    Each entry has a `history`, a `question` that goes on from there, the `page` that answers it and
    a `kind`. Only search and gate are asked: the answer is left before the model writes.
    """
    entries = read_lines(path)
    pages = chunks_by_page(collection)
    name = collection.info.name
    asked: list[dict[str, Any]] = []
    for done, entry in enumerate(entries, 1):
        question, wanted, history = _read(entry, path)
        answer = _found(answerer, question, name, history)
        urls = [near.url for near in answer.nearest][:_FIRST]
        result = {
            **entry, "set": path.name, "search_query": answer.search_query,
            "passed the gate": answer.stage != "done", "found": urls,
            "right": any(is_page(url, wanted, pages) for url in urls),
        }  # fmt: skip
        if entry.get("kind") == CHANGE:
            earlier = _found(answerer, history[-2].content, name, history[:-2])
            result["dragged back"] = _drags(answer, question, earlier, wanted, pages)
        asked.append(result)
        progress(path.name, done, len(entries))
    kinds = sorted({a["kind"] for a in asked if a.get("kind")})
    row = {
        "set": path.name,
        f"right page in the first {_FIRST}": share([a["right"] for a in asked]),
        **{f"… {kind}": share([a["right"] for a in asked if a.get("kind") == kind])
           for kind in kinds},
        "changes of subject dragged back": share(
            [a["dragged back"] for a in asked if "dragged back" in a]
        ),
        "passed the gate": share([a["passed the gate"] for a in asked]),
    }  # fmt: skip
    return row, asked


def failures(asked: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each conversation that went wrong."""
    return [
        f"{a.get('id', '?')} {a['question']!r} as {a['search_query']!r}: "
        f"{'dragged back' if a.get('dragged back') else 'found'} {', '.join(a['found']) or 'nothing'}"
        f", wanted {a['page']}"
        for a in asked
        if not a["right"] or a.get("dragged back")
    ]


def _found(answerer: Answerer, question: str, collection: str, history: Sequence[Turn]) -> Answer:
    """The answer object once it is known what was found; a refusal or a greeting is whole by then.

    The stream is left there, before the model is asked.
    """
    stream = answerer.stream(question, collection, history)
    return next(answer for answer in stream if answer.stage != "searching")


def _drags(
    answer: Answer, question: str, earlier: Answer, wanted: str, pages: dict[str, Any]
) -> bool:
    """Whether a new subject was searched with the old one's words, or found the old one's page first."""
    typed = set(_words(question))
    added = [word for word in _words(answer.search_query) if word not in typed]
    if added or not answer.nearest or not earlier.nearest:
        return bool(added)
    first, before = answer.nearest[0].url, earlier.nearest[0].url
    return first.partition("#")[0] == before.partition("#")[0] and not is_page(first, wanted, pages)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", fold(text))


def _read(entry: dict[str, Any], path: Path) -> tuple[str, str, list[Turn]]:
    try:
        history = [Turn(turn["role"], str(turn["content"])) for turn in entry["history"]]
        question, wanted = str(entry["question"]), str(entry["page"])
    except (KeyError, TypeError) as error:
        raise FootnoteError(
            f'{path}: a conversation has {{"history", "question", "page"}} a line ({error!r}).'
        ) from error
    if entry.get("kind") == CHANGE and len(history) < 2:
        raise FootnoteError(f"{path}: {question!r} changes the subject of an empty conversation.")
    return question, wanted, history
