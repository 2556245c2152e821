"""English words that turning a sentence needs to know, and sentences as words."""

from __future__ import annotations

import re
from dataclasses import dataclass

TOKEN = re.compile(r"[A-Za-zÀ-ÿ]+(?:[-'’][A-Za-zÀ-ÿ]+)*|\d[\d.,–-]*|\S")
QUOTED = re.compile(r"\"[^\"]*\"?|“[^”]*”?|‘[^’]*’(?=\W|$)|«[^»]*»?|(?<=[\s(])'[^']{2,}'(?=\W|$)")
PRONOUNS = {
    "m": {"he": "nom", "him": "obj", "his": "poss", "himself": "self"},
    "f": {"she": "nom", "her": "her", "hers": "own", "herself": "self"},
}
CONTRACTED = {"he's": "I'm", "she's": "I'm", "he'd": "I'd", "she'd": "I'd", "he'll": "I'll",
               "she'll": "I'll"}  # fmt: skip
OWN_ROLES = {
    "m": r"(?:the|this|a much-loved|the young|the little) (?:boy|son|young man)\b|the (?:two )?boys\b|"
    r"\bhe(?:r|rs) (?:husband|boyfriend|fianc[ée])\b",
    "f": r"(?:the|this|the young|the little) (?:girl|daughter|young woman|lady)\b|the (?:two )?girls\b|"
    r"\bhis (?:(?:first|second|late|future|new) )?(?:wife|widow|girlfriend|fianc[ée]e)\b|"
    r"\bmother and daughter\b",
}
OWN_ROLE = r"\b(?:the (?:child|baby|infant|author|pupil)(?:['’]s)?\b|sole daughter)"
AUXILIARY = {"is": "am", "has": "have", "does": "do", "isn't": "am not", "hasn't": "haven't",
              "doesn't": "don't", "was": "was", "wasn't": "wasn't"}  # fmt: skip
PAST_OR_MODAL = frozenset(
    """was were had did could would should might must may can will shall became began came went took
    gave made said told wrote won lost led left met found felt fell held kept knew grew got ran read
    saw sent set spent spoke stood taught thought understood wore rose rode drew drove fought built
    bought brought broke chose sold sat slept sang swam threw flew fled died dealt laid put cut let
    hit beat bore bound caught crept dug ate forgot forgave froze hid hung hurt lay lent lit meant
    paid quit rang sank shot shook shone showed shut sought sprang stole struck swore tore woke wept
    withdrew overcame undertook foresaw retook remade rebuilt resold""".split()
)
NO_VERB_S = frozenset(
    "always perhaps besides sometimes afterwards nevertheless nonetheless thus as this his its us "
    "towards others once twice indeed previous various serious famous".split()
)
DITRANSITIVE = frozenset(
    """gave give gives giving given lent lend sent send sending told tell telling taught teach teaching
    offered offer showed show asked ask asking set bought brought paid awarded granted left earned cost
    wrote denied allowed wished promised handed made got""".split()
)
CAUSING = frozenset("help helped helping let make making made".split())
AFTER_OBJECT = frozenset(
    """a an the this that these those some any all in on at to from with without by for of as into onto
    upon over under about against between through during before after until till since and or but nor
    so if when while because where why how what which who whom whether than then there here again too
    also either neither once never ever always often still later soon away back up down out off home
    not no more most one two three i he it they we you him them us is was were had has have would
    could should might must may can will did does do""".split()
)
NAMING = frozenset(
    "called named known as nicknamed titled entitled christened dubbed renamed".split()
)
SUBORDINATE = frozenset(
    """that which who when while because since where if although though as until before after once
    whether why how what so and but or yet then""".split()
)
PREPOSITIONS = frozenset(
    """of in on at to from with without by for as into onto upon over under about against between
    through during among like including behind beside near than""".split()
)
KIN = frozenset("parents family children sons daughters brothers sisters teachers friends".split())
OLD = frozenset("young little old poor dear late fellow".split())


@dataclass
class Word:
    text: str
    start: int
    end: int
    quoted: bool

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")


TITLES = frozenset("mr mr. mrs mrs. ms ms. miss sir lord lady dr dr. professor prof. saint st. "
                    "king queen".split())  # fmt: skip


def tokenise(sentence: str) -> list[Word]:
    quoted = [m.span() for m in QUOTED.finditer(sentence)]
    return [
        Word(m.group(), m.start(), m.end(), any(s <= m.start() < e for s, e in quoted))
        for m in TOKEN.finditer(sentence)
    ]


def first_form(verb: str) -> str:
    """ "writes" → "write", "studies" → "study", "goes" → "go"."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("oes", "shes", "ches", "sses", "xes", "zzes")):
        return verb[:-2]
    return verb[:-1]


def polished(sentence: str) -> str:
    """Capitals at the start, and "my sister and I" for "I and my sister"."""
    sentence = re.sub(
        r"^I and (my \w+)\b", lambda m: f"{m[1][:1].upper()}{m[1][1:]} and I", sentence
    )
    sentence = re.sub(r"\bI and (my \w+|[A-ZÀ-Þ]\w+(?: [A-ZÀ-Þ]\w+)*)\b", r"\1 and I", sentence)
    return sentence[:1].upper() + sentence[1:]
