"""Which sentence of the passages answers? The nearest, by an encoder: a model of half a billion
parameters points at the right one much less often (docs/answers.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answer.check import Passage
from rag.answer.match import Match, matches
from rag.search.vectors import Vectors
from rag.types import Language

# A question, what announces something, something too short, a formula alone, or what goes on in a
# code block below.
_NO_ANSWER = re.compile(
    r"[?:]\s*$|^\S+(?:\s+\S+){0,3}$|^\$\$|^[A-ZÁÉÍÓÚÑ¿¡](?s:.*)[^\W\d]$",
)
_PLACES = (0.035, 0.015)
"""Added for a sentence of the first and of the second passage."""
_OTHER_LANGUAGE = 0.06
"""Added for a sentence in another language than the question's: its cosine is lower by about that."""


def nearest(
    question: str,
    vector: Vectors,
    passages: Sequence[Passage],
    language: Language,
    *,
    only: bool = False,
) -> list[tuple[int, int]]:
    """(passage, sentence) of the prose that could be an answer as it stands, the likeliest first.

    `language` is the question's; with `only`, only sentences in it.
    """
    found = []
    for n, passage in enumerate(passages):
        other = passage.chunk.language != language
        if other and only:
            continue
        more = (_PLACES[n] if n < len(_PLACES) else 0.0) + _OTHER_LANGUAGE * other
        for i, match in enumerate(matches(question, vector, passage)):
            if passage.is_prose(i) and not _NO_ANSWER.search(passage.sentence(i)):
                found.append((-_likely(match) - more, n, i))
    return [(n, i) for _, n, i in sorted(found)]


def _likely(match: Match) -> float:
    """How likely a sentence is the answer, in units of its cosine.

    The weights are those of a conditional logit over the labelled questions of many blogs.
    """
    shares = 0.05 * match.own + 0.1 * match.above + 0.08 * match.before
    return match.cosine + shares + 0.1 * match.defines + 0.05 * match.meets
