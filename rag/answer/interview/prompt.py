"""What the model reads in an interview: notes that already speak in the first person."""

from __future__ import annotations

from rag.answer.prompt import Form
from rag.types import Language

_SYSTEM: dict[Language, str] = {
    "en": "You are interviewed. Answer with one or two sentences copied word for word from your "
    "notes.",
    "es": "Te hacen una entrevista. Responde en español, con una o dos frases copiadas palabra por "
    "palabra de tus notas.",
}
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
_FORM = Form(_SYSTEM, _EXAMPLE)
fixed = _FORM.fixed
messages = _FORM.messages
