"""Numbers in English and Spanish text, by value: digits, words, ordinals, fractions, Roman ones.

Made for measuring, and apart from what the product checks with: the same mistake twice would be
found by neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d+)*|[^\W\d_]+")
_FRACTION = re.compile(r"(\d*)\s?([¼½¾⅓⅔⅕⅛⅜⅝⅞])")
_ROMAN = re.compile(r"(?=[IVXLC]{2})(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})\Z")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
_UNOS = """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
dieciseis diecisiete dieciocho diecinueve veinte""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_DECENAS = "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_CIENTOS = """ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos
ochocientos novecientos""".split()
_FIRST = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split()
_PRIMERO = "primero segundo tercero cuarto quinto sexto septimo octavo noveno decimo".split()
_SCALES = {
    "hundred": 100, "thousand": 1000, "mil": 1000, "million": 10**6, "millon": 10**6,
    "millones": 10**6, "billion": 10**9, "billon": 10**12, "billones": 10**12, "trillion": 10**12,
}  # fmt: skip
_VALUES = {
    **{word: i for i, word in enumerate(_ONES)},
    **{word: i for i, word in enumerate(_UNOS)},
    **{f"veinti{word}": 20 + i for i, word in enumerate(_UNOS[:10])},
    **{word: 10 * i for i, word in enumerate(_TENS, 2)},
    **{word: 10 * i for i, word in enumerate(_DECENAS, 2)},
    **{word: 100 * i for i, word in enumerate(_CIENTOS, 1)},
    **{word[:-2] + "as": 100 * i for i, word in enumerate(_CIENTOS[1:], 2)},
    **{word: i for i, word in enumerate(_FIRST, 1)},
    **{word: i for i, word in enumerate(_PRIMERO, 1)},
    **{word[:-1] + "a": i for i, word in enumerate(_PRIMERO, 1)},
    "un": 1, "una": 1, "primer": 1, "tercer": 3, "veintiun": 21, "veintiuna": 21, "cien": 100,
    "dozen": 12, "docena": 12,
}  # fmt: skip
_PLURALS = {"millones", "billones"}
_JOINERS = {"and", "y"}


@dataclass(frozen=True)
class Numeral:
    """A number where it stands in a text."""

    start: int
    end: int
    readings: frozenset[float]
    """"1.000" may be 1000 or 1."""
    in_words: bool


def fold(text: str) -> str:
    """Lower case without accents, letter for letter, so that offsets stay."""
    return "".join(unicodedata.normalize("NFD", c)[0] for c in text).lower()


def numerals(text: str, language: str) -> list[Numeral]:
    """In order; `language` decides what "once" is."""
    plain = _with_decimals(text)
    found: list[Numeral] = []
    tokens = list(_TOKEN.finditer(plain))
    i = 0
    while i < len(tokens):
        numeral, used = _at(tokens, i, language)
        if numeral:
            found.append(numeral)
        i += used
    return found


def with_digits(text: str, language: str) -> str:
    """The text with each number in one spelling, digits without separators."""
    plain, pieces, position = _with_decimals(text), [], 0
    for numeral in numerals(text, language):
        pieces += [plain[position : numeral.start], f" {max(numeral.readings):.10g} "]
        position = numeral.end
    return "".join([*pieces, plain[position:]])


def _with_decimals(text: str) -> str:
    """½ as .5: "6½" becomes "6.5"."""
    return _FRACTION.sub(lambda m: f"{int(m[1] or 0) + unicodedata.numeric(m[2]):.4g}", text)


def _at(tokens: list[re.Match[str]], i: int, language: str) -> tuple[Numeral | None, int]:
    """The number that begins at a token, if one does, and how many tokens it or the rest takes."""
    first = tokens[i]
    if _ROMAN.match(first[0]):
        return Numeral(first.start(), first.end(), frozenset({_roman(first[0])}), False), 1
    in_words = not first[0][0].isdigit()
    start = _word(fold(first[0]), language) if in_words else _digits(first[0])
    if not start:
        return None, 1
    scaled = in_words and start[0] >= 1000
    done, current = (start, [0.0]) if scaled else ([0.0] * len(start), start)
    last = i
    for j, word in _following(tokens, i):
        scale = _SCALES.get(word, 0)
        if scale > 100:
            done = [
                (d + c) * scale if d < scale else d + c * scale
                for d, c in zip(done, current, strict=True)
            ]
            current = [0.0] * len(done)
        elif scale and in_words and current[0] < 100:
            current = [current[0] * scale]
        elif in_words and word in _VALUES and _fits(current[0], _VALUES[word]):
            current = [current[0] + _VALUES[word]]
        else:
            break
        last = j
    readings = frozenset(d + c for d, c in zip(done, current, strict=True))
    return Numeral(first.start(), tokens[last].end(), readings, in_words), last - i + 1


def _following(tokens: list[re.Match[str]], i: int) -> Iterator[tuple[int, str]]:
    """The words right behind a token, joiners skipped, as long as nothing but blanks is between."""
    for j in range(i + 1, len(tokens)):
        text = tokens[j].string
        between = text[tokens[j - 1].end() : tokens[j].start()]
        if between.strip(" -\u00a0"):
            return
        word = fold(tokens[j][0])
        if word in _JOINERS and j + 1 < len(tokens):
            continue
        yield j, word


def _fits(current: float, value: int) -> bool:
    """Whether a number word goes on with the number before: "forty" + "two", "cien" + "veinte"."""
    return (
        current == 0
        or (current % 1000 and current % 100 == 0 and value < 100)
        or (current % 100 >= 20 and current % 10 == 0 and 0 < value < 10)
    )


def _word(folded: str, language: str) -> list[float]:
    if folded == "once" and language == "en":
        return []
    value = _VALUES.get(folded, _SCALES.get(folded) if folded not in _PLURALS else None)
    return [] if value is None else [float(value)]


def _digits(written: str) -> list[float]:
    """The values that digits may have in either language's notation."""
    pieces = re.split(r"[.,]", re.sub(r"[ \u00a0\u202f]", "", written))
    if len(pieces) == 1:
        return [float(pieces[0])]
    readings = []
    if pieces[0] != "0" and len(pieces[0]) <= 3 and all(len(piece) == 3 for piece in pieces[1:]):
        readings.append(float("".join(pieces)))
    if len(pieces) == 2 or all(len(piece) == 3 for piece in pieces[1:-1]):
        readings.append(float("".join(pieces[:-1]) + "." + pieces[-1]))
    return readings or [float(piece) for piece in pieces]


def _roman(written: str) -> float:
    values = [_ROMAN_DIGITS[letter] for letter in written]
    following = [*values[1:], 0]
    return float(sum(-v if v < after else v for v, after in zip(values, following, strict=True)))
