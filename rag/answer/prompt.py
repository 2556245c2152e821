"""What the model reads: the sentences that matter, under a token budget, and the question.

On a CPU the reader waits for every token of it. A small model copies, so what must hold is put into
what it reads; the rules are in code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag.answer.check import Passage
from rag.answer.match import matches
from rag.llm.protocol import Watch
from rag.search import analyse
from rag.search.vectors import Vectors
from rag.types import Language, Message

BUDGET = 200
"""Tokens of passages that the model reads for one answer."""
_FIRST_SHARE = 0.65
_LEAST = 30
"""With fewer tokens left no further passage is begun."""
_NOT_PROSE = 0.04
"""Code, headings and table rows share words with many questions and answer few."""
_DEFINES = 0.08
"""Added for a sentence that defines what was asked."""
_MEETS = 0.05
"""Added for a sentence that has the kind of thing that was asked for."""
_WANTS_CODE = re.compile(
    r"\b(?:code|snippet|function|script|class|import|implement\w*|codigo|funcion|clase|programa)\b"
)
_SYSTEM: dict[Language, str] = {
    "en": "Answer the question with one or two sentences copied word for word from the notes.",
    "es": "Responde a la pregunta en español, con una o dos frases copiadas palabra por palabra de "
    "las notas.",
}
_NOTES: dict[Language, str] = {"en": "Notes", "es": "Notas"}
_QUESTION: dict[Language, str] = {"en": "Question", "es": "Pregunta"}
_EARLIER: dict[Language, str] = {"en": "Asked before", "es": "Pregunta anterior"}


# One example shows a small model better than any rule what is wanted: the notes' own sentences.
_EXAMPLE: dict[Language, tuple[str, str, str]] = {
    "en": (
        "## Bread at home: Rising\nDough rises because yeast turns sugar into gas. In a warm kitchen "
        "it doubles in about an hour. In the fridge it takes a night, and the taste gets better.",
        "how long does dough need in the fridge?",
        "In the fridge it takes a night, and the taste gets better.",
    ),
    "es": (
        "## Pan en casa: El levado\nLa masa sube porque la levadura convierte el azúcar en gas. En "
        "una cocina templada dobla su tamaño en una hora. En la nevera tarda una noche y gana sabor.",
        "cuanto tarda la masa en la nevera?",
        "En la nevera tarda una noche y gana sabor.",
    ),
}


@dataclass(frozen=True)
class Notes:
    """Sentences of passages as the model reads them."""

    text: str
    lines: tuple[Line, ...]


class Line(NamedTuple):
    """A sentence among notes."""

    passage: int
    sentence: int
    start: int
    """In the notes' text; `end` is behind it."""
    end: int


@dataclass(frozen=True)
class Prompt:
    """What the model is asked, and which of it is worth watching."""

    messages: Sequence[Message]
    watch: Watch | None = None
    lines: tuple[Line, ...] = ()
    """The sentences that are watched, in order."""


@dataclass(frozen=True)
class Form:
    """A prompt: a rule and an example in each language, then the notes and the question."""

    system: dict[Language, str]
    example: dict[Language, tuple[str, str, str]]
    """Notes, question and answer."""

    def fixed(self, language: Language) -> list[Message]:
        """What every prompt in a language begins with; a model keeps its cache."""
        notes, question, answer = self.example[language]
        return [
            Message("system", self.system[language]),
            Message("user", _asked(notes, f"{_QUESTION[language]}: {question}", language)),
            Message("assistant", answer),
        ]

    def messages(
        self, question: str, context: str | None, notes: str, language: Language
    ) -> list[Message]:
        """The prompt. `context` is the earlier question that a follow-up leans on, if it does.

        The notes come before the question, so that a model keeps their cache between questions.
        """
        asked = f"{_QUESTION[language]}: {question}"
        if context:
            asked = f"{_EARLIER[language]}: {context}\n{asked}"
        return [*self.fixed(language), Message("user", _asked(notes, asked, language))]

    def prompt(
        self, question: str, context: str | None, notes: Notes, language: Language
    ) -> Prompt:
        """The same, with what is to be watched: the question as it stands, and the notes' sentences."""
        question = question.strip()  # as some templates do with a message
        messages = self.messages(question, context, notes.text, language)
        content = messages[-1].content
        before = len(_asked("", "", language).removesuffix("\n\n"))
        asked = (len(content) - len(question), len(content))
        sentences = tuple((before + line.start, before + line.end) for line in notes.lines)
        return Prompt(messages, Watch(asked, sentences), notes.lines)


