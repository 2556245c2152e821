from typing import Any

import pytest

from rag.measure.second_check import inspect, lacks, language_of, names, statements
from tests.words import chunk

PASSAGE = (
    "The harbour of Veldt was dug in January 1911 by forty men under Anna Bruun. "
    "It cost 1,000 crowns, and ships from Germany call there three times a year. "
    "Its pump is a PX-4 made in the U.S."
)


@pytest.mark.parametrize(
    ("sentence", "lacking"),
    [
        ("The harbour was dug in 1911 by 40 men.", []),
        ("The harbour was dug in 1912 by forty men.", ["1912"]),
        ("Fifty men dug it.", ["Fifty"]),
        ("It was dug under Anna Larsen.", ["Larsen"]),
        ("Anna Bruun's harbour cost 1.000 crowns.", []),
        ("In March it was dug.", ["March"]),
        ("Ships call 3 times a year; the PX-4 pump is US-made.", []),
        ("The PX-5 pumps.", ["5"]),
        ("Additionally, one can see ships.", []),
        ("Additionally, ships from France call.", ["France"]),
        ("Kierkegaard dug it.", ["Kierkegaard"]),
    ],
)
def test_numbers_dates_and_names_must_stand_in_the_passage(
    sentence: str, lacking: list[str]
) -> None:
    assert lacks(sentence, "en", PASSAGE, "en") == lacking


@pytest.mark.parametrize(
    ("sentence", "lacking"),
    [
        ("El puerto se excavó en enero de 1911 con cuarenta hombres.", []),
        ("Costó 1.000 coronas y llegan barcos de Alemania.", []),
        ("Llegan barcos de Francia tres veces.", ["Francia"]),
        ("Lo excavaron en Febrero.", ["Febrero"]),
        ("Lo excavaron sesenta hombres.", ["sesenta"]),
    ],
)
def test_the_other_language_may_spell_them_its_own_way(sentence: str, lacking: list[str]) -> None:
    assert lacks(sentence, "es", PASSAGE, "en") == lacking


def test_names_are_capitals_inside_a_sentence_and_rare_or_joined_words_at_its_start() -> None:
    assert names("The search with BM25 by Karen Jones is old.") == ["BM25", "Karen", "Jones"]
    assert names("Search is old. Karen Jones knows. “The end”, he said.") == ["Karen", "Jones"]
    assert names("The 19th of 1960s cars") == []


def answer(text: str, *quotes: str, url: str = "https://x.example/veldt#s") -> dict[str, Any]:
    citation = {"n": 1, "url": url, "quote": quotes[0], "quotes": quotes}
    return {"answer": text, "citations": [citation]}


QUOTE, OTHER = "The harbour was dug in 1911.", "It cost 5 crowns."
PAGES = {
    "https://x.example/veldt": [
        chunk(f"{QUOTE} Then it rained.", "veldt"),
        chunk(OTHER, "veldt"),
    ]
}


def test_each_sentence_has_the_quote_of_its_own_marker() -> None:
    found = statements(answer("Dug in 1911. [1] It cost 5 crowns. [1]", QUOTE, OTHER))
    assert [(s.text, s.quote) for s in found] == [
        ("Dug in 1911.", QUOTE),
        ("It cost 5 crowns.", OTHER),
    ]


def test_an_answer_that_holds_has_no_offence() -> None:
    found = inspect(
        answer("The harbour was dug in 1911. [1] It cost 5 crowns. [1]", QUOTE, OTHER), "en", PAGES
    )
    assert (found.statements, found.offences) == (2, ())
    assert found.verbatim == (True, True)
    assert found.in_language is True


@pytest.mark.parametrize(
    ("text", "quote", "lacking"),
    [
        ("It was dug in 1812. [1]", QUOTE, ["1812"]),
        ("It cost 5 crowns. [1]", QUOTE, ["5"]),
        ("It was dug. [1]", "It was dug by hand.", ["a passage that holds its quote"]),
        ("It was dug in 1911. [1] And then it was not.", QUOTE, ["a footnote"]),
        ("It was dug in 1911. [9]", QUOTE, ["a footnote"]),
    ],
)
def test_an_offence_says_what_is_lacking(text: str, quote: str, lacking: list[str]) -> None:
    found = inspect(answer(text, quote), "en", PAGES)
    assert [offence["lacking"] for offence in found.offences] == [lacking]


def test_the_language_of_an_answer_is_its_own_and_not_what_it_claims() -> None:
    spanish = answer("El puerto se excavó en 1911 con muchos hombres. [1]", QUOTE)
    assert inspect(spanish, "en", PAGES).in_language is False
    assert inspect(spanish, "es", PAGES).in_language is True
    assert inspect(answer("Anna Bruun, 1911. [1]", QUOTE), "es", PAGES).in_language is None
    assert language_of("que es la cuantizacion dinamica") == "es"


def test_a_quote_in_another_language_is_not_the_replys_own() -> None:
    quote = "La caja del norte tardaba una semana entera en llegar al pueblo."
    cited = {"n": 1, "url": "https://b.example/p", "quote": quote, "quotes": [quote]}
    reply = {"answer": f"A page in another language says: “{quote}” [1]"}
    found = inspect({**reply, "citations": [{**cited, "language": "es"}]}, "en", PAGES)
    assert found.in_language is True and found.quotes_another
    found = inspect({**reply, "citations": [{**cited, "language": "en"}]}, "en", PAGES)
    assert found.in_language is False and not found.quotes_another
