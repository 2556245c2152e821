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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from rag import prepare
from rag.answer import language
from rag.answer.check import Support
from rag.answer.choice import among, signs_of
from rag.answer.collection import Collection
from rag.answer.judge import PERCENTS, Judge, path_of
from rag.answer.load import load_collections, load_encoder, warm_up
from rag.answer.prompt import Line
from rag.answer.reading import TRIED, Reading
from rag.answer.wanted import wanted
from rag.build import Plan
from rag.ingest.sentences import sentences
from rag.ingest.sources import Source
from rag.llm.engine import load_llm
from rag.llm.protocol import Generation, LanguageModel
from rag.measure import fit_pointer
from rag.measure.battery import read_lines
from rag.measure.figures import auc
from rag.measure.fit_pointer import Sentences
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
    sentences: Sentences
    """Those of the notes that could be shown."""
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
        judge, points, held = fit(rows)
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    _report(rows, held)
    path_of(model).write_text(as_json(model, judge, points), encoding="utf-8")
    print(f"{len(rows)} questions → {path_of(model)}")
    return 0


def fit(rows: Sequence[Row]) -> tuple[Judge, list[float], HeldOut]:
    """The judge of all rows; for each of PERCENTS the point that lets so many answerable questions
    through; and what this goes by, each row by a judge of the other blogs.

    Raises FootnoteError when no question has its answer among its notes.
    """
    weights, offset = _classifier(rows)
    held = held_out(rows)
    agreed = _vote(held.scores, held.agrees, rows)
    held = replace(held, scores=held.scores + agreed * held.agrees)
    points = np.quantile(held.scores[held.answerable], [1 - percent / 100 for percent in PERCENTS])
    pointer = fit_pointer.fit([row.sentences for row in rows])
    return Judge(weights, _GATE, agreed, offset, pointer), points.tolist(), held


@dataclass(frozen=True)
class HeldOut:
    """What a judge of the other blogs makes of each row."""

    scores: NDArray[np.float64]
    answerable: NDArray[np.bool_]
    agrees: NDArray[np.bool_]
    """Whether the model's first sentence says what the chosen one says."""
    right: NDArray[np.bool_]
    """Whether the chosen sentence has the answer."""
    could: NDArray[np.bool_]
    """Whether any has."""


def held_out(rows: Sequence[Row]) -> HeldOut:
    """The scores are without the model's vote."""
    scores = np.zeros(len(rows))
    agrees, right = np.zeros((2, len(rows)), bool)
    for blog in {row.blog for row in rows}:
        others = [row for row in rows if row.blog != blog]
        weights, offset = _classifier(others)
        judge = Judge(weights, _GATE, 0.0, offset)
        pointer = fit_pointer.fit([row.sentences for row in others])
        for i, row in enumerate(rows):
            if row.blog == blog:
                scores[i] = judge.score(row.state, row.gate)
                chosen = row.sentences.first(pointer, TRIED)
                if chosen is not None:
                    agrees[i] = row.sentences.agrees[chosen]
                    right[i] = row.sentences.right[chosen]
    answerable = np.array([row.answerable for row in rows])
    could = np.array([bool(row.sentences.right.any()) for row in rows])
    return HeldOut(scores, answerable, agrees, right, could)


def _vote(scores: NDArray[np.float64], agrees: NDArray[np.bool_], rows: Sequence[Row]) -> float:
    """What the model's vote adds to a score, in the score's units."""
    both = np.column_stack([scores, agrees])
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
        asked = reading.prompt()
        generation = llm.generate(
            asked.messages, max_tokens=settings.max_output_tokens, watch=asked.watch
        )
        said = _first_sentence(generation, spoken)
        if generation.state is None:
            raise FootnoteError(f"{llm.name} tells no state: there is nothing to judge by.")
        looks = generation.looks
        if looks is None:  # the encoder will choose
            looks = np.zeros((2, 0, len(asked.lines)), np.float32)
        told = _told(entry, asked.messages[-1].content.rpartition("\n\n")[0])
        answerable = bool(entry["answerable"])
        kind = ",".join(sorted(wanted(question).kinds))
        read = _sentences(reading, asked.lines, looks, said, entry)
        yield Row(blog, answerable, answerable and told, kind, gate, read, generation.state)
        progress(blog, done, len(entries))


def _told(entry: Mapping[str, Any], text: str) -> bool:
    """Whether a text has the entry's answer; one that was written as a remark is no string of the page."""
    return "sentence" not in entry or _plain(entry["answer"]) in _plain(text)


def _sentences(
    reading: Reading,
    lines: Sequence[Line],
    looks: NDArray[np.float32],
    said: str,
    entry: Mapping[str, Any],
) -> Sentences:
    found, at = among(reading.candidates, lines)
    answer = _plain(entry.get("answer") or "") if entry["answerable"] else ""
    marks = np.zeros((3, len(found)), bool)
    for n, candidate in enumerate(found):
        support = reading.checker.candidate(candidate.passage, candidate.sentence, about=False)
        if isinstance(support, Support):
            right = bool(answer) and answer in _plain(support.quote)
            marks[:, n] = right, True, reading.checker.vote(said, support) == "the same"
    return Sentences(signs_of(found), looks[:, :, at], *marks)


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


def _report(rows: Sequence[Row], held: HeldOut) -> None:
    scores, answerable = held.scores, held.answerable
    blogs = np.array([row.blog for row in rows])
    gates = np.array([row.gate for row in rows])
    for blog in [*sorted({row.blog for row in rows}), ""]:
        chosen = blogs == blog if blog else np.ones(len(rows), bool)
        inside, outside = chosen & answerable, chosen & ~answerable
        judged = auc(scores[inside].tolist(), scores[outside].tolist())
        gate = auc(gates[inside].tolist(), gates[outside].tolist())
        could = chosen & held.could
        print(
            f"{blog or 'all':14} {chosen.sum():5} AUC {judged}, of the gate alone {gate}; the right "
            f"one of the notes' sentences {held.right[could].sum()} of {could.sum()}"
        )
    for share in (0.95, 0.9, 0.85, 0.8):
        point = np.quantile(scores[answerable], 1 - share)
        print(
            f"{share:.0%} of the answerable: {(scores[~answerable] >= point).mean():.1%} of the others"
        )


def as_json(model: str, judge: Judge, points: Sequence[float]) -> str:
    """What `rag.answer.judge.judge_of` reads."""
    pointer = judge.pointer
    assert pointer is not None
    return json.dumps({
        "model": model, "gate": judge.gate, "agreed": round(judge.agreed, 3),
        "offset": round(judge.offset, 4),
        "points": [round(point, 3) for point in points], "weights": _short(judge.weights),
        "pointer": {"signs": _short(pointer.signs), "heads": [*map(_short, pointer.heads)]},
    })  # fmt: skip


def _short(weights: NDArray[np.float32]) -> list[float]:
    return [float(f"{weight:.4g}") for weight in weights]


if __name__ == "__main__":
    sys.exit(main())
