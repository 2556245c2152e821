"""Text into terms: the one analyser that the index, the search, the gate and the check share.

A term is a word without accents, in lower case and stemmed (Snowball). Code words such as
`max_output_tokens` or `useState` stay whole and give their parts as well.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

import Stemmer
from wordfreq import get_frequency_dict

# A word may hold apostrophes, dots, hyphens or underscores inside: it's, e5-small, numpy.dot, 1,000.
_WORD = re.compile(r"[^\W_](?:\w|[.,'’+#-](?=\w))*(?:\+\+|#)?|_\w+")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_STEMMERS = {"en": Stemmer.Stemmer("english"), "es": Stemmer.Stemmer("spanish")}

# Words that carry no subject: articles, pronouns, prepositions, auxiliaries, and the words that
# people wrap a question in ("can you tell me what the post says about …").
_EMPTY = {
    "en": """a an the this that these those some any each every all both either neither no not nor
    and or but if then than so because while as of at by for with about against between into
    through during before after above below to from up down in out on off over under again further
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    who whom whose which what when where why how is am are was were be been being do does did doing
    done have has had having can could shall should will would may might must ought there here
    just only also too very more most much many few less least own same other another such s t ll
    re ve d m don isn aren wasn weren doesn didn hasn haven hadn won wouldn can't couldn shouldn
    please tell explain describe say says said mean means meant know want like need let give show
    thing things anything something everything nothing one ones really actually exactly basically
    lot bit kind sort way ways ok okay well get gets got make makes made use uses used using
    post posts blog article articles page pages author text write writes wrote written according
    mention mentions mentioned talk talks think thinks called name named example examples
    difference different work works working happen happens good best better does it's what's""",
    "es": """el la los las lo un una unos unas este esta esto estos estas ese esa eso esos esas aquel
    aquella algun alguna alguno algunos algunas cada todo toda todos todas ambos ningun ninguna no ni
    y e o u pero si entonces que porque mientras como de del a al ante bajo con contra desde durante
    en entre hacia hasta mediante para por segun sin so sobre tras yo me mi mis mio nosotros nos
    nuestro nuestra tu tus te ti usted ustedes vosotros vuestro el ella ello ellos ellas le les se su
    sus suyo quien quienes cual cuales cuando donde cuanto cuanta cuantos cuantas es son era eran fue
    fueron ser sido siendo soy eres somos esta estan estaba estar estado hay haber ha han habia he
    hemos hace hacen hacer hecho puede pueden poder puedo puedes podria debe deben deber tiene tienen
    tener tenia va van ir muy mas menos mucho mucha muchos muchas poco poca pocos solo tambien ya aun
    asi tan tanto otro otra otros otras mismo misma favor dime di explica explicame cuentame hablame describe
    dice dicen decir significa saber sabes quiero quisiera necesito cosa cosas algo nada uno unos
    realmente exactamente manera forma tipo bien usa usan usar usado utiliza utilizan sirve sirven
    articulo articulos entrada entradas blog pagina paginas autor autora texto escribe escribio
    menciona habla hablan llama llaman nombre ejemplo ejemplos diferencia diferente funciona
    funcionan pasa ocurre mejor buen bueno""",
}
EMPTY_WORDS = {language: frozenset(words.split()) for language, words in _EMPTY.items()}
_ALL_EMPTY = frozenset().union(*EMPTY_WORDS.values())


@dataclass(frozen=True)
class Word:
    """A word of a text as written, with what a search needs to know of it."""

    text: str
    """As written."""
    folded: str
    start: int
    """Offset of its first character."""

    @property
    def is_code(self) -> bool:
        """An identifier: underscores, inner capitals, dots between letters, or `++`."""
        text = self.text
        inner_capital = any(a.islower() and b.isupper() for a, b in itertools.pairwise(text))
        return "_" in text or inner_capital or text.endswith(("++", "#"))

    @property
    def has_digit(self) -> bool:
        return any(c.isdigit() for c in self.text)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Lower case, no accents (`ñ` becomes `n`: unaccented Spanish is found), no English `'s`."""
    return _unaccented(text).casefold().removesuffix("'s")


def _unaccented(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def words(text: str) -> list[Word]:
    """The words of a text in order, function words included."""
    return [Word(m.group(), fold(m.group()), m.start()) for m in _WORD.finditer(text)]


@lru_cache(maxsize=65536)
def stem(folded: str, language: str) -> str:
    """Snowball stem of a folded word; unchanged in a language without a stemmer."""
    stemmer = _STEMMERS.get(language)
    return stemmer.stemWord(folded) if stemmer else folded


def parts(word: Word) -> tuple[str, ...]:
    """The words inside a compound: `max_output_tokens`, `useState`, `e5-small`; else nothing."""
    return _parts(word.text)


@lru_cache(maxsize=65536)
def _parts(text: str) -> tuple[str, ...]:
    if fold(text).replace(".", "").replace(",", "").isdigit():
        return ()
    pieces = re.split(r"[\W_]+", _unaccented(text).removesuffix("'s"))
    found = tuple(part.casefold() for piece in pieces for part in _CAMEL.findall(piece))
    return found if len(found) > 1 else ()


@lru_cache(maxsize=2048)
def vocabulary(text: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The folded words of a text, function words and parts of compounds included, and their stems."""
    found = words(text)
    held = frozenset(w.folded for w in found) | {p for w in found for p in parts(w)}
    return held, frozenset(stem(w, language) for w in held)


def is_empty(folded: str) -> bool:
    """Whether the word carries no subject in either language."""
    return folded in _ALL_EMPTY


def content_words(text: str) -> list[Word]:
    """The words that carry a text's subject, each once, in order."""
    seen: dict[str, Word] = {}
    for word in words(text):
        is_letter = len(word.folded) == 1 and not word.folded.isdigit()
        short = is_letter and not (word.text.isupper() and word.start > 0)  # "R" and "C" are names
        if not is_empty(word.folded) and not short:
            seen.setdefault(word.folded, word)
    return list(seen.values())


def stems(text: str, language: str) -> frozenset[str]:
    """Those of the content words, compounds whole."""
    return frozenset(stem(word.folded, language) for word in content_words(text))


def terms(text: str, language: str) -> list[str]:
    """Stems of the content words in order, with the parts of compounds."""
    found: list[str] = []
    for word in words(text):
        if is_empty(word.folded):
            continue
        found.append(stem(word.folded, language))
        found.extend(stem(part, language) for part in parts(word) if not is_empty(part))
    return found


@lru_cache(maxsize=65536)
def rarity(folded: str) -> float:
    """0 for an everyday word, 1 for one that hardly occurs in English or Spanish text.

    From its Zipf frequency: 5.5 and more counts 0, 3 and less counts 1.
    """
    most = max(zipf(folded, language) for language in EMPTY_WORDS)
    return min(1.0, max(0.0, (5.5 - most) / 2.5))


def zipf(folded: str, language: str) -> float:
    """Log10 of a word's occurrences in a billion words (wordfreq); 1 for one that it lacks."""
    frequency = _frequencies(language).get(folded)
    return max(1.0, math.log10(frequency) + 9) if frequency else 1.0


@cache
def _frequencies(language: str) -> dict[str, float]:
    """Relative frequencies by folded word: accents are often left out in a chat."""
    folded: dict[str, float] = {}
    for word, frequency in get_frequency_dict(language, wordlist="small").items():
        key = fold(word)
        folded[key] = folded.get(key, 0.0) + frequency
    return folded
