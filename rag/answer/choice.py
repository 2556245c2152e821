"""Which sentence of the passages answers? The nearest, by an encoder: a model of half a billion
parameters points at the right one much less often (docs/answers.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag.answer.check import Passage
from rag.answer.match import Match, matches
from rag.search.vectors import Vectors
from rag.types import Language

# A question, what announces something, something too short, or a formula alone.
_NO_ANSWER = re.compile(r"[?:]\s*$|^\S+(?:\s+\S+){0,3}$|^\$\$")
_GOES_ON = re.compile(r"[^\W\d]\s*$")
_PLACES = (0.035, 0.015)
"""Added for a sentence of the first and of the second passage."""
_OTHER_LANGUAGE = 0.06
"""Added for a sentence in another language than the question's: its cosine is lower by about that."""


class Place(NamedTuple):
    """Where a sentence stands, and how likely it is the answer, in units of its cosine."""

    passage: int
    sentence: int
    likely: float


def nearest(
    question: str,
    vector: Vectors,
    passages: Sequence[Passage],
    language: Language,
    *,
    only: bool,
) -> list[Place]:
    """The prose that could be an answer as it stands, the likeliest first.

    `language` is the question's; with `only`, only sentences in it.
    """
    found = []
    for n, passage in enumerate(passages):
        other = passage.chunk.language != language
        if (other and only) or (
            passage.chunk.kind == "overview" and passages[0].chunk.kind != "overview"
        ):
            continue
        more = (_PLACES[n] if n < len(_PLACES) else 0.0) + _OTHER_LANGUAGE * other
        found += [
            Place(n, i, _likely(match) + more)
            for i, match in enumerate(matches(question, vector, passage))
            if _may_answer(passage, i, defines=match.defines)
        ]
    return sorted(found, key=lambda place: -place.likely)


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


def _likely(match: Match) -> float:
    """The weights are those of a conditional logit over the labelled questions of many blogs."""
    shares = 0.05 * match.own + 0.1 * match.above + 0.08 * match.before
    return match.cosine + shares + 0.1 * match.defines + 0.05 * match.meets
