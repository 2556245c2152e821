"""What the model reads in an interview: notes that already speak in the first person."""

from __future__ import annotations

from rag.types import Language, Message

_SYSTEM: dict[Language, str] = {
    "en": "You are interviewed. Answer with one or two sentences copied word for word from your "
    "notes.",
    "es": "Te hacen una entrevista. Responde en español, con una o dos frases copiadas palabra por "
    "palabra de tus notas.",
}
_NOTES: dict[Language, str] = {"en": "Notes", "es": "Notas"}
_QUESTION: dict[Language, str] = {"en": "Question", "es": "Pregunta"}
_EARLIER: dict[Language, str] = {"en": "Asked before", "es": "Pregunta anterior"}
_EXAMPLE: dict[Language, tuple[str, str, str]] = {
    "en": (
        "## Work: The bakery\nI opened a bakery in Leeds in 1901. My sister kept the books. In 1911 I "
        "sold the shop and went to sea.",
        "who did the accounts for you?",
        "My sister kept the books.",
    ),
    "es": (
        "## Trabajo: La panadería\nAbrí una panadería en Lugo en 1901. Mi hermana llevaba las cuentas. "
        "En 1911 vendí la tienda y me hice a la mar.",
        "quién te llevaba las cuentas?",
        "Mi hermana llevaba las cuentas.",
    ),
}


def fixed(language: Language) -> list[Message]:
    """What every prompt in a language begins with; a model keeps its cache."""
    notes, question, answer = _EXAMPLE[language]
    return [
        Message("system", _SYSTEM[language]),
        Message("user", _asked(notes, f"{_QUESTION[language]}: {question}", language)),
        Message("assistant", answer),
    ]


def messages(question: str, context: str | None, notes: str, language: Language) -> list[Message]:
    """The prompt. `context` is the earlier question that a follow-up leans on, if it does."""
    asked = f"{_QUESTION[language]}: {question}"
    if context:
        asked = f"{_EARLIER[language]}: {context}\n{asked}"
    return [*fixed(language), Message("user", _asked(notes, asked, language))]


def _asked(notes: str, question: str, language: Language) -> str:
    return f"{_NOTES[language]}:\n{notes}\n\n{question}"
