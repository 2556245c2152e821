"""Does a quote hold what a question takes for granted?

"Why did you refuse the prize?" is about the prize, and any sentence about the prize is near it. What
the question asserts stands in its verb, in whom or what it names as yours, in an ordinal or a count.
Those must stand in the sentence that is quoted, or in its heading; just beside it only when the quote
holds everything else. There is no parser behind this: the verb of a question is found by its place.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.answer.interview.question_verb import predicate, verbs_of
from rag.answer.interview.relevance import is_light, says_nothing
from rag.search import analyse
from rag.types import Language

_POSSESSIVE = {
    "en": frozenset("his her my your".split()),
    "es": frozenset("su sus mi mis tu tus".split()),
}
_ALL = frozenset({"life", "vida"})
_IT = {"en": frozenset("it them him her".split()), "es": frozenset("lo la los las".split())}
_RELATIVE = frozenset("who that which que quien".split())
_WITH_VERB = frozenset("had has was were also later le lo la les los las se me".split())
_ORDINAL = re.compile(
    r"second|third|fourth|fifth|sixth|seventh|last|segund[oa]|tercer[oa]?|cuart[oa]|quint[oa]|ultim[oa]"
)
_HOW_MANY = {"en": re.compile(r"\bhow many (\w+)"), "es": re.compile(r"\bcuant[oa]s (\w+)")}
_NUMBER = re.compile(
    r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|several|no|"
    r"both|un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|docenas?|cien|ningun[oa]?"
)
_COUNTING = re.compile(rf"first|primer[oa]?|{_ORDINAL.pattern}|{_NUMBER.pattern}")
_BEFORE_COUNTED = 3
# Endings that a stemmer leaves between a verb and its noun: addition, friendship, treatment.
_DERIVED = frozenset("it at ship ment er or al n anc enc ion ur dor mient cion".split())
_LEAST_BASE = 3


@dataclass(frozen=True)
class Premise:
    """What a question takes for granted; empty where its form doesn't say."""

    language: Language
    verb: str | None
    """What was done, or after a verb that says little, what it was done to."""
    doer: str | None
    """Who did it, where that isn't the subject of the page."""
    owned: tuple[str, ...]
    """What is said to be the subject's: the father of "your father"."""
    ranked: tuple[str, str] | None
    """An ordinal and its noun: a second husband."""
    counted: str | None
    rest: tuple[str, ...]
    """The other words that carry the question."""

    @classmethod
    def of(cls, question: str, language: Language) -> Premise:
        """Of a question as the page would have it: "Why did she refuse the prize?"."""
        words = analyse.words(question)
        done = predicate(question, language)
        owned = [
            words[_noun_after(words, i)].folded
            for i, word in enumerate(words)
            if word.folded in _POSSESSIVE[language]
            and _noun_after(words, i) < len(words)
            and not words[_noun_after(words, i)].text[0].isupper()
        ]
        ranked = next(
            (
                (word.folded, after.folded)
                for word, after in itertools.pairwise(words)
                if _ORDINAL.fullmatch(word.folded) and not says_nothing(after.folded, language)
            ),
            None,
        )
        counted = _HOW_MANY[language].search(analyse.fold(question))
        verb = done.verb if done else None
        return cls(
            language,
            verb,
            done.doer if done else None,
            tuple(
                w
                for w in owned
                if not (_ORDINAL.fullmatch(w) or says_nothing(w, language) or w in _ALL)
            ),
            ranked,
            counted[1] if counted and not is_light(counted[1], language) else None,
            tuple(
                w.folded
                for w in analyse.content_words(question)
                if w.folded != verb and not is_light(w.folded, language)
            ),
        )

    def lacking(self, quote: str, heading: str, before: str, after: str) -> str | None:
        """What of it is missing from a quote; None for nothing.

        `heading` stands above it, `before` and `after` beside it in the same paragraph.
        """
        own = _roots_of(quote, self.language)
        head = _roots_of(heading, self.language)
        ahead = own | _roots_of(before, self.language)
        near = ahead | head | _roots_of(after, self.language)
        things = (*self.owned, *self.rest)
        said = (*things, self.verb or "")
        if things and not any(word and _held(word, ahead, self.language) for word in said):
            return things[0]  # the heading alone is about the question
        if self.verb and not _held(self.verb, own | head, self.language):
            told_before = _held(self.verb, ahead, self.language)
            rest = own | head if told_before else own
            elsewhere = self.doer is None and _held(self.verb, near, self.language)
            if not elsewhere or not all(_held(w, rest, self.language) for w in self.rest):
                return self.verb
        if self.doer and not _held(self.doer, own | head, self.language):
            return self.doer
        for noun in self.owned:
            if not _held(noun, near, self.language):
                return noun
        if self.doer and self._somebody_between(quote):
            return f"{self.doer} {self.verb}"
        if self.rest and self._means_another(quote, before):
            return self.rest[0]
        if self.ranked and not self._beside(quote, *self.ranked):
            return " ".join(self.ranked)
        if self.counted and _held(self.counted, own, self.language):
            return None if self._is_counted(quote, self.counted) else f"number of {self.counted}"
        return None

    def _places(self, words: Sequence[analyse.Word], sought: str) -> list[int]:
        return [
            i
            for i, word in enumerate(words)
            if _held(sought, roots(word.folded, self.language), self.language)
        ]

    def _somebody_between(self, quote: str) -> bool:
        """Whether somebody else, named nearer to the verb than the doer is, did it.

        "My mother, my aunt Ann Reed, who died"; but not "My mother, of the Stones of Hull, died".
        """
        words = analyse.words(quote)
        doers, verbs = self._places(words, self.doer or ""), self._places(words, self.verb or "")
        if not doers or not verbs:
            return False
        d, v = min(((d, v) for d in doers for v in verbs), key=lambda p: abs(p[0] - p[1]))
        if v < d:
            return any(w.text[0].isupper() for w in words[v + 1 : d])
        before = v - 1
        while before > d and words[before].folded in _WITH_VERB:
            before -= 1
        while d + 1 < before and words[d + 1].text[0].isupper():
            d += 1  # the rest of the doer's name
        last = words[before]
        if last.folded in _RELATIVE:
            return before - 1 > d
        ends_an_aside = "," in quote[last.start + len(last.text) : words[before + 1].start]
        return before > d and last.text[0].isupper() and not ends_an_aside

    def _means_another(self, quote: str, before: str) -> bool:
        """Whether what was done was done to "it", and the sentence before says that it is another.

        At the start of a paragraph "it" may be what the heading names.
        """
        words = analyse.words(quote)
        step = -1 if self.language == "es" else 1
        to_it = any(
            0 <= i + step < len(words) and words[i + step].folded in _IT[self.language]
            for i in self._places(words, self.verb or "")
        )
        if not (self.verb and before and to_it):
            return False
        told = _roots_of(f"{before} {quote}", self.language)
        return not any(_held(word, told, self.language) for word in self.rest)

    def _beside(self, quote: str, first: str, noun: str) -> bool:
        words = analyse.words(quote)
        return any(
            i and _held(first, roots(words[i - 1].folded, self.language), self.language)
            for i in self._places(words, noun)
        )

    def _is_counted(self, quote: str, noun: str) -> bool:
        words = analyse.words(quote)
        return any(
            _NUMBER.fullmatch(word.folded)
            for i in self._places(words, noun)
            for word in words[max(0, i - _BEFORE_COUNTED) : i]
        )


