"""The measure of the first person flags what speaks of the subject from outside, and only that."""

from __future__ import annotations

import pytest

from rag.measure.voice import fault
from rag.types import Card, Language

MARIE = Card("Marie Stone", "f", ("Marie", "Stone"), "", "", True, None)
LUIS = Card("Luis Vega", "m", ("Luis", "Vega"), "", "", True, None)


@pytest.mark.parametrize(
    ("text", "language", "card"),
    [
        ("I was born in Hull in 1852. [1]", "en", MARIE),
        ("My father kept bees, and he sold honey. [1]", "en", MARIE),
        ("Ann Reed taught me; she lent me her books. [1]", "en", MARIE),
        ("The programming language Stone bears my name. [1]", "en", MARIE),
        ("The Stone filter bears my name. [1]", "en", MARIE),
        ("My page puts it like this: “She died in Leeds in 1901.” [1]", "en", MARIE),
        ("My father called me Marie, and that name stayed. [1]", "en", MARIE),
        ("Nací en Soria en 1852. [1]", "es", LUIS),
        ("En 1890 apareció el primer número. [1]", "es", LUIS),
        ("Mi página lo dice así: «Murió en Madrid.» [1]", "es", LUIS),
        ("El alcalde mandó encerrarme. [1]", "es", LUIS),
    ],
)
def test_what_holds_the_first_person(text: str, language: Language, card: Card) -> None:
    assert fault(text, language, card) is None


@pytest.mark.parametrize(
    ("text", "language", "card", "found"),
    [
        ("She was born in Hull in 1852.", "en", MARIE, "She"),
        ("Born in Hull, I lost her notes.", "en", MARIE, "her"),
        ("Stone was born in Hull.", "en", MARIE, "Stone"),
        ("In 1880 Marie Stone lost everything.", "en", MARIE, "Marie Stone"),
        ("As an AI, I don't know.", "en", MARIE, "As an AI"),
        ("The article says that I was born in Hull.", "en", MARIE, "The article says"),
        ("Murió en Madrid en 1901.", "es", LUIS, "Murió"),
        ("En 1890, publicó sobre puentes.", "es", LUIS, "publicó"),
        ("Su padre me llevó a Soria.", "es", LUIS, "Su padre"),
        ("Vega construyó un puente.", "es", LUIS, "Vega"),
        ("Según el texto, nací en Soria.", "es", LUIS, "Según el texto"),
    ],
)
def test_what_speaks_from_outside(text: str, language: Language, card: Card, found: str) -> None:
    assert fault(text, language, card) == found
