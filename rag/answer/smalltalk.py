"""Messages that ask nothing of the sources: greetings, thanks, goodbyes, who are you, what can I ask."""

from __future__ import annotations

import re
from typing import Literal

from rapidfuzz.distance import DamerauLevenshtein

from rag.search import analyse

Kind = Literal["greeting", "thanks", "goodbye", "identity", "help"]

# Folded phrases; the longest that fits is taken, from the front of the message.
_PHRASES: dict[Kind, str] = {
    "greeting": """hi|hello|hey|hiya|yo|howdy|greetings|good morning|good afternoon|good evening|
        good day|how are you|how are you doing|how is it going|how it going|what up|sup|
        nice to meet you|hola|buenas|buenos dias|buen dia|buenas tardes|buenas noches|que tal|
        como estas|como esta usted|como va|que onda|saludos|mucho gusto|encantado|encantada|oye""",
    "thanks": """thanks|thank you|thank you very much|thanks a lot|many thanks|thx|ty|cheers|
        great thanks|ok thanks|perfect|great|awesome|cool|nice|gracias|muchas gracias|mil gracias|
        ok gracias|vale gracias|perfecto|genial|estupendo|vale|ok|okay""",
    "goodbye": """bye|bye bye|goodbye|good bye|see you|see you later|see ya|good night|farewell|
        take care|adios|hasta luego|hasta pronto|hasta manana|nos vemos|chao|chau|
        que tengas un buen dia""",
    "identity": """who are you|what are you|are you a bot|are you a robot|are you human|are you real|
        are you an ai|are you a person|what your name|what is your name|who made you|
        who am i talking to|quien eres|que eres|quien es usted|eres un bot|eres un robot|
        eres humano|eres humana|eres real|eres una ia|eres una persona|como te llamas|
        cual es tu nombre|quien te hizo|con quien hablo""",
    "help": """help|help me|what can i ask|what can i ask you|what can you do|what do you know|
        what can you answer|how does this work|what should i ask|what can you tell me|
        how do i use this|ayuda|ayudame|que puedo preguntar|que puedo preguntarte|que sabes|
        que puedes hacer|que puedes responder|que te puedo preguntar|como funciona esto|
        que sabes hacer|que me puedes contar""",
}
_BY_PHRASE: dict[tuple[str, ...], Kind] = {
    tuple(phrase.split()): kind
    for kind, phrases in _PHRASES.items()
    for phrase in re.split(r"\|\s*", phrases)
}
_LONGEST = max(map(len, _BY_PHRASE))
_FILLERS = frozenset("there all everyone everybody again dear bot friend footnote you so much a todos "
                     "todas amigo amiga de nuevo otra vez and y please por favor".split())  # fmt: skip
_MATTERS_MORE: tuple[Kind, ...] = ("identity", "help", "goodbye", "thanks", "greeting")
_STRETCHED = re.compile(r"(\w)\1{2,}")


def classify(message: str) -> Kind | None:
    """What kind of small talk the whole message is; None when it asks for something else."""
    kinds, rest = _read(_tokens(message))
    if rest or not kinds:
        return None
    return next(kind for kind in _MATTERS_MORE if kind in kinds)


def _tokens(message: str) -> list[str]:
    folded = [w.folded.replace("'", "") for w in analyse.words(message)]
    return [_STRETCHED.sub(r"\1", word) for word in folded]


def _read(tokens: list[str]) -> tuple[set[Kind], list[str]]:
    """The kinds of phrases at the front, and what is left after them."""
    kinds: set[Kind] = set()
    while tokens:
        for length in range(min(_LONGEST, len(tokens)), 0, -1):
            kind = _BY_PHRASE.get(tuple(tokens[:length])) or _mistyped(tokens[:length])
            if kind:
                kinds.add(kind)
                tokens = tokens[length:]
                break
        else:
            if tokens[0] in _FILLERS and kinds:
                tokens = tokens[1:]
            else:
                return kinds, tokens
    return kinds, []


def _mistyped(tokens: list[str]) -> Kind | None:
    """Two letters swapped or one missing in a greeting of one word: "helo", "hoal", "garcias"."""
    if len(tokens) != 1 or len(tokens[0]) < 4 or analyse.rarity(tokens[0]) < 1:
        return None
    for phrase in ("hola", "hello", "thanks", "gracias", "adios", "goodbye"):
        if DamerauLevenshtein.distance(tokens[0], phrase) == 1:
            return _BY_PHRASE[(phrase,)]
    return None
