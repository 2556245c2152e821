"""A Spanish sentence as clauses, each with its finite verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rag.ingest.first_person import spanish_verbs as verbs
from rag.ingest.first_person.spanish_words import (
    ADVERBS,
    BOUNDARIES,
    CLITICS,
    DETERMINERS,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVES,
    STARTERS,
    Word,
)


@dataclass
class Clause:
    first: int
    last: int
    """Positions of its words, both inclusive."""
    starter: str
    """What joins it to what comes before: a conjunction, a relative, a mark or nothing."""
    verb: int | None = None
    subject: str = "none"
    """ "own", "person", "thing", "plural" or "none"."""
    infinitive: str = ""
    conjugated: tuple[str, str] | None = None
    """(first person, infinitive) where the first person has a form of its own."""
    is_present: bool = False
    objects: list[int] = field(default_factory=list)
    """Positions of the pronouns before its verb."""
    phrase: int | None = None
    """Where the noun phrase of its subject begins."""


def finite(words: Sequence[Word], i: int) -> tuple[str, tuple[str, str] | None] | None:
    """("singular" or "plural", (first person, infinitive) or None) of a finite verb; None for others."""
    word = words[i]
    low = word.lower
    previous = words[i - 1].lower if i else ""
    if word.quoted or not low.isalpha():
        return None
    if word.text[0].isupper() and i > 0 and previous not in BOUNDARIES:
        return None
    noun = previous in (DETERMINERS - {"la", "los", "las", "ambos", "todo"}) | {
        "su",
        "sus",
        "de",
        "del",
    }
    if noun and not low.endswith("ó"):
        return None
    past = verbs.preterite(low)
    if past:
        return "singular", past
    if verbs.imperfect(low) and previous not in {"la", "las", "los"} | PREPOSITIONS:
        return "singular", None
    if verbs.is_plural(low):
        return "plural", None
    if low in {"es", "ha", "está", "tiene"} and previous not in PREPOSITIONS:
        return "singular", verbs.present(low)
    opens = (
        i == 0 or previous in {"se", "le", "lo"} or (previous in {"y", "que", "él", "ella", ","})
    )
    if opens and low not in PREPOSITIONS | DETERMINERS | ADVERBS | STARTERS | set(POSSESSIVES):
        future = verbs.future(low)
        if future:
            return "singular", future
        if previous in {"se", "le", "lo"} or i == 0:
            now = verbs.present(low)
            if now and (i > 0 or (len(words) > 1 and words[1].lower in AFTER_VERB)):
                return "singular", now
    return None


AFTER_VERB = PREPOSITIONS | DETERMINERS | ADVERBS


def is_finite(low: str) -> bool:
    return low in {"es", "dijo", "dice", "cree", "creía", "afirma", "afirmó"} or verbs.is_plural(
        low
    )


def clauses_of(words: Sequence[Word]) -> list[Clause]:
    """Stretches between marks and joining words, those without a verb given to their neighbour."""
    cuts: list[tuple[int, str]] = [(0, "")]
    for i, word in enumerate(words):
        if word.quoted:
            continue
        if word.lower in STARTERS and i + 1 < len(words):
            cuts.append((i + 1, word.lower))
        elif word.text in BOUNDARIES and i + 1 < len(words):
            cuts.append((i + 1, word.text))
    cuts = _split_relatives(words, cuts)
    clauses: list[Clause] = []
    for n, (start, starter) in enumerate(cuts):
        end = cuts[n + 1][0] - 1 if n + 1 < len(cuts) else len(words) - 1
        if end < start:
            if clauses and starter in RELATIVES:
                clauses[-1].last = end
            continue
        has_verb = any(finite(words, i) for i in range(start, end + 1))
        glues = starter in {"y", "e", "o", "u", "ni", ",", "(", ")", "como"} and not has_verb
        if clauses and glues:
            clauses[-1].last = end
            continue
        if (
            clauses
            and clauses[-1].verb is None
            and not _has_verb(words, clauses[-1])
            and (starter in {",", ")", "y", "e"} and has_verb)
        ):
            clauses[-1].last = end
            continue
        clauses.append(Clause(start, end, starter))
    return clauses


def _split_relatives(words: Sequence[Word], cuts: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """ "Con lo que cobró | compró": a second verb takes up the sentence around a relative clause."""
    out: list[tuple[int, str]] = []
    for n, (start, starter) in enumerate(cuts):
        out.append((start, starter))
        end = cuts[n + 1][0] - 1 if n + 1 < len(cuts) else len(words) - 1
        found = [i for i in range(start, end + 1) if finite(words, i)]
        if starter in RELATIVES | {"donde", "cuando"} and len(found) > 1:
            second = found[1]
            while second - 1 > found[0] and words[second - 1].lower in CLITICS:
                second -= 1
            out.append((second, ""))
    return out


def _has_verb(words: Sequence[Word], clause: Clause) -> bool:
    return any(finite(words, i) for i in range(clause.first, clause.last + 1))
