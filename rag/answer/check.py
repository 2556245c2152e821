"""Does a passage say this? Each sentence of an answer is matched to the sentences that support it.

A sentence counts only when one chunk holds all its numbers, names and code words, and a sentence or
two of that chunk mean the same. Where passage and answer are in one language, the passage's own words
are shown: what the model wrote only points at them, so that nothing is said that no source says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag.answer import texts
from rag.answer.facts import Evidence, facts
from rag.answer.language import detect
from rag.answer.wanted import wanted
from rag.search import analyse
from rag.types import Chunk, Encoder, Language

SAME_LANGUAGE = 0.6
"""Least support, 0 to 1, of a sentence by the passage's words that are shown in its place."""
OTHER_LANGUAGE = 0.6
"""The same of a sentence that is shown as the model wrote it, in another language than the passage."""
_RELEVANT = 0.4
"""Least share of the question's words, by rarity, of a sentence that answers it."""
_WORDS_SHARE = 0.65
"""Of the words in a sentence's support; the rest is its meaning, by cosine."""
_COSINE_FLOOR, _COSINE_TOP = 0.78, 0.96
"""Cosines of unrelated and of equal sentences with E5 models, which use a narrow band."""

_NO_PROSE = re.compile(r"#{1,6} |```|.*\S \| \S")
# A sentence that says nothing without the one before it.
_LEANS = re.compile(
    r"(?:it|this|that|these|those|they|he|she|and|but|so|or|then|both|because|eso|esto|esta|este|ese|"
    r"esa|estos|estas|y|pero|asi|ambos|ambas|tambien|porque)\b"
)
_LIST_ITEM = re.compile(r"\s*(?:[-*•]|\d+[.)]) ")
_NON_ANSWERS = re.compile(
    r"\bnot found\b|\bas an? (?:ai|language model)|\bcomo (?:una? )?(?:ia|modelo de lenguaje)|"
    r"\b(?:i|we) (?:do not|don'?t|cannot|can'?t) (?:know|have|find|answer|provide)|\bi'?m sorry\b|"
    r"\blo siento\b|\bno (?:tengo|dispongo de|encuentro|puedo) (?:informacion|acceso|responder)|"
    r"\b(?:the|these) (?:notes?|passages?|context|text|information|sources?) (?:provided )?"
    r"(?:do|does) not\b|\bnot (?:mentioned|provided|specified|stated|available) in\b|"
    r"\b(?:no se (?:menciona|especifica|indica|proporciona)|las? (?:notas?|fuentes?) no)\b|"
    r"\bit is not clear\b|\bno (?:specific )?information\b|\bignore (?:all|the) (?:previous|above)\b"
)


Vote = Literal["the same", "something else", "nothing"]
"""Whether a sentence says what a quote says, what another one says, or what no passage does."""


@dataclass(frozen=True)
class Passage:
    """A chunk that may be cited, with its sentences' vectors."""

    chunk: Chunk
    score: float
    """Cosine of question and chunk."""
    vectors: NDArray[np.float32]
    """Shape (sentences, dimension)."""
    evidence: Evidence

    @classmethod
    def of(cls, chunk: Chunk, score: float, vectors: NDArray[np.float32]) -> Passage:
        return cls(chunk, score, vectors, Evidence.of(chunk.told, chunk.language))

    def is_prose(self, *places: int) -> bool:
        """Whether none of these sentences is a heading, a code block or a table's row."""
        return not any(_NO_PROSE.match(self.sentence(i)) for i in places)

    def sentence(self, i: int) -> str:
        """The text of its `i`-th sentence."""
        start, end = self.chunk.sentences[i]
        return self.chunk.text[start:end]

    def _ends_a_list(self, i: int) -> bool:
        """Whether the `i`-th sentence is in a list item, and a paragraph follows."""
        text, (start, end) = self.chunk.text, self.chunk.sentences[i]
        line = text[text.rfind("\n", 0, start) + 1 : end]
        return bool(_LIST_ITEM.match(line)) and text[end:].startswith("\n\n")

    def quote(self, i: int, j: int) -> str:
        """Sentences `i` to `j`, and the one before when the first leans on it; behind a list that is
        what was said before the list, which isn't near enough to be quoted along."""
        if i and _LEANS.match(analyse.fold(self.sentence(i))) and self.is_prose(i - 1, i):
            i -= not self._ends_a_list(i - 1)
        return self.chunk.text[self.chunk.sentences[i][0] : self.chunk.sentences[j][1]]


@dataclass(frozen=True)
class Support:
    """Where a sentence stands."""

    passage: int
    quote: str
    """Verbatim from the chunk."""
    score: float
    """0 to 1: how well the quote supports the sentence."""
    shown: str
    """What the reader gets: the quote, behind a written phrase where its page is in another language;
    or, where translations are allowed, the model's sentence."""


