"""What the model reads: the sentences that matter, under a token budget, and the question.

On a CPU the reader waits for every token of it. A small model copies, so what must hold is put into
what it reads; the rules are in code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag.answer.check import Passage
from rag.search import analyse
from rag.search.vectors import Vectors
from rag.types import Language, Message

BUDGET = 260
"""Tokens of passages that the model reads for one answer."""
_NOT_PROSE = 0.04
"""Code, headings and table rows share words with many questions and answer few."""
_SYSTEM: dict[Language, str] = {
    "en": "You answer a reader's question from notes. Use only what the notes say. "
    "Answer in English, in one to three plain sentences.",
    "es": "Respondes a la pregunta de un lector a partir de unas notas. Usa solo lo que dicen las "
    "notas. Responde en español, con una a tres frases sencillas.",
}
_NOTES: dict[Language, str] = {"en": "Notes", "es": "Notas"}
_QUESTION: dict[Language, str] = {"en": "Question", "es": "Pregunta"}
_EARLIER: dict[Language, str] = {"en": "Asked before", "es": "Pregunta anterior"}


def messages(question: str, context: str | None, notes: str, language: Language) -> list[Message]:
    """The prompt. `context` is the earlier question that a follow-up leans on, if it does.

    The notes come before the question, so that a model keeps their cache between questions.
    """
    asked = f"{_QUESTION[language]}: {question}"
    if context:
        asked = f"{_EARLIER[language]}: {context}\n{asked}"
    return [
        Message("system", _SYSTEM[language]),
        Message("user", f"{_NOTES[language]}:\n{notes}\n\n{asked}"),
    ]


def select(
    question: str,
    vector: Vectors,
    passages: Sequence[Passage],
    count_tokens: Callable[[str], int],
    budget: int = BUDGET,
) -> str:
    """The sentences nearest to the question, each with the one before it, in reading order.

    Nearness is cosine plus the share of the question's words that a sentence holds. Each passage
    stands under its title.
    """
    asked = {
        analyse.stem(w.folded, x) for w in analyse.content_words(question) for x in ("en", "es")
    }
    ranked: list[tuple[float, int, int]] = []
    for n, passage in enumerate(passages):
        cosines = passage.vectors @ vector
        for i, cosine in enumerate(cosines):
            held = set(analyse.terms(passage.sentence(i), passage.chunk.language))
            words = len(asked & held) / (len(asked) / 2 or 1)
            apart = 0 if passage.is_prose(i) else _NOT_PROSE
            ranked.append((float(cosine) + 0.1 * words - 0.015 * n - apart, n, i))
    ranked.sort(reverse=True)
    chosen: set[tuple[int, int]] = set()
    spent = 0
    for _, n, i in ranked:
        beside = [j for j in (i - 1, i + 1) if 0 <= j < len(passages[n].vectors)]
        wanted = [(n, i), *((n, j) for j in beside if passages[n].is_prose(j))]
        for place in wanted:
            if place in chosen:
                continue
            cost = count_tokens(passages[n].sentence(place[1])) + 1
            if spent + cost <= budget or not chosen:
                chosen.add(place)
                spent += cost
        if spent >= budget * 0.9:
            break
    parts = []
    for n, passage in enumerate(passages):
        lines = [passage.sentence(i) for m, i in sorted(chosen) if m == n]
        if lines:
            heading = passage.chunk.title.strip()
            parts.append(f"[{heading}]\n" + "\n".join(lines))
    return "\n\n".join(parts)