def _asked(notes: str, question: str, language: Language) -> str:
    return f"{_NOTES[language]}:\n{notes}\n\n{question}"


_FORM = Form(_SYSTEM, _EXAMPLE)
fixed = _FORM.fixed
messages = _FORM.messages
of = _FORM.prompt


def select(
    question: str,
    vector: Vectors,
    passages: Sequence[Passage],
    count_tokens: Callable[[str], int],
    budget: int = BUDGET,
) -> Notes:
    """Of each passage the run of sentences that is nearest to the question, under its title.

    The first passage gets up to `_FIRST_SHARE` of the budget, the others what is left, in order. A
    run keeps what sentences need to be understood: those around them.
    """
    text, left = "", budget
    told: list[Line] = []
    for n, passage in enumerate(passages):
        if passage.chunk.kind == "overview" and passages[0].chunk.kind != "overview":
            continue  # it names every subject of the collection, and answers only for the whole
        allowed = left if n else round(budget * _FIRST_SHARE)
        run, spent = _run(passage, nearness(question, vector, passage), count_tokens, allowed)
        if run:
            text += ("\n\n" if text else "") + f"## {_heading(passage)}"
            for i in run:
                sentence = passage.sentence(i)
                start = len(text) + 1
                text += f"\n{sentence}"
                told.append(Line(n, i, start, start + len(sentence)))
            left -= spent
        if left < _LEAST:
            break
    return Notes(text, tuple(told))


def wants_code(question: str) -> bool:
    """Whether code may be the answer."""
    return bool(_WANTS_CODE.search(analyse.fold(question)))


def nearness(question: str, vector: Vectors, passage: Passage) -> list[float]:
    """How near each sentence is, to choose what is read: its cosine with the question, and the share
    of the question that it and the headings above it hold."""
    code = wants_code(question)
    scores = []
    for i, match in enumerate(matches(question, vector, passage)):
        apart = 0.0 if code or passage.is_prose(i) else _NOT_PROSE
        more = 0.1 * (match.own + match.above) + _DEFINES * match.defines + _MEETS * match.meets
        scores.append(match.cosine + more - apart)
    return scores


def _run(
    passage: Passage, near: list[float], count_tokens: Callable[[str], int], budget: int
) -> tuple[list[int], int]:
    """The nearest sentence, grown to both sides, the nearer side first, while the budget allows; and
    what it costs."""
    if not near:
        return [], 0
    costs = [count_tokens(passage.sentence(i)) + 1 for i in range(len(near))]
    best = max(
        (i for i, cost in enumerate(costs) if cost <= budget), key=near.__getitem__, default=None
    )
    if best is None:
        return [], 0
    chosen, spent = {best}, costs[best]
    low, high = best - 1, best + 1
    while low >= 0 or high < len(near):
        up = high < len(near) and (low < 0 or near[high] >= near[low])
        i = high if up else low
        low, high = (low, high + 1) if up else (low - 1, high)
        if spent + costs[i] <= budget:
            chosen.add(i)
            spent += costs[i]
        elif passage.is_prose(i):
            break  # a code block that is too long is skipped; prose ends the run
    return sorted(chosen), spent


def _heading(passage: Passage) -> str:
    section = (passage.chunk.section or "").rpartition(" > ")[2]
    return f"{passage.chunk.title}: {section}" if section else passage.chunk.title
