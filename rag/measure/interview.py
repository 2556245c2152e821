"""What a battery shows of an interview beside the figures of every battery: sections and voice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rag.answer.interview.interview import Interview
from rag.measure.figures import Estimate, share
from rag.measure.voice import fault
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
        "says I, me or my": share([says_i(e["answer"]) for e in answered]),
        "holds the first person": share([out_of_voice(e["answer"], card) is None for e in answered]),
    }  # fmt: skip


def says_i(answer: dict[str, Any]) -> bool:
    """Whether an answer outside of its quotes says "I" or the like.

    An answer may speak of other people alone and hold the voice all the same.
    """
    return bool(_FIRST[answer["language"]].search(_QUOTED.sub(" ", answer["answer"])))


def out_of_voice(answer: dict[str, Any], card: Card) -> str | None:
    """What in an answered question speaks of the subject from outside; None for nothing."""
    if answer["outcome"] != "answered":
        return None
    return fault(answer["answer"], answer["language"], card)
