"""The people batteries without a language model: `python -m tests.answer.measure_interview`.

The model's turn yields nothing, so each answer is the nearest sentence that holds. That takes seconds,
shows what the route and the check do alone, and is a floor for `python -m rag evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rag.answer.answerer import Answerer
from rag.answer.load import load_collections, load_encoder
from rag.llm.protocol import Watch
from rag.measure.battery import collection_of, evaluate_battery
from rag.settings import Settings
from rag.types import Message
from tests.answer.scripted import ScriptedGeneration, ScriptedModel

PEOPLE = Path("corpus/people")
SETS = ("held-out", "development", "unseen")


class Silent(ScriptedModel):
    """Says nothing that could hold."""

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        begin: str = "",
        stop: Callable[[], bool] = lambda: False,
        watch: Watch | None = None,
    ) -> ScriptedGeneration:
        return ScriptedGeneration("x", stop)


def main() -> None:
    """Prints the figures of each battery, and the questions that came out wrong."""
    paths = sorted(PEOPLE.glob("*.jsonl")) + [
        path for name in SETS for path in sorted(PEOPLE.glob(f"{name}/*.jsonl"))
    ]
    names = [collection_of(path) or "" for path in paths]
    settings = replace(Settings.from_environment(), collection=names[0])
    collections = load_collections(settings, load_encoder(settings))
    answerer = Answerer(collections, Silent(), settings)
    for path, name in zip(paths, names, strict=True):
        collection, quiet = collections[name], lambda *_: None
        row, asked = evaluate_battery(path, answerer, collection, settings.passages, quiet)
        print("\n" + "\n".join(f"{key:<48} {value}" for key, value in row.items() if value))
        for entry in asked:
            if (entry["answer"]["outcome"] == "answered") != entry["answerable"]:
                print("  wrong:", entry["question"], "→", entry["answer"]["answer"])


if __name__ == "__main__":
    main()
