"""What is written by hand, in both languages: replies without a model, and the phrase before a quote
from a page in another language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.answer.smalltalk import Kind
from rag.types import Language

_SMALLTALK: dict[Language, dict[Kind, str]] = {
    "en": {
        "greeting": "Hello! Ask me about {title}: I answer from its pages and show you where.",
        "thanks": "You're welcome! Is there anything else in {title} you'd like to know?",
        "goodbye": "Goodbye! {title} will be here whenever another question comes up.",
        "identity": "I'm Footnote, a small program that answers from {title} and cites the passage "
        "behind every sentence. What isn't on those pages, I don't say.",
        "help": "You can ask about anything that stands in {title}.",
    },
    "es": {
        "greeting": "¡Hola! Pregúntame sobre {title}: respondo con sus páginas y te muestro dónde.",
        "thanks": "¡De nada! ¿Quieres saber algo más de {title}?",
        "goodbye": "¡Hasta luego! {title} seguirá aquí cuando te surja otra pregunta.",
        "identity": "Soy Footnote, un pequeño programa que responde con las páginas de {title} y cita "
        "el pasaje que hay detrás de cada frase. Lo que no está en ellas, no lo digo.",
        "help": "Puedes preguntar por cualquier cosa que aparezca en {title}.",
    },
}
_TOPICS: dict[Language, str] = {
    "en": " It covers {topics}, for instance.",
    "es": " Trata, por ejemplo, de {topics}.",
}
_AND: dict[Language, str] = {"en": " and ", "es": " y "}


@dataclass(frozen=True)
class Voice:
    """What the written replies need to know of the collection, in one language."""

    language: Language
    title: str
    topics: Sequence[str]

    def smalltalk(self, kind: Kind) -> str:
        """A reply to a greeting, thanks, a goodbye, "who are you" or "what can I ask"."""
        text = _SMALLTALK[self.language][kind].format(title=self.title)
        if kind in ("greeting", "help", "identity") and self.topics:
            text += _TOPICS[self.language].format(topics=listed(self.topics[:5], self.language))
        return text

    def refusal(self, missing: Sequence[str], nearest: str | None) -> str:
        """Says that the sources don't hold the answer, which words they lack, and what is nearest."""
        if self.language == "es":
            text = f"Eso no está en {self.title}, así que prefiero no inventarlo."
            if missing:
                text += f" Sus páginas no dicen nada de {quoted(missing, 'es')}."
            if nearest:
                text += f" Lo más cercano es «{nearest}»."
            return text
        text = f"That isn't in {self.title}, so I won't make something up."
        if missing:
            text += f" Its pages say nothing about {quoted(missing, 'en')}."
        if nearest:
            text += f" The nearest is “{nearest}”."
        return text

    def nothing_held(self, nearest: str | None) -> str:
        """Says that what was written could not be supported and is therefore not shown."""
        if self.language == "es":
            text = (
                f"No he encontrado en {self.title} una respuesta que pueda respaldar con una cita."
            )
            return text + (f" Lo más cercano es «{nearest}»." if nearest else "")
        text = f"I couldn't find an answer in {self.title} that I can back with a quote."
        return text + (f" The nearest is “{nearest}”." if nearest else "")

    def too_long(self, limit: int) -> str:
        """Says that the question is over the limit, in characters."""
        if self.language == "es":
            return f"Esa pregunta es demasiado larga: caben {limit} caracteres. ¿Puedes acortarla?"
        return f"That question is too long: {limit} characters fit. Could you shorten it?"

    def empty(self) -> str:
        """Says that there was no question."""
        if self.language == "es":
            return "No he recibido ninguna pregunta. ¿Qué quieres saber?"
        return "There was no question in that. What would you like to know?"

    def stopped(self) -> str:
        """Says that the reader stopped the answer before a sentence was checked."""
        return "Me he detenido." if self.language == "es" else "Stopped."

    def away(self) -> str:
        """Says that a server that answers need doesn't answer itself."""
        if self.language == "es":
            return (
                "Ahora mismo no puedo responder: falta el servidor que necesito. Prueba más tarde."
            )
        return "I can't answer right now: a server that I need is away. Please try again later."

    def failed(self) -> str:
        """Says that something broke while answering, and that one may go on."""
        if self.language == "es":
            return (
                "Algo ha fallado al responder. Vuelve a preguntar; si se repite, mira el registro."
            )
        return "Something broke while I was answering. Please ask again; if it happens twice, see the log."


def told_elsewhere(quote: str, spoken: Language) -> str:
    """A page's own words, in another language than the answer's: nobody has translated them."""
    if spoken == "es":
        return f"Lo dice una página en otro idioma: “{quote}”"
    return f"A page in another language says: “{quote}”"


def unknown_collection(name: str, known: Sequence[str], language: Language) -> str:
    """Says that there is no such collection, and which there are."""
    if language == "es":
        return f"No hay ninguna colección «{name}». Hay: {', '.join(known)}."
    return f"There is no collection “{name}”. There are: {', '.join(known)}."


def quoted(words: Sequence[str], language: Language) -> str:
    """`“a”, “b” and “c”`."""
    marks = ("«", "»") if language == "es" else ("“", "”")
    return listed([f"{marks[0]}{w}{marks[1]}" for w in words], language)


def listed(items: Sequence[str], language: Language) -> str:
    """`a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + _AND[language] + items[-1]