@dataclass(frozen=True)
class Unsupported:
    """Why a sentence is held back, for logs and evaluation."""

    reason: str


_BESIDE = Unsupported("true, but beside the question")


class Checker:
    """Checks the sentences of one answer against the passages that it was written from."""

    def __init__(
        self,
        question: str,
        language: Language,
        passages: Sequence[Passage],
        encoder: Encoder,
        query: str | None = None,
        *,
        translations: bool = True,
    ) -> None:
        """`query` is what was searched, where that says more than the question. `translations`:
        whether a sentence of the model's may be shown that a page in another language supports."""
        self._translations = translations
        self._language = language
        self._passages = passages
        self._encoder = encoder
        self._asked = analyse.stems(question, language)
        self._sought = [
            (0.15 + analyse.rarity(w.folded), w.folded)
            for w in analyse.content_words(query or question)
        ]
        self._wanted = wanted(question)
        self._said: list[frozenset[str]] = []
        self._shown: list[str] = []
        self._repeated = 0

    @property
    def exhausted(self) -> bool:
        """Whether the model has begun to repeat itself; nothing new comes after that."""
        return self._repeated >= 2

    def may_go_on(self, draft: str) -> bool:
        """Whether a sentence that is still being written could yet hold.

        False as soon as it has a number, name or code word that no passage has; its last word may
        be unfinished and is not looked at.
        """
        whole = draft.rpartition(" ")[0]
        stated = facts(whole, self._language)
        return any(p.evidence.lacks(stated, self._language) is None for p in self._passages)

    def check(self, sentence: str) -> Support | Unsupported:
        """The support of a whole sentence. A sentence that holds is remembered as said."""
        if sentence.lstrip().startswith("```"):
            return self._check_code(sentence)
        stems = analyse.stems(sentence, self._language)
        if reason := self._says_nothing(sentence, stems):
            return Unsupported(reason)
        best, missing = self._best(sentence, stems)
        if best is None:
            return Unsupported(f"no passage holds {missing}")
        other = self._is_abroad(best.passage)
        if other and not (
            self._translations and detect(sentence, self._language) == self._language
        ):
            return Unsupported("from a page in another language")
        if best.score < (OTHER_LANGUAGE if other else SAME_LANGUAGE):
            return Unsupported(f"support {best.score:.2f} is too weak")
        return self._judged(replace(best, shown=sentence if other else best.quote))

    def quote(self, passage: int, i: int) -> Support | Unsupported:
        """A passage's `i`-th sentence as the answer itself."""
        return self._judged(self._own_words(passage, i))

    def candidate(self, passage: int, i: int, *, about: bool) -> Support | Unsupported:
        """A passage's `i`-th sentence, where it has the kind of thing that was asked for, and with
        `about` also a fair share of the question's words."""
        support = self._own_words(passage, i)
        if not self._wanted.met_by(support.quote):
            return self._names_none()
        if about and not self._is_abroad(passage) and not self._is_about_the_question(support):
            return _BESIDE
        return support

    def _own_words(self, passage: int, i: int) -> Support:
        shown = quoted = self._passages[passage].quote(i, i)
        if self._is_abroad(passage):
            shown = texts.told_elsewhere(quoted, self._language)
        return Support(passage, quoted, 1.0, shown)

    def _is_abroad(self, passage: int) -> bool:
        """Whether a passage is in another language than the answer."""
        return self._passages[passage].chunk.language != self._language

    def vote(self, sentence: str, support: Support) -> Vote:
        """What a whole sentence of the model's says of a quote."""
        stems = analyse.stems(sentence, self._language)
        if self._says_nothing(sentence, stems):
            return "nothing"
        best = self._best(sentence, stems)[0]
        if best is None or best.score < SAME_LANGUAGE:
            return "nothing"
        same = best.quote in support.quote or support.quote in best.quote
        return "the same" if same and best.passage == support.passage else "something else"

    def _says_nothing(self, sentence: str, stems: frozenset[str]) -> str | None:
        """Why a sentence of the model's can't be an answer, whatever the passages say."""
        if _NON_ANSWERS.search(analyse.fold(sentence)):
            return "a non-answer"
        if not stems:
            return "says nothing"
        if stems <= self._asked and not facts(sentence, self._language).numbers:
            return "only restates the question"
        return None

    def goes_with(self, support: Support, first: Support) -> bool:
        """Whether a quote from the same passage says something beside another one."""
        nested = support.quote in first.quote or first.quote in support.quote
        beside = support.passage == first.passage and not nested
        return beside and not self._is_abroad(support.passage)

    def remember(self, support: Support) -> None:
        """What was shown; it isn't said again."""
        self._said.append(analyse.stems(support.quote, self._language))
        self._shown.append(support.quote)

    def _judged(self, support: Support) -> Support | Unsupported:
        """Whether what would be shown answers the question, and wasn't said before."""
        stems = analyse.stems(support.shown, self._language)
        if any(len(stems & said) >= 0.9 * len(stems) for said in self._said):
            self._repeated += 1
            return Unsupported("a repetition")
        chunk = self._passages[support.passage].chunk
        overview = chunk.kind == "overview"
        if not overview and support.shown.rstrip().endswith(":"):
            return Unsupported("only announces what follows")
        own = not self._is_abroad(support.passage)
        if not overview and own and not self._is_about_the_question(support):
            return _BESIDE
        if not self._said and not self._wanted.met_by(support.quote):
            return self._names_none()
        support = self._without_what_was_said(support)
        self._said.append(stems)
        self._shown.append(support.quote)
        return support

    def _names_none(self) -> Unsupported:
        return Unsupported(f"names no {', '.join(sorted(self._wanted.kinds))}")

    def _without_what_was_said(self, support: Support) -> Support:
        """A quote that takes along the sentence before it, without that one when it was just shown."""
        if support.shown != support.quote:
            return support
        quote = support.quote
        for said in self._shown:
            if len(said) < len(quote):
                quote = quote.removeprefix(said).lstrip()
        return replace(support, quote=quote, shown=quote)

    def _is_about_the_question(self, support: Support) -> bool:
        """Whether a fair share of the question's words stands in the quote or the headings above it."""
        chunk = self._passages[support.passage].chunk
        told = "\n".join((support.quote, chunk.title, chunk.section or ""))
        held = frozenset(analyse.terms(told, chunk.language))
        shared = sum(w for w, word in self._sought if analyse.stem(word, chunk.language) in held)
        return shared >= _RELEVANT * sum(w for w, _ in self._sought)

    def _best(self, sentence: str, stems: frozenset[str]) -> tuple[Support | None, str | None]:
        """The best support among passages that hold the sentence's facts, or what none holds."""
        stated = facts(sentence, self._language)
        vector = self._encoder.encode_passages([sentence])[0]
        weights = {
            stem: 0.3 + analyse.rarity(word) for word, stem in _pairs(sentence, self._language)
        }
        best: Support | None = None
        missing: str | None = None
        for n, passage in enumerate(self._passages):
            lacking = passage.evidence.lacks(stated, self._language)
            if lacking:
                missing = missing or lacking
                continue
            support = self._within(n, passage, stated_vector=vector, weights=weights)
            if support and (best is None or support.score > best.score):
                best = support
        return best, missing

    def _within(
        self,
        n: int,
        passage: Passage,
        *,
        stated_vector: NDArray[np.float32],
        weights: dict[str, float],
    ) -> Support | None:
        """The sentence, or two neighbours, of one passage that say most of it."""
        if not len(passage.vectors):
            return None
        cosines = passage.vectors @ stated_vector
        meaning = np.clip((cosines - _COSINE_FLOOR) / (_COSINE_TOP - _COSINE_FLOOR), 0, 1)
        own_language = passage.chunk.language == self._language
        held = [
            _stems_any(passage.sentence(i), passage.chunk.language) for i in range(len(cosines))
        ]
        # What was asked may stand anywhere in the passage; what is added, where it is said.
        told = _stems_any(
            f"{passage.chunk.title} {passage.chunk.section or ''}", passage.chunk.language
        ) | (self._asked & passage.evidence.stems)
        best: tuple[float, int, int] | None = None
        for i in range(len(cosines)):
            if passage.sentence(i).startswith("#"):
                continue  # a heading says nothing by itself
            for j in (i, i + 1):
                if j >= len(cosines) or (j > i and not passage.is_prose(i, j)):
                    continue
                near = float(max(meaning[i], meaning[j]))
                words = _covered(weights, held[i] | held[j] | told)
                score = (1 - _WORDS_SHARE) * near + _WORDS_SHARE * words if own_language else near
                score -= 0.04 * (j - i)  # the shorter quote, when it says as much
                if best is None or score > best[0]:
                    best = (score, i, j)
        if best is None:
            return None
        score, i, j = best
        quoted = passage.quote(i, j)
        return Support(n, quoted, round(score, 3), quoted)

    def _check_code(self, block: str) -> Support | Unsupported:
        """A code block holds when each of its lines stands in one passage."""
        lines = [line.strip() for line in block.strip().splitlines() if not line.startswith("```")]
        lines = [line for line in lines if line]
        for n, passage in enumerate(self._passages):
            text = passage.chunk.text
            if lines and all(line in text for line in lines):
                return Support(n, lines[0], 1.0, block)
        return Unsupported("code that no passage holds")


def _pairs(text: str, language: str) -> list[tuple[str, str]]:
    return [(w.folded, analyse.stem(w.folded, language)) for w in analyse.content_words(text)]


def _stems_any(text: str, language: str) -> frozenset[str]:
    return frozenset(analyse.terms(text, language))


def _covered(weights: dict[str, float], held: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for stem, weight in weights.items() if stem in held) / total if total else 0.0
