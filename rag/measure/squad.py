"""SQuAD-format files: their paragraphs as a collection in memory, and the measure of an answer.

Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text" (2016).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.answer.language import detect
from rag.ingest.sentences import sentence_spans
from rag.measure.numerals import fold, with_digits
from rag.search.build import NoCache, embed_chunks, embed_sentences
from rag.search.store import Manifest, Stored
from rag.search.vectors import FaissIndex, Vectors
from rag.types import Chunk, Encoder, FootnoteError, Language, Progress

_ARTICLES = re.compile(r"\b(?:a|an|the|el|la|los|las|un|una|unos|unas)\b")


@dataclass(frozen=True)
class Paragraphs:
    """A SQuAD-format file: paragraphs, and questions with the paragraph that answers them."""

    name: str
    language: Language
    paragraphs: list[str]
    articles: list[int]
    """Of each paragraph."""
    questions: list[str]
    gold: list[int]
    """Of each question, its paragraph."""
    answers: list[tuple[str, ...]]
    """Of each question, the strings that answer it."""


class RememberingEncoder:
    """An `Encoder` that encodes no text twice, for as long as one measurement takes."""

    def __init__(self, encoder: Encoder) -> None:
        self.name = encoder.name
        self.dimension = encoder.dimension
        self.fingerprint = encoder.fingerprint
        self.count_tokens = encoder.count_tokens
        self._encoder = encoder
        self._queries: dict[str, Vectors] = {}
        self._passages: dict[str, Vectors] = {}

    def encode_query(self, text: str) -> Vectors:
        """Float32 array of shape (dimension,), length 1."""
        if text not in self._queries:
            self._queries[text] = self._encoder.encode_query(text)
        return self._queries[text]

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Float32 array of shape (len(texts), dimension), rows of length 1."""
        new = list(dict.fromkeys(text for text in texts if text not in self._passages))
        if new:
            vectors = self._encoder.encode_passages(new)
            self._passages.update(zip(new, vectors, strict=True))
        return np.stack([self._passages[text] for text in texts])


def read_squad(path: Path) -> Paragraphs:
    """Raises FootnoteError for a file of another shape."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FootnoteError(f"Cannot read {path}: {error}.") from error
    try:
        data = json.loads(text)["data"]
        paragraphs, articles, questions, gold, answers = [], [], [], [], []
        for number, article in enumerate(data):
            for paragraph in article["paragraphs"]:
                paragraphs.append(str(paragraph["context"]).replace("\ufeff", ""))
                articles.append(number)
                for entry in paragraph["qas"]:
                    questions.append(str(entry["question"]))
                    gold.append(len(paragraphs) - 1)
                    answers.append(tuple(str(a["text"]) for a in entry.get("answers", ())))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FootnoteError(f"{path} is no SQuAD-format file: {error!r}.") from error
    if not questions:
        raise FootnoteError(f"{path} has no questions: there is nothing to measure.")
    language = detect(" ".join(questions[:20]), "en")
    return Paragraphs(path.name, language, paragraphs, articles, questions, gold, answers)


def index(
    pages: Paragraphs,
    chosen: Sequence[int],
    encoder: Encoder,
    progress: Progress,
) -> Stored:
    """A collection in memory of the `chosen` paragraphs, each a page with the address `p` + number."""
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
    return Stored(manifest, tuple(chunks), FaissIndex.of(vectors), sentences)


def normalised(text: str, language: str) -> str:
    """Lower case, no accents, articles or punctuation, one blank between words, numbers in digits.

    SQuAD's normalisation, with Spanish articles (as MLQA, Lewis et al. 2020) and number words.
    """
    bare = _ARTICLES.sub(" ", fold(text))
    return " ".join(re.findall(r"[^\W_]+(?:\.\d+)?", with_digits(bare, language)))


def holds(text: str, wanted: Iterable[str], language: str) -> bool:
    """Whether one of the wanted strings stands in the text, word for word once normalised."""
    words = f" {normalised(text, language)} "
    return any(f" {sought} " in words for want in wanted if (sought := normalised(want, language)))
