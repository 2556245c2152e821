"""Writes the question that a passage answers, for the gate's calibration and the openers."""

from __future__ import annotations

from rag.llm.protocol import LanguageModel
from rag.types import Message

_TASK = {
    "en": "Write one short question that a curious reader could ask and that this text answers. "
    "Name the subject. Write only the question.",
    "es": "Escribe una pregunta corta que un lector curioso podría hacer y que este texto responde. "
    "Nombra el tema. Escribe solo la pregunta.",
}
_LONGEST = 800
"""Characters of a passage that the model reads."""


class QuestionWriter:
    """Asks the model; what it writes is checked by whoever uses it."""

    def __init__(self, llm: LanguageModel) -> None:
        self._llm = llm

    def write(self, title: str, passage: str, language: str) -> str:
        """A question in `language`, or whatever else the model wrote."""
        spoken = language if language in _TASK else "en"
        text = f"{title}\n\n{passage[:_LONGEST]}"
        begin = "¿" if spoken == "es" else ""
        messages = [Message("system", _TASK[spoken]), Message("user", text)]
        return begin + "".join(self._llm.generate(messages, max_tokens=40, begin=begin))
