import pytest

from rag.measure.numerals import numerals, with_digits


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("four", "en", [4]), ("cuatro", "es", [4]), ("forty-two", "en", [42]),
        ("mil novecientos noventa y seis", "es", [1996]), ("two thousand sixteen", "en", [2016]),
        ("a hundred and five", "en", [105]), ("2 mil millones", "es", [2e9]),
        ("3.5 million", "en", [3.5e6]), ("3,5 millones", "es", [3.5e6]),
        ("veintidós", "es", [22]), ("doscientas treinta y una", "es", [231]),
        ("the twenty-first", "en", [21]), ("la segunda", "es", [2]), ("6½ sacks", "en", [6.5]),
        ("siglo XIV", "es", [14]), ("12 308", "es", [12308]), ("0,931", "es", [0.931]),
        ("two and three", "en", [2, 3]), ("nineteen eighty-four", "en", [19, 84]),
        ("BM25", "en", [25]), ("once upon a time", "en", []), ("once veces", "es", [11]),
        ("Someone mixed civic DIM lights", "en", []),
    ],
)  # fmt: skip
def test_numbers_are_read_by_value(text: str, language: str, values: list[float]) -> None:
    assert [max(n.readings) for n in numerals(text, language)] == values


def test_a_separator_may_be_either_language_s() -> None:
    for written in ("1,000", "1.000"):
        assert 1000 in numerals(written, "en")[0].readings
    assert numerals("1,000", "en")[0].readings & numerals("1.000", "es")[0].readings


def test_a_numeral_says_where_it_stands() -> None:
    text = "In two thousand sixteen it ended."
    (numeral,) = numerals(text, "en")
    assert text[numeral.start : numeral.end] == "two thousand sixteen"


def test_one_spelling_for_all() -> None:
    assert with_digits("four of 1,000", "en").split() == ["4", "of", "1000"]
