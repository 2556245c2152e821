"""What a battery shows of an interview beside the figures of every battery: sections and voice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rag.answer.interview.interview import Interview
from rag.measure.figures import Estimate, share
from rag.types import Card

_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|«[^»]*»")
_FIRST = {
    "en": re.compile(r"\b(?:I|me|my|mine|myself|we|our)\b", re.I),
    "es": re.compile(
        r"\b(?:yo|me|mi|mis|mío|mía|conmigo|mí|fui|hice|dije|puse|vine|quise|di|vi)\b"
        r"|\b\w+(?:é|í|uve|uje|amos|imos|[aeií]rme)\b",
        re.I,
    ),
}
_OUT_OF_ROLE = re.compile(
    r"\bas an ai\b|\blanguage model\b|\bthe (?:notes|context|passages?)\b|\bcomo (?:una )?ia\b",
    re.I,
)


def figures(asked: Sequence[dict[str, Any]], interview: Interview) -> dict[str, Estimate | None]:
    """The ranks of the entries' `section`s, how many answers come from them, and their voice."""
    placed = [entry for entry in asked if entry.get("section")]
    ranks = []
    for entry in placed:
        paths = interview.route.sections(entry["question"], entry["language"])
        ranks.append(paths.index(entry["section"]) if entry["section"] in paths else len(paths))
    answered = [entry for entry in asked if entry["answer"]["outcome"] == "answered"]
    card = interview.card
    return {
        "right section first": share([rank < 1 for rank in ranks]),
        "right section in the first 3": share([rank < 3 for rank in ranks]),
        "right section cited": share([
            any(c["section"] == e["section"] for c in e["answer"]["citations"])
            for e in answered if e.get("section")
        ]),
        "says I, me or my": share([speaks_itself(e["answer"], card) for e in answered]),
        "never out of role": share([not breaks_role(e["answer"], card) for e in answered]),
    }  # fmt: skip


def speaks_itself(answer: dict[str, Any], card: Card) -> bool:
    """Whether an answer outside of its quotes says "I" or the like, and doesn't break the role.

    An answer may speak of other people alone and hold the voice all the same.
    """
    told = _QUOTED.sub(" ", answer["answer"])
    return bool(_FIRST[answer["language"]].search(told)) and not breaks_role(answer, card)


def breaks_role(answer: dict[str, Any], card: Card) -> bool:
    """Whether an answer speaks of the subject by name or as a program would.

    A pronoun of the subject's gender may mean somebody else; those are for a reader to judge.
    """
    told = _QUOTED.sub(" ", answer["answer"])
    names = "|".join(re.escape(name) for name in card.names)
    outside = re.sub(r"^(?:I|Yo), [^.]*?, (?=was|am|fui|soy)", "", told)
    return bool(
        _OUT_OF_ROLE.search(told)
        or re.search(rf"\b(?:{card.name}|{names}) (?:was|is|fue|es)\b", outside)
    )
