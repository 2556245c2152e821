"""Whom an English pronoun means: the page's subject, or another person of the same gender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.ingest.first_person.english_words import (
    AFTER_OBJECT,
    AUXILIARY,
    CAUSING,
    DITRANSITIVE,
    KIN,
    OLD,
    PAST_OR_MODAL,
    PREPOSITIONS,
    SUBORDINATE,
    Word,
)
from rag.ingest.first_person.people import RELATIONS


@dataclass(frozen=True)
class Other:
    gender: str
    last: int
    possessive: bool
    quoted: bool

    def rivals(self, gender: str) -> bool:
        return self.gender in (gender, "?") and not self.quoted


class Clauses:
    """Where clauses begin, and whether the subject of the one around a word is the page's."""

    def __init__(
        self,
        words: Sequence[Word],
        own: Sequence[int],
        names: Sequence[tuple[int, int, str]],
        others: Sequence[tuple[int, Other]],
    ) -> None:
        self._others_nominative = {
            i for i, w in enumerate(words)
            if w.lower in {"he", "she", "they", "who", "it", "we"} and i not in own and not w.quoted
        }  # fmt: skip
        self._nominative = {i for i in own if words[i].lower.split("'")[0] in ("he", "she")} | {
            i for i, _, role in names if role == "nom"
        }
        self._others = others
        self._words = words

    def subject_before(self, at: int) -> str:
        """ "own", "other" or "none": the nearest grammatical subject before a word."""
        best, which = -1, "none"
        for i in self._nominative:
            if best < i < at:
                best, which = i, "own"
        for i in self._others_nominative:
            if best < i < at:
                best, which = i, "other"
        for i, other in self._others:
            if best < i < at and not other.possessive and is_subject(self._words, i, other.last):
                best, which = i, "other"
        return which


def is_subject(words: Sequence[Word], first: int, last: int) -> bool:
    """Whether a mention stands where a clause's subject stands: a verb or an apposition follows."""
    i = first - 1
    while i >= 0 and (
        words[i].lower in {"his", "her", "the", "a", "an", "my", "their", "young"}
        or words[i].lower in OLD
    ):
        i -= 1
    before = words[i].lower if i >= 0 else ""
    if before in PREPOSITIONS:
        return False
    starts = before in {"", ",", ";", ":", "(", ")", "—", "–", '"'} or before in SUBORDINATE
    starts = starts or before[:1].isdigit() or before in {"and", "but"}
    after = words[last + 1].lower if last + 1 < len(words) else ""
    is_verb = after in PAST_OR_MODAL or after in AUXILIARY or after.endswith("ed")
    return is_verb or (
        starts
        and after not in {"", ".", "of"}
        and first - i <= 3
        and (before == "" or before in SUBORDINATE)
        and after in {","}
    )


def means_subject(
    i: int,
    kind: str,
    words: Sequence[Word],
    rivals: Sequence[tuple[int, Other]],
    names: Sequence[tuple[int, int, str]],
    own: Sequence[int],
    clauses: Clauses,
    pronouns: dict[str, str],
) -> bool:
    """Whether a pronoun of the subject's gender can mean nobody else in its sentence."""
    before = [(j, o) for j, o in rivals if j < i and not o.possessive]
    inside = clauses.subject_before(i)
    if kind == "obj" and i and words[i - 1].lower in CAUSING:
        return not before
    if kind == "obj" and inside == "own":
        # "She told her": somebody else, save behind an apposition or a preposition of place.
        if before:
            return any(
                words[o.last + 1].text == "," and words[o.last + 2].lower in {"a", "an", "the"}
                for _, o in before
            )
        return bool(
            words[i - 1].lower
            in {"behind", "around", "beside", "with", "before", "after", "about", "for", "to"}
        )
    if not before:
        return True
    nearest, other = before[-1]
    relation_of_own = nearest >= 1 and pronouns.get(words[nearest - 1].lower) in ("poss", "her")
    if kind == "obj":
        # A clause's own subject would be "himself".
        return inside == "other" or not any(is_subject(words, j, o.last) for j, o in before)
    if kind == "poss":
        apposed = words[i - 1].text in {",", "("} and nearest < i
        follows = words[i + 1].lower if i + 1 < len(words) else ""
        return bool(
            apposed
            or (relation_of_own and inside == "own")
            or (inside == "own" and not is_subject(words, nearest, other.last))
            or (relation_of_own and (follows in RELATIONS or follows in KIN))
        )
    if kind == "nom":
        first_own = min([*own, *(j for j, _, role in names if role == "nom")])
        return first_own < before[0][0] or (inside == "own" and nearest > first_own)
    return inside == "own"


def object_or_possessive(words: Sequence[Word], i: int, clauses: Clauses) -> str:
    """Whether "her" is an object or a possessive."""
    after = words[i + 1] if i + 1 < len(words) else None
    if after is None or not after.text[0].isalnum() or after.lower in AFTER_OBJECT:
        return "obj"
    if after.lower.endswith("ly") and len(after.lower) > 4:
        return "obj"
    before = words[i - 1].lower if i else ""
    if before in CAUSING and after.lower not in RELATIONS:
        return "obj"
    if before in DITRANSITIVE and before in {"teach", "lend", "give", "send", "show", "offer"}:
        return (
            "poss"
            if after.lower in RELATIONS
            or (
                clauses.subject_before(i) == "own"
                and not any(
                    w.lower in {"to", "who", "which", "that"} for w in words[max(0, i - 3) : i - 1]
                )
            )
            else "obj"
        )
    if (
        before in DITRANSITIVE
        and after.lower not in RELATIONS
        and clauses.subject_before(i) != "own"
    ):
        return "obj"
    return "poss"
