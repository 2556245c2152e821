"""BM25 over stems, their 2- and 3-grams, with misspelt words bridged to the nearest known one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import Stemmer
from numpy.typing import NDArray
from pydantic import TypeAdapter
from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from rag.search import analyse, postings
from rag.search.postings import Postings, gram_ids
from rag.types import Chunk

BRIDGED_WEIGHT = 0.6
_LANGUAGES = ("en", "es")
_TEXTS = TypeAdapter(tuple[list[str], list[str]])


@dataclass(frozen=True)
class Bridge:
    """A word of the question that the collection lacks, and the nearest one that it has."""

    asked: str
    found: str


class LexicalIndex:
    """Finds chunks by their words."""

    def __init__(self, postings: Postings, stems: Sequence[str], words: Sequence[str]) -> None:
        self._postings = postings
        self.stems = frozenset(stems)
        self.words = list(words)
        self._known = frozenset(words)

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> LexicalIndex:
        """Built in memory from the chunks, in their order."""
        stems: set[str] = set()
        words: set[str] = set()

        def documents() -> Iterator[list[str]]:
            for chunk in chunks:
                text = _indexed_text(chunk)
                terms = analyse.terms(text, chunk.language)
                stems.update(terms)
                words.update(word.folded for word in analyse.content_words(text))
                yield terms

        built = Postings.of(documents())  # which reads them all
        return cls(built, sorted(stems), sorted(words))

    def save(self, folder: Path) -> None:
        """Writes the index into a new folder."""
        folder.mkdir()
        self._postings.save(folder)
        about = {
            "analyser": _analyser(),
            "chunks": self._postings.size,
            "stems": sorted(self.stems),
            "words": self.words,
        }
        (folder / "words.json").write_text(
            json.dumps(about, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
        )

    @classmethod
    def load(cls, folder: Path, chunks: int) -> LexicalIndex | None:
        """What `save` wrote for so many chunks; None when it isn't whole or another analyser's."""
        try:
            about = json.loads((folder / "words.json").read_text(encoding="utf-8"))
            if (about["analyser"], about["chunks"]) != (_analyser(), chunks):
                return None
            stems, words = _TEXTS.validate_python((about["stems"], about["words"]))
            return cls(Postings.load(folder, chunks), stems, words)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def knows(self, word: analyse.Word) -> bool:
        """Whether any chunk holds the word, or another form of it."""
        if word.folded in self._known:
            return True
        return any(analyse.stem(word.folded, language) in self.stems for language in _LANGUAGES)

    def bridge(self, word: analyse.Word) -> Bridge | None:
        """The nearest known word within one edit (from 8 letters two), for a word it lacks.

        One of the two must be no word of either language: "braed" is a slip for bread, and a page
        may have "millenium"; but "React" is not meant by a page that has "reach".
        """
        letters = len(word.folded)
        if letters < 4 or word.has_digit or word.is_code or self.knows(word):
            return None
        edits = 2 if letters >= 8 else 1
        match = process.extractOne(
            word.folded, self.words, scorer=DamerauLevenshtein.distance, score_cutoff=edits
        )
        # A first letter is rarely mistyped, save between languages: cuantización, quantization.
        if match is None or (match[0][0] != word.folded[0] and edits < 2):
            return None
        if max(analyse.rarity(word.folded), analyse.rarity(match[0])) < 1:
            return None
        return Bridge(word.text, match[0])

    def bridges(self, question: str) -> tuple[Bridge, ...]:
        """The words of a question that have to be bridged."""
        return tuple(b for w in analyse.content_words(question) if (b := self.bridge(w)))

    def scores(self, question: str, bridges: Sequence[Bridge]) -> NDArray[np.float32]:
        """BM25 of every chunk, shape (chunks,)."""
        asked = {
            gram
            for language in _LANGUAGES
            for gram in gram_ids(analyse.terms(question, language)).tolist()
        }
        stems = {analyse.stem(b.found, language) for b in bridges for language in _LANGUAGES}
        bridged = set(gram_ids(sorted(stems), longest=1).tolist()) - asked
        return self._score(asked) + BRIDGED_WEIGHT * self._score(bridged)

    def _score(self, grams: set[int]) -> NDArray[np.float32]:
        return self._postings.score(np.array(sorted(grams), np.uint64))


@cache
def _analyser() -> str:
    """Changes whenever the code that makes the terms does."""
    files = [Path(analyse.__file__), Path(postings.__file__), Path(__file__)]
    code = b"".join(path.read_bytes() for path in files) + Stemmer.version().encode()
    return hashlib.sha256(code).hexdigest()[:16]


def _indexed_text(chunk: Chunk) -> str:
    """The title and headings are searched with the text."""
    return "\n".join(filter(None, (chunk.title, chunk.section, " ".join(chunk.tags), chunk.text)))
