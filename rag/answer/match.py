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
_SAYS_WHAT = re.compile(
    r"(?:the |an? |el |la |los |las |una? )?(?P<subject>[^\W_][^.:;!?]{0,60}?)[\W_]*(?:\([^)]*\) )?"
    r"\b(?:is|are|means|runs|takes|gives|says|es|son|significa|consiste)\b"
)
_LABEL = re.compile(r"(?:[-*•]|\d+[.)])?\s*(?P<subject>[^\W\d][^.:;!?]{1,40}): \w")


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
                defined is not None and defined.by(sentence, language),
                bool(sought.kinds) and sought.met_by(sentence),
            )
        )  # fmt: skip
        before = held
    return found


@dataclass(frozen=True)
class _Definition:
    """What "What is X?" asks for."""

    subject: str
    """Folded."""

    def by(self, sentence: str, language: str) -> bool:
        """Whether a sentence begins like "X is …", "Xing means …" or, in a list, "X: …"."""
        folded = analyse.fold(sentence)
        opens = _SAYS_WHAT.match(folded)
        if opens and analyse.stems(opens["subject"], language) == analyse.stems(
            self.subject, language
        ):
            return True
        label = _LABEL.match(folded)
        named = analyse.stems(label["subject"], language) if label else frozenset()
        return bool(named) and named <= analyse.stems(self.subject, language)


def _defines(question: str) -> _Definition | None:
    asked = _ASKS_WHAT.match(analyse.fold(question).strip(" ¿?!."))
    return _Definition(asked["subject"]) if asked else None
