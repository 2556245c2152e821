"""Follow-ups: whether a message stands alone, and if not, the query that does.

What is rewritten is only what is searched. The model is told what the reader typed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.answer import smalltalk
from rag.search import analyse
from rag.types import Language, Turn

_POINTERS = frozenset(
    """it its that this these those they them their theirs he him his she her hers there then
    one ones former latter same eso esto ello esos esas estos estas ese esa ella ellos ellas
    suyo suya su sus le les lo ahi alli entonces mismo misma""".split()
)  # without "el", "la", "los", "las": in a question they mostly have their noun behind them
# "this blog", "esta página": pointing words that point at the collection, not at the conversation.
_HERE = re.compile(
    r"\b(?:this|these|the|est[ea]s?|el|la|los|las)\s+(?:blogs?|posts?|pages?|sites?|articles?|chat|"
    r"articulos?|paginas?|sitios?|entradas?)\b"
)
_OPENERS = re.compile(
    r"^(?:and|but|so|or|also|what about|how about|how so|really|y|pero|o|entonces|"
    r"tambien|que hay de|que tal|como asi|de verdad|en serio)\b"
)
_WHY = re.compile(r"^(?:why|por que)\b")
_IN_LANGUAGE: dict[Language, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:in|to) english\b|\ben ingles\b|\bal ingles\b"),
    "es": re.compile(r"\b(?:in|to|into) spanish\b|\ben (?:espanol|castellano)\b|\bal espanol\b"),
}
_RARE = 0.9
# The words of "explain it to me in Spanish": languages, and verbs of saying in whatever form.
_SAYING = re.compile(
    r"(?:spanish|english|espanol|castellano|ingles|answer|translat|say|tell|explain|repeat|repl|"
    r"respon|switch|writ|speak|version|contest|traduc|repet|repit|explic|habl|escrib|pon|pas|cambi|"
    r"dilo|dime|dig)"
)


@dataclass(frozen=True)
class Query:
    """What is searched for a message."""

    text: str
    rewritten: bool
    context: str | None
    """The earlier question that it leans on or may lean on; None at a conversation's start."""


def wanted_language(message: str) -> Language | None:
    """The language that a message asks to be answered in: "and in Spanish?", "en inglés"."""
    folded = " ".join(analyse.fold(message).split())
    return next((lang for lang, pattern in _IN_LANGUAGE.items() if pattern.search(folded)), None)


def resolve(message: str, history: Sequence[Turn]) -> Query:
    """The query for a message after `history` (oldest first, without the message)."""
    context = _context(history)
    if context is None or stands_alone(message):
        return Query(message, False, context)
    return Query(join(context, message), True, context)


def join(context: str, message: str) -> str:
    """One query out of an earlier question and the message that leans on it."""
    bare = _only_switches_language(message)
    return context if bare else f"{context.rstrip()} {message.strip()}"


def names_its_subject(message: str) -> bool:
    """Whether a message has a word that few others have: it is about that, whatever came before."""
    return any(analyse.rarity(w.folded) >= _RARE for w in analyse.content_words(message))


def stands_alone(message: str) -> bool:
    """Whether a message can be understood without what came before."""
    folded = " ".join(analyse.fold(message).strip(" ¿¡?!.,").split())
    if _only_switches_language(message) or not analyse.content_words(message):
        return False
    if _OPENERS.match(folded) and len(analyse.content_words(message)) < 4:
        return False
    if _WHY.match(folded) and len(analyse.content_words(message)) < 2:
        return False
    bare = _HERE.sub(" ", folded)
    return not _points_back(bare) or _points_forward(bare)


def _points_back(folded: str) -> bool:
    """Whether a pointing word has nothing to point at in the message itself.

    Two content words before it are taken for what it means: "Does FAISS copy vectors when it …".
    """
    carrying = 0
    for token in folded.split():
        word = token.strip("?!.,;:¿¡()")
        if word in _POINTERS and carrying < 2:
            return True
        carrying += bool(word) and not analyse.is_empty(word)
    return False


def _points_forward(folded: str) -> bool:
    """ "What is it that …", "is there a …": the pointing word is filled by the sentence itself."""
    return bool(
        re.search(r"\b(?:is|are|was|were) there\b|\bthere (?:is|are)\b|\bit that\b", folded)
        or re.search(r"\b\w+ (?:that|this) (?:is|are|was|were|can|has|have|does)\b", folded)
    )


def _only_switches_language(message: str) -> bool:
    if wanted_language(message) is None:
        return False
    rest = [w for w in analyse.content_words(message) if not _SAYING.match(w.folded)]
    return not rest


def whole_turns(history: Sequence[Turn], turns: int) -> list[Turn]:
    """The last `turns` questions with their answers; it never starts with an answer.

    A question that got none (a failed turn) is dropped, so that no two questions stand in a row.
    """
    kept: list[Turn] = []
    for turn, following in itertools.pairwise(history):
        if (turn.role, following.role) == ("user", "assistant"):
            kept += [turn, following]
    return kept[-2 * turns :] if turns else []


def _context(history: Sequence[Turn]) -> str | None:
    """The latest question that stands alone, with what later ones added to it.

    Small talk is never context.
    """
    asked = [t.content for t in history if t.role == "user" and t.content.strip()]
    added: list[str] = []
    for message in reversed(asked):
        if smalltalk.classify(message):
            continue
        if stands_alone(message):
            return " ".join([message, *reversed(added)][:2])
        if not _only_switches_language(message) and analyse.content_words(message):
            added.append(message)
    return " ".join(reversed(added)) or None
