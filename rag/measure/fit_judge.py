"""Fits `rag.answer.judge` for the language model that the settings name.

    python -m rag.measure.fit_judge --blogs tests/data/blogs --also tests/data/development.jsonl

builds the collection of every folder NAME beside a NAME.jsonl that isn't there yet, puts its
questions and their notes to the model, and fits a logistic classifier over the states. It prints how
each blog fares with a judge that was fitted on the others, and writes the judge of all of them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from rag import prepare
from rag.answer import language
from rag.answer.collection import Collection
from rag.answer.judge import PERCENTS, Judge, path_of
from rag.answer.load import load_collections, load_encoder, warm_up
from rag.answer.wanted import wanted
from rag.build import Plan
from rag.ingest.sentences import sentences
from rag.ingest.sources import Source
from rag.llm.engine import load_llm
from rag.llm.protocol import Generation, LanguageModel
from rag.measure.battery import read_lines
from rag.measure.figures import auc
from rag.progress import Bars
from rag.search.analyse import fold
from rag.settings import Settings
from rag.types import FootnoteError, Language, Progress

_MOST = 100
"""Questions of one blog, drawn at random, so that no subject outweighs the others."""
_SEED = 5
_REGULAR = 3e-3
"""Inverse strength of the L2 penalty; 1e-3 and 1e-2 are within 0.01 of AUC on left-out blogs."""
_GATE = 0.1
"""Weight of the gate's score beside the state's log-odds."""


_MOST_WEIGHT = 4.0


@dataclass(frozen=True)
class Row:
    """A question as the judge sees it."""

    blog: str
    answerable: bool
    held: bool
    """Whether it is answerable and the notes hold the answer; where they don't, the model may still
    know that they are about what was asked."""
    kind: str
    """What kind of thing is asked for (`rag.answer.wanted`)."""
    gate: float
    agrees: bool
    """Whether the model's first sentence says what the nearest one says."""
    state: NDArray[np.float32]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fits and writes. Returns 1 after a failure that is explained in one line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--blogs", type=Path, required=True)
    parser.add_argument(
        "--also", type=Path, action="append", default=[], metavar="FILE",
        help="labelled questions about the default collection; all of them are used",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        settings = Settings.from_environment()
        batteries = sorted(options.blogs.glob("*.jsonl"))
        prepare.build(list(_missing(batteries, settings)), settings)
        rows, model = _read(batteries, options.also, settings)
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    judge, points, scores = fit(rows)
    _report(rows, scores)
    path_of(model).write_text(as_json(model, judge, points), encoding="utf-8")
    print(f"{len(rows)} questions → {path_of(model)}")
    return 0


def fit(rows: Sequence[Row]) -> tuple[Judge, list[float], NDArray[np.float64]]:
    """The judge of all rows; for each of PERCENTS the point that lets so many answerable questions
    through; and the scores that this goes by, each of a judge of the other blogs."""
    weights, offset = _classifier(rows)
    scores, answerable = held_out(rows)
    agreed = _vote(scores, rows)
    scores += agreed * np.array([row.agrees for row in rows])
    points = np.quantile(scores[answerable], [1 - percent / 100 for percent in PERCENTS])
    return Judge(weights, _GATE, agreed, offset), points.tolist(), scores


def held_out(rows: Sequence[Row]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Each row's score by a classifier of the other blogs, without the model's vote, and whether it
    is answerable."""
    scores = np.zeros(len(rows))
    for blog in {row.blog for row in rows}:
        weights, offset = _classifier([row for row in rows if row.blog != blog])
        judge = Judge(weights, _GATE, 0.0, offset)
        for i, row in enumerate(rows):
            if row.blog == blog:
                scores[i] = judge.score(row.state, row.gate)
    return scores, np.array([row.answerable for row in rows])


def _vote(scores: NDArray[np.float64], rows: Sequence[Row]) -> float:
    """What the model's vote adds to a score, in the score's units."""
    both = np.column_stack([scores, [row.agrees for row in rows]])
    model = LogisticRegression()
    model.fit(both, [row.answerable for row in rows], _balance(rows))
    return max(0.0, float(model.coef_[0][1] / model.coef_[0][0]))


def _classifier(rows: Sequence[Row]) -> tuple[NDArray[np.float32], float]:
    """Weights and offset over the states as they are."""
    states = np.stack([row.state for row in rows])
    centre, scale = states.mean(axis=0), states.std(axis=0) + 1e-6
    model = LogisticRegression(C=_REGULAR, max_iter=500)
    model.fit((states - centre) / scale, [row.answerable for row in rows], _balance(rows))
    weights = model.coef_[0] / scale
    return weights.astype(np.float32), float(model.intercept_[0] - weights @ centre)


def _balance(rows: Sequence[Row]) -> list[float]:
    """A weight for each row, so that no kind of question counts for an answer or against one.

    Most questions for a price that one makes up for a blog are unanswerable. Half of it for one that
    is answerable by what the notes lack.
    """
    kinds = Counter(row.kind for row in rows)
    sides = Counter((row.kind, row.answerable) for row in rows)
    weights = []
    for row in rows:
        even = min(_MOST_WEIGHT, kinds[row.kind] / 2 / sides[row.kind, row.answerable])
        weights.append(even / 2 if row.answerable and not row.held else even)
    return weights


def _missing(batteries: Sequence[Path], settings: Settings) -> Iterator[Plan]:
    for battery in batteries:
        if not (settings.artifacts_dir / battery.stem / "manifest.json").exists():
            yield Plan(battery.stem, Source("html", str(battery.with_suffix(""))))


def _read(
    batteries: Sequence[Path], also: Sequence[Path], settings: Settings
) -> tuple[list[Row], str]:
    encoder = load_encoder(settings)
    collections = load_collections(settings, encoder)
    llm = load_llm(settings)
    warm_up(llm)
    rows: list[Row] = []
    with Bars("judge") as bars:
        for path in batteries:
            entries = read_lines(path)
            random.Random(_SEED).shuffle(entries)
            rows += _ask(
                entries[:_MOST], path.stem, collections[path.stem], llm, settings, bars.show
            )
        for path in also:
            chosen = collections[settings.collection]
            rows += _ask(read_lines(path), path.stem, chosen, llm, settings, bars.show)
    return rows, llm.name


def _ask(
    entries: Sequence[dict[str, Any]],
    blog: str,
    collection: Collection,
    llm: LanguageModel,
    settings: Settings,
    progress: Progress,
) -> Iterator[Row]:
    """Raises FootnoteError when the model tells no state."""
    for done, entry in enumerate(entries, 1):
        question = entry["question"]
        spoken = language.detect(question, collection.info.language)
        found = collection.searcher.search(question, settings.passages, spoken)
        gate = collection.gate.decide(question, found, spoken).score
        reading = collection.reading(
            question, None, found, spoken, llm.count_tokens, translations=False, abroad=True
        )
        messages = reading.messages()
        generation = llm.generate(messages, max_tokens=settings.max_output_tokens)
        said = _first_sentence(generation, spoken)
        if generation.state is None:
            raise FootnoteError(f"{llm.name} tells no state: there is nothing to judge by.")
        chosen = reading.choose(about=False)
        agrees = bool(chosen) and reading.checker.vote(said, chosen[0]) == "the same"
        notes, _, _ = messages[-1].content.rpartition("\n\n")
        # An answer that was written as a remark is no string of the page.
        told = "sentence" not in entry or _plain(entry["answer"]) in _plain(notes)
        answerable = bool(entry["answerable"])
        kind = ",".join(sorted(wanted(question).kinds))
        yield Row(blog, answerable, answerable and told, kind, gate, agrees, generation.state)
        progress(blog, done, len(entries))


def _first_sentence(generation: Generation, spoken: Language) -> str:
    """Of what the model writes; its turn ends there."""
    text = ""
    for piece in generation:
        text += piece
        if len(sentences(text, spoken)) > 1:
            break
    return next(iter(sentences(text, spoken)), "")


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\W+", " ", fold(text)).split())


def _report(rows: Sequence[Row], scores: NDArray[np.float64]) -> None:
    answerable = np.array([row.answerable for row in rows])
    blogs = np.array([row.blog for row in rows])
    gates = np.array([row.gate for row in rows])
    for blog in [*sorted({row.blog for row in rows}), ""]:
        chosen = blogs == blog if blog else np.ones(len(rows), bool)
        inside, outside = chosen & answerable, chosen & ~answerable
        judged = auc(scores[inside].tolist(), scores[outside].tolist())
        gate = auc(gates[inside].tolist(), gates[outside].tolist())
        print(f"{blog or 'all':14} {chosen.sum():5} AUC {judged}, of the gate alone {gate}")
    for share in (0.95, 0.9, 0.85, 0.8):
        point = np.quantile(scores[answerable], 1 - share)
        print(
            f"{share:.0%} of the answerable: {(scores[~answerable] >= point).mean():.1%} of the others"
        )


def as_json(model: str, judge: Judge, points: Sequence[float]) -> str:
    """What `rag.answer.judge.judge_of` reads."""
    weights = [float(f"{weight:.4g}") for weight in judge.weights]
    return json.dumps({
        "model": model, "gate": judge.gate, "agreed": round(judge.agreed, 3),
        "offset": round(judge.offset, 4),
        "points": [round(point, 3) for point in points], "weights": weights,
    })  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
