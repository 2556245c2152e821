"""Languages side by side: what a language itself adds to a vector is taken out of the comparison.

A multilingual encoder puts texts of one language closer together than texts of one meaning, so that
in a blog with posts in two languages a Spanish question finds any Spanish post before the English
one that answers it. Taking each language's mean away on both sides is the common remedy (Libovický,
Rosa & Fraser, "On the Language Neutrality of Pre-trained Multilingual Representations", 2020).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.search.vectors import Vectors

OWN_LANGUAGE = 0.01
"""Added to a balanced cosine of a text in the question's language: readers prefer their own."""
_LEAST = 8
"""With fewer texts of a language its mean says nothing."""


class Balance:
    """The means of one collection's languages."""

    def __init__(
        self, vectors: Vectors, languages: Sequence[str], questions: dict[str, Vectors]
    ) -> None:
        """From all chunks' vectors, shape (chunks, dimension), with each one's language, and the mean
        vector of questions in each language; without the latter nothing is taken off a question."""
        spoken = np.array(languages)
        self._chunks: dict[str, Vectors] = {
            language: vectors[spoken == language].mean(axis=0)
            for language in sorted(set(languages))
            if (spoken == language).sum() >= _LEAST
        }
        self._questions = questions

    @property
    def needed(self) -> bool:
        """Whether there is more than one language to keep in balance."""
        return len(self._chunks) > 1

    def question(self, vector: Vectors, language: str) -> Vectors:
        """A question's vector without its language, shape (dimension,), length 1."""
        mean = self._questions.get(language)
        return vector if mean is None else _unit(vector - mean)

    def cosines(self, question: Vectors, vectors: Vectors, language: str) -> Vectors:
        """Of a balanced question and texts in `language`, shape (texts,)."""
        mean = self._chunks.get(language)
        rows = vectors if mean is None else vectors - mean
        return np.asarray(_unit(rows) @ question, dtype=np.float32)


def question_means(vectors: Vectors, languages: Sequence[str]) -> dict[str, list[float]]:
    """Of questions' vectors, shape (questions, dimension): the mean of each language, for a manifest."""
    spoken = np.array(languages)
    return {
        language: [round(float(x), 5) for x in vectors[spoken == language].mean(axis=0)]
        for language in sorted(set(languages))
        if (spoken == language).sum() >= _LEAST
    }


def _unit(rows: Vectors) -> Vectors:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
