"""Which sentence of the passages answers? The one that the language model looks at; from a model that
doesn't tell, the nearest by the encoder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.answer.check import Passage
from rag.answer.match import matches
from rag.answer.prompt import Line
from rag.search.vectors import Vectors
from rag.types import Language

# A question, what announces something, something too short, or a formula alone.
_NO_ANSWER = re.compile(r"[?:]\s*$|^\S+(?:\s+\S+){0,3}$|^\$\$")
_GOES_ON = re.compile(r"[^\W\d]\s*$")
_LEAST_LOOK = 1e-3
_SIGNS = np.array([1.0, 0.05, 0.1, 0.08, 0.1, 0.05, 0.035, 0.015, 0.06], np.float32)
"""Weights of a `Candidate`'s signs, in units of the cosine; those of a conditional logit over the
labelled questions of many blogs. A cosine across languages is lower by about the last."""
SIGNS = len(_SIGNS)
COSINE, DEFINES = 0, 4
"""Places among the signs."""
LEAST_DEFINES = float(_SIGNS[DEFINES] / _SIGNS[COSINE])
"""Weight of a definition for who asks for one, in units of the cosine's."""
ENCODER_CLOSE = 0.02
"""A second sentence that is less likely than the first by at most so much may be the answer as well."""


@dataclass(frozen=True)
class Candidate:
    """A sentence that could be an answer as it stands."""

    passage: int
    sentence: int
    signs: NDArray[np.float32]
    """(SIGNS,): the fields of its `Match`, whether it stands in the first and in the second passage, and
    whether it is in another language than the question."""


class Place(NamedTuple):
    """Where a sentence stands, and how likely it is the answer."""

    passage: int
    sentence: int
    likely: float


def candidates(
    question: str,
    vector: Vectors,
    passages: Sequence[Passage],
    language: Language,
    *,
    only: bool,
) -> list[Candidate]:
    """The prose that could be an answer. `language` is the question's; with `only`, only sentences in
    it."""
    found = []
    for n, passage in enumerate(passages):
        other = passage.chunk.language != language
        if (other and only) or (
            passage.chunk.kind == "overview" and passages[0].chunk.kind != "overview"
        ):
            continue
        found += [
            Candidate(n, i, np.array([*astuple(match), n == 0, n == 1, other], np.float32))
            for i, match in enumerate(matches(question, vector, passage))
            if _may_answer(passage, i, defines=match.defines)
        ]
    return found


def nearest(found: Sequence[Candidate]) -> list[Place]:
    """The likeliest first, by the encoder alone; in units of its cosine."""
    places = [Place(c.passage, c.sentence, float(c.signs @ _SIGNS)) for c in found]
    return sorted(places, key=lambda place: -place.likely)


@dataclass(frozen=True)
class Pointer:
    """Which sentence of its notes a language model looks at while it reads the question.

    It looks at the right one more often than it then writes it down, and more often than that one is
    the nearest (docs/answers.md). A conditional logit over what the heads do and the signs.
    """

    CLOSE: ClassVar = 1.0
    """As `ENCODER_CLOSE`, in log-odds: a second sentence may be e times less likely."""
    signs: NDArray[np.float32]
    """(SIGNS,), as in `Candidate`."""
    heads: NDArray[np.float32]
    """Shape (2, heads), as in `rag.llm.protocol.Generation.looks`."""

    def likeliest(
        self, found: Sequence[Candidate], lines: Sequence[Line], looks: NDArray[np.float32]
    ) -> list[Place]:
        """The candidates among the notes' lines, the likeliest first; in log-odds."""
        read, at = among(found, lines)
        likely = self.scores(signs_of(read), looks[:, :, at])
        places = [
            Place(c.passage, c.sentence, float(score))
            for c, score in zip(read, likely, strict=True)
        ]
        return sorted(places, key=lambda place: -place.likely)

    def scores(self, signs: NDArray[np.float32], looks: NDArray[np.float32]) -> NDArray[np.float32]:
        """Log-odds of sentences, from (sentences, SIGNS) and (2, heads, sentences)."""
        drawn: NDArray[np.float32] = np.einsum("kh,khs->s", self.heads, bounded(looks))
        return signs @ self.signs + drawn


def among(found: Sequence[Candidate], lines: Sequence[Line]) -> tuple[list[Candidate], list[int]]:
    """The candidates that stand among lines of notes, and which lines they are."""
    at = {(line.passage, line.sentence): n for n, line in enumerate(lines)}
    read = [c for c in found if (c.passage, c.sentence) in at]
    return read, [at[c.passage, c.sentence] for c in read]


def signs_of(found: Sequence[Candidate]) -> NDArray[np.float32]:
    """(candidates, SIGNS)."""
    return np.array([c.signs for c in found], np.float32).reshape(-1, SIGNS)


def bounded(looks: NDArray[np.float32]) -> NDArray[np.float32]:
    """Shares of attention as a pointer weighs them; below a thousandth they are all alike."""
    return np.log(looks + _LEAST_LOOK, dtype=np.float32)


def _may_answer(passage: Passage, i: int, *, defines: bool) -> bool:
    sentence = passage.sentence(i)
    if defines:  # a definition may announce its formula
        sentence = sentence.rstrip(": \n")
    if not passage.is_prose(i) or _NO_ANSWER.search(sentence):
        return False
    if defines:
        return True
    # What goes on in the code block or the table below.
    last = i + 1 == len(passage.vectors)
    return not _GOES_ON.search(sentence) or last or passage.is_prose(i + 1)
