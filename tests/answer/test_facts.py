import pytest

from rag.answer.facts import Evidence, facts
from rag.types import Language


def lacks(sentence: str, passage: str, language: Language = "en", of: str = "en") -> str | None:
    return Evidence.of(passage, of).lacks(facts(sentence, language), language)


@pytest.mark.parametrize(
    ("sentence", "passage", "language", "of"),
    [
        ("It has 4 layers.", "There are four layers.", "en", "en"),
        ("Hay cuatro capas.", "There are 4 layers.", "es", "en"),
        ("It took 1,000 steps.", "Fueron 1.000 pasos.", "en", "es"),
        ("It is 0.5 wide.", "Mide 0,5.", "en", "es"),
        ("It holds 12,345,678 rows.", "It holds 12345678 rows.", "en", "en"),
        ("Nació en mayo.", "She was born in May.", "es", "en"),
        ("Cuesta veintiún euros.", "It costs 21 euros.", "es", "en"),
    ],
)
def test_a_number_is_found_in_any_spelling(
    sentence: str, passage: str, language: Language, of: str
) -> None:
    assert lacks(sentence, passage, language, of) is None


@pytest.mark.parametrize(
    ("sentence", "passage", "missing"),
    [
        ("It has 5 layers.", "There are four layers.", "number 5"),
        ("Grace Hopper wrote it.", "Ada Lovelace wrote it.", "name grace"),
        ("Call max_new_tokens first.", "Call max_output_tokens first.", "code word max_new_tokens"),
        ("It was in 1843.", "It was in 1842.", "number 1843"),
        ("She lived in June.", "She lived in July.", "name june"),
    ],
)
def test_what_the_passage_lacks_is_named(sentence: str, passage: str, missing: str) -> None:
    assert lacks(sentence, passage) == missing


def test_a_name_may_be_spelt_as_the_other_language_does() -> None:
    assert lacks("Vivió con Alejandro.", "He lived with Alexander.", "es", "en") == "name alejandro"
    assert lacks("Nació en Berlín.", "He was born in Berlin.", "es", "en") is None


def test_a_sentence_may_begin_with_an_everyday_word() -> None:
    assert lacks("Work begins early.", "They begin at dawn.") is None
