"""What of a question each sentence of a passage has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.answer.check import Passage
from rag.answer.wanted import wanted
from rag.search import analyse
from rag.search.vectors import Vectors

_ASKS_WHAT = re.compile(
    r"(?:what(?: is|'s| are)|que (?:es|son)) (?:the |an? |el |la |los |las |una? )?(?P<subject>.{2,60})$"
)


@dataclass(frozen=True)
class Match:
    """What of a question a sentence has. Shares are of the question's content words."""

    cosine: float
    own: float
    """Share that the sentence holds."""
    above: float
    """Share that only the headings above it hold."""
    before: float
    """Share that neither holds, but the sentence before."""
    defines: bool
    meets: bool
    """Whether it has the kind of thing that was asked for."""


def matches(question: str, vector: Vectors, passage: Passage) -> list[Match]:
    """Of each of a passage's sentences; `vector` is the question's."""
    language = passage.chunk.language
    asked = [
        {analyse.stem(w.folded, x) for x in ("en", language)}
        for w in analyse.content_words(question)
    ]
    heading = set(analyse.terms(passage.chunk.section or "", language))
    defined = _defines(question)
    sought = wanted(question)
    found, before = [], set[str]()
    for i, cosine in enumerate(passage.vectors @ vector):
        sentence = passage.sentence(i)
        held = set(analyse.terms(sentence, language))
        counts = [0, 0, 0, 0]
        for stems in asked:
            places = (held, heading, before)
            counts[next((n for n, words in enumerate(places) if stems & words), 3)] += 1
        own, above, earlier, _ = (count / (len(asked) or 1) for count in counts)
        found.append(
            Match(
                float(cosine), own, above, earlier,
                bool(defined and defined.match(analyse.fold(sentence))),
                bool(sought.kinds) and sought.met_by(sentence),
            )
        )  # fmt: skip
        before = held
    return found


def _defines(question: str) -> re.Pattern[str] | None:
    """For "What is X?": what a sentence begins with that says so, "X is …" or "An X means …"."""
    asked = _ASKS_WHAT.match(analyse.fold(question).strip(" ¿?!."))
    if not asked:
        return None
    return re.compile(
        rf"(?:the |an? |el |la |los |las |una? )?{re.escape(asked['subject'])}\b\W*"
        r"(?:\([^)]*\) )?(?:is|are|means|runs|takes|gives|says|es|son|significa|consiste)\b"
    )
