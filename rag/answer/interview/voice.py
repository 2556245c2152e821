"""The written replies of an interview, in the subject's voice."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from rag.answer.smalltalk import Kind
from rag.answer.texts import Voice, quoted
from rag.types import Card, Language

_SMALLTALK: dict[Language, dict[Kind, tuple[str, ...]]] = {
    "en": {
        "greeting": ("Hello! I'm {name}. What would you like to know?",
                     "Good day. I'm {name}; ask me what you like about my life."),
        "thanks": ("You're welcome. Is there anything else you'd like to ask me?",
                   "It was a pleasure. What else shall I tell you?"),
        "goodbye": ("Goodbye! Come back whenever you have another question for me.",),
        "identity": ("I'm {name}{what}. A machine speaks for me here: it reads the page about me and "
                     "says nothing that isn't there.",),
        "help": ("Ask me about my life and work.",),
    },
    "es": {
        "greeting": ("¡Hola! Soy {name}. ¿Qué quieres saber?",
                     "Buenas. Soy {name}; pregúntame lo que quieras de mi vida."),
        "thanks": ("De nada. ¿Quieres preguntarme algo más?",
                   "Ha sido un placer. ¿Qué más te cuento?"),
        "goodbye": ("¡Hasta luego! Vuelve cuando tengas otra pregunta para mí.",),
        "identity": ("Soy {name}{what}. Aquí habla por mí una máquina: lee la página sobre mí y no dice "
                     "nada que no esté en ella.",),
        "help": ("Pregúntame por mi vida y mi trabajo.",),
    },
}  # fmt: skip
_REFUSALS: dict[Language, tuple[str, ...]] = {
    "en": ("The page about me doesn't say, so I'd rather not make it up.",
           "I can't tell you that: it isn't on my page.",
           "On that my page is silent, and I won't guess."),
    "es": ("La página sobre mí no lo dice, y prefiero no inventarlo.",
           "Eso no te lo puedo contar: no está en mi página.",
           "De eso mi página no habla, y no quiero adivinar."),
}  # fmt: skip
_MISSING = {"en": " It says nothing of {words}.", "es": " No dice nada de {words}."}
_INSTEAD = {"en": " You could ask me about {topics}.", "es": " Puedes preguntarme por {topics}."}
_TOPICS = {"en": " There is {topics}, for instance.", "es": " Está, por ejemplo, {topics}."}
_QUOTING = {"en": "My page puts it like this: “{quote}”", "es": "Mi página lo dice así: «{quote}»"}


def frames(language: Language) -> tuple[str, ...]:
    """What the subject says around the page's own words."""
    parts = (part.strip("“”«» ") for part in _QUOTING[language].split("{quote}"))
    return tuple(part for part in parts if part)


@dataclass(frozen=True)
class InterviewVoice(Voice):
    """As `Voice`, spoken by the subject. `topics` are the page's main sections."""

    card: Card
    question: str = ""
    """Which wording is taken depends on it, so that no sentence becomes a catchphrase."""

    def smalltalk(self, kind: Kind) -> str:
        """A reply to a greeting, thanks, a goodbye, "who are you" or "what can I ask"."""
        card = self.card
        details = ", ".join(filter(None, (card.line, card.years)))
        text = self._one_of(_SMALLTALK[self.language][kind])
        text = text.format(name=card.name, what=f" ({details})" if details else "")
        if kind in ("greeting", "help") and self.topics:
            text += _TOPICS[self.language].format(topics=self._sections(self.topics[:5]))
        return text

    def refusal(self, missing: Sequence[str], nearest: str | None) -> str:
        """Says that the page doesn't tell, which words it lacks, and what can be asked instead."""
        text = self._one_of(_REFUSALS[self.language])
        if missing:
            text += _MISSING[self.language].format(words=quoted(missing, self.language))
        return text + self._instead(nearest)

    def nothing_held(self, nearest: str | None) -> str:
        """Says that what was written could not be supported and is therefore not shown."""
        return self._one_of(_REFUSALS[self.language]) + self._instead(nearest)

    def quoting(self, quote: str) -> str:
        """Gives the page's own words where they can't be told in the first person."""
        return _QUOTING[self.language].format(quote=quote)

    def _instead(self, nearest: str | None) -> str:
        topics = list(dict.fromkeys(filter(None, (nearest, *self.topics[:3]))))[:3]
        if not topics:
            return ""
        return _INSTEAD[self.language].format(topics=self._sections(topics, last="or"))

    def _sections(self, topics: Sequence[str], last: str = "and") -> str:
        if last == "and":
            return quoted(topics, self.language)
        marks = ("«", "»") if self.language == "es" else ("“", "”")
        named = [f"{marks[0]}{topic}{marks[1]}" for topic in topics]
        joint = " o " if self.language == "es" else " or "
        return joint.join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]

    def _one_of(self, wordings: Sequence[str]) -> str:
        return wordings[zlib.crc32(self.question.encode()) % len(wordings)]