@lru_cache(maxsize=4096)
def roots(folded: str, language: Language) -> frozenset[str]:
    """A word, its stem, and those of the verbs that it may be a form of: taught, teach."""
    stems = (analyse.stem(w, language) for w in (folded, *verbs_of(folded, language)))
    return frozenset((folded, *stems))


@lru_cache(maxsize=1024)
def _roots_of(text: str, language: Language) -> frozenset[str]:
    found: set[str] = set()
    for word in analyse.words(text):
        for said in (word.folded, *analyse.parts(word)):
            # A name has no endings: Madrid is none of "madre".
            found |= (
                {said} if language == "es" and word.text[0].isupper() else roots(said, language)
            )
    return frozenset(found)


def _noun_after(words: Sequence[analyse.Word], i: int) -> int:
    """The place of what a possessive is about; "first" and "three" stand between."""
    at = i + 1
    while at < len(words) and _COUNTING.fullmatch(words[at].folded):
        at += 1
    return at


def _held(word: str, held: frozenset[str], language: Language) -> bool:
    """Whether one of its roots is held, or a noun made from it."""
    own = roots(word, language)
    return bool(own & held) or any(_is_derived(a, b) for a in own for b in held)


def _is_derived(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return len(short) >= _LEAST_BASE and long.startswith(short) and long[len(short) :] in _DERIVED
