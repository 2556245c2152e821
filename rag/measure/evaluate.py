"""How good are search, gate and answers? Over SQuAD-format files, and over a labelled battery."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag.answer.answerer import Answerer
from rag.answer.language import detect
from rag.ingest.sentences import sentence_spans
from rag.measure.figures import Share, auc, share
from rag.search.build import NoCache, embed_chunks, embed_sentences
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.search.store import Manifest, Stored
from rag.search.vectors import FaissIndex
from rag.types import Chunk, Encoder, FootnoteError

Progress = Callable[[str, int, int], None]
LET_THROUGH = 0.95


@dataclass(frozen=True)
class Paragraphs:
    """A SQuAD-format file: paragraphs, and questions with the paragraph that answers them."""

    name: str
    language: str
    paragraphs: list[str]
    articles: list[int]
    """Of each paragraph."""
    questions: list[str]
    gold: list[int]
    """Of each question, its paragraph."""


def read_squad(path: Path) -> Paragraphs:
    """Raises FootnoteError for a file of another shape."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))["data"]
        paragraphs, articles, questions, gold = [], [], [], []
        for number, article in enumerate(data):
            for paragraph in article["paragraphs"]:
                paragraphs.append(str(paragraph["context"]).replace("\ufeff", ""))
                articles.append(number)
                for entry in paragraph["qas"]:
                    questions.append(str(entry["question"]))
                    gold.append(len(paragraphs) - 1)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FootnoteError(f"{path} is no SQuAD-format file: {error!r}.") from error
    language = detect(" ".join(questions[:20]), "en")
    return Paragraphs(path.name, language, paragraphs, articles, questions, gold)


def evaluate_squad(
    files: Sequence[Paragraphs], encoder: Encoder, progress: Progress
) -> list[dict[str, Any]]:
    """Each file's questions against each file's paragraphs (of equal number: parallel files).

    Search is measured with all paragraphs indexed; the gate with every second article left out, at
    the threshold that lets 95 % of the answerable questions through, and at the shipped one.
    """
    rows = []
    for pages in files:
        whole = _searcher(pages, range(len(pages.paragraphs)), encoder, progress)
        half = [i for i, article in enumerate(pages.articles) if article % 2 == 0]
        partly = _searcher(pages, half, encoder, progress)
        for asked in files:
            if len(asked.paragraphs) == len(pages.paragraphs):
                rows.append(_direction(asked, pages, whole, partly, progress))
    return rows


def _direction(
    asked: Paragraphs,
    pages: Paragraphs,
    whole: Searcher,
    partly: Searcher,
    progress: Progress,
) -> dict[str, Any]:
    name = f"{asked.name} → {pages.name}"
    ranks: list[int] = []
    inside: list[float] = []
    outside: list[float] = []
    gate = Gate()
    for done, (question, gold) in enumerate(zip(asked.questions, asked.gold, strict=True), 1):
        hits = whole.search(question, 10, asked.language).hits
        found = [int(hit.chunk.id) for hit in hits]
        ranks.append(found.index(gold) if gold in found else 10)
        verdict = gate.decide(question, partly.search(question, 3, asked.language), asked.language)
        (inside if pages.articles[gold] % 2 == 0 else outside).append(verdict.score)
        progress(name, done, len(asked.questions))
    threshold = float(np.quantile(inside, 1 - LET_THROUGH))
    return {
        "set": name,
        **{f"recall@{k}": share([rank < k for rank in ranks]) for k in (1, 3, 10)},
        "gate AUC": round(auc(inside, outside), 4),
        "others let through at 95 %": share([score >= threshold for score in outside]),
        "answerable let through as shipped": share([score >= 0 for score in inside]),
        "others let through as shipped": share([score >= 0 for score in outside]),
    }


def _searcher(
    pages: Paragraphs, chosen: Sequence[int], encoder: Encoder, progress: Progress
) -> Searcher:
    chunks = [
        Chunk(
            str(i), pages.paragraphs[i], "", f"p{i}", None, pages.language,
            sentences=tuple(sentence_spans(pages.paragraphs[i], pages.language)),
        )
        for i in chosen
    ]  # fmt: skip
    vectors = embed_chunks(chunks, encoder, progress, NoCache())
    sentences = embed_sentences(chunks, encoder, progress, NoCache()).astype(np.float16)
    manifest = Manifest(
        name="squad", title=pages.name, mode="blog", language=pages.language,
        languages=(pages.language,), source=pages.name, built="", embedder=encoder.name,
        embedder_fingerprint=encoder.fingerprint, dimension=encoder.dimension, chunk_tokens=0,
        chunk_overlap=0, pages=len(chunks), chunks=len(chunks), sentences=len(sentences),
    )  # fmt: skip
    return Searcher(Stored(manifest, tuple(chunks), FaissIndex.of(vectors), sentences), encoder)


def evaluate_battery(
    path: Path, answerer: Answerer, collection: str, progress: Progress
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of a labelled battery asked end to end, and each question with its answer."""
    entries = _read_battery(path)
    asked = []
    for done, entry in enumerate(entries, 1):
        answer = answerer.ask(entry["question"], collection)
        asked.append({**entry, "answer": answer.as_json()})
        progress(path.name, done, len(entries))
    inside = [a for a in asked if a["answerable"]]
    outside = [a for a in asked if not a["answerable"]]
    answered = [a for a in inside if a["answer"]["outcome"] == "answered"]
    row = {
        "set": path.name,
        "answerable answered": share([a["answer"]["outcome"] == "answered" for a in inside]),
        "others answered": share([a["answer"]["outcome"] == "answered" for a in outside]),
        "refused without the model": share(
            [not a["answer"]["timings"]["prompt_tokens"] for a in outside]
        ),
        "right page cited": share([_cites(a) for a in answered if a.get("page")]),
        "question's language": share([a["answer"]["language"] == a["language"] for a in asked]),
        "answers with sentences withheld": share([bool(a["answer"]["withheld"]) for a in answered]),
    }
    return row, asked


def _cites(asked: dict[str, Any]) -> bool:
    return any(
        asked["page"].rstrip("/") in citation["url"] for citation in asked["answer"]["citations"]
    )


def _read_battery(path: Path) -> list[dict[str, Any]]:
    entries = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in filter(str.strip, lines):
            entry = json.loads(line)
            entries.append({**entry, "answerable": bool(entry["answerable"])})
            str(entry["question"]), str(entry["language"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FootnoteError(
            f'{path}: a battery has {{"question", "language", "answerable"}} a line ({error!r}).'
        ) from error
    return entries


def as_json(row: dict[str, Any]) -> dict[str, Any]:
    """A row of figures as plain values."""
    return {k: asdict(v) if isinstance(v, Share) else v for k, v in row.items()}


def table(row: dict[str, Any]) -> str:
    """A row of figures for a terminal."""
    width = max(map(len, row))
    return "\n".join(f"{key:<{width}}  {value}" for key, value in row.items())
