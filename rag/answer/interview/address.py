"""A question to the subject as a question about the subject, for the search.

The page says "she was born", so "Where were you born?" searches for "Where was she born?". What the
model and the check see stays as it was typed.
"""

from __future__ import annotations

import re

from rag.ingest.first_person.spanish_verbs import infinitives
from rag.search import analyse
from rag.types import Card, Language

_PRONOUNS = {"m": ("he", "his"), "f": ("she", "her")}
_ASKED_AS = {
    "he": r"\byou\b",
    "she": r"\byou\b",
    "his": r"\byour",
    "her": r"\byou",
    "him": r"\byou\b",
}
_OBJECT = {"m": "him", "f": "her"}
_AS_OBJECT = re.compile(
    r"\b(?P<before>(?:to|of|about|with|for|from|by|after|against|like)\s+)you\b"
    r"|(?P<who>\bwho (?!(?:else )?(?:do|did|have|had|can|could|would|will|should)\b)\w+ )you\b"
    r"|\byou(?=\s*[?.!]|\s*$|\s+(?:to|in|at|for|with|from|by|of|as)\b)",
    re.I,
)
_ENGLISH: tuple[tuple[str, str], ...] = (
    (r"\bwere you\b", "was {he}"),
    (r"\b(?:are you|you are|you're)\b", "is {he}"),
    (r"\bdo you\b", "does {he}"),
    (r"\b(?:have you)\b", "has {he}"),
    (r"\b(did|had|can|could|would|will|should) you\b", r"\1 {he}"),
)
_ENGLISH_REST: tuple[tuple[str, str], ...] = (
    (r"\byou were\b", "{he} was"),
    (r"\b(?:you|yourself)(?:'d|'ll|'ve)?\b", "{he}"),
    (r"\byours?\b", "{his}"),
)
_SPANISH_VERBS: tuple[tuple[str, str], ...] = (
    (r"fuiste", "fue"), (r"hiciste", "hizo"), (r"tuviste", "tuvo"), (r"estuviste", "estuvo"),
    (r"pudiste", "pudo"), (r"pusiste", "puso"), (r"quisiste", "quiso"), (r"viniste", "vino"),
    (r"dijiste", "dijo"), (r"supiste", "supo"), (r"viste", "vio"), (r"diste", "dio"),
    (r"(\w+)trajiste", r"\1trajo"), (r"(\w+)dujiste", r"\1dujo"), (r"(\w+)tuviste", r"\1tuvo"),
    (r"(\w+)pusiste", r"\1puso"), (r"(\w*[aeo])íste", r"\1yó"), (r"(\w*u)iste", r"\1yó"),
    (r"(\w{2,})aste", r"\1ó"),
    (r"eres", "es"), (r"eras", "era"), (r"estás", "está"), (r"has", "ha"), (r"tienes", "tiene"),
    (r"(\w+)abas", r"\1aba"), (r"sabes", "sabe"), (r"haces", "hace"),
    (r"recuerdas", "recuerda"), (r"piensas", "piensa"), (r"opinas", "opina"), (r"crees", "cree"),
    (r"vives", "vive"), (r"trabajas", "trabaja"),
)  # fmt: skip
_NOT_VERBS = frozenset("triste chiste existe asiste insiste consiste quiste resiste".split())
_EVERYDAY = 3.0
"""Zipf frequency of an infinitive that people use."""
_SPANISH_WORDS = {"tu": "su", "tus": "sus", "tuyo": "suyo", "tuya": "suya", "te": "le", "ti": "él",
                  "contigo": "con él", "tú": "", "usted": ""}  # fmt: skip


def spoken_of(question: str, card: Card, language: Language) -> str:
    """The question as the page would have it: "Where was she born?", "¿Dónde nació?".

    This is what is searched. Every passage is about the subject, so the name would only pull towards
    those that repeat it: with it the right section came first for 41 % of the battery's questions,
    with a pronoun for 93 %.
    """
    text = _spanish(question) or question if language == "es" else _english(question, card)
    he, his = ("", "su") if language == "es" else _PRONOUNS[card.gender]
    for name in (card.name, *card.names):
        text = re.sub(rf"\b{re.escape(name)}(?:'s|’s)", his, text)
        # "a Turing machine", "the Lovelace family" are things.
        text = re.sub(rf"(?<!\ba )(?<!\ban )(?<!\bthe )\b{re.escape(name)}\b", he, text)
    return " ".join(text.split())


def about(question: str, card: Card, language: Language) -> str:
    """The question about the subject by name, as a reader of the answer object would want it."""
    if language == "es":
        text = _spanish(question)
        if text is None:
            return question
        bare = text.rstrip("?").rstrip()
        return f"{bare} ({card.name})?" if text.endswith("?") else f"{text} ({card.name})"
    text = _english(question, card)
    if text == question:
        return question
    he, his = _PRONOUNS[card.gender]
    for pronoun, name in (
        (he, card.name),
        (his, f"{card.name}'s"),
        (_OBJECT[card.gender], card.name),
    ):
        said = re.sub(rf"\b{pronoun}\b", name, text, count=1)
        if said != text and re.search(_ASKED_AS[pronoun], question, re.I):
            return said
    return text


def _english(question: str, card: Card) -> str:
    he, his = _PRONOUNS[card.gender]
    him = _OBJECT[card.gender]
    text = question.replace("’", "'")
    for pattern, said in _ENGLISH:
        text = re.sub(pattern, said.format(he=he), text, flags=re.I)
    text = _AS_OBJECT.sub(lambda m: (m["before"] or m["who"] or "") + him, text)
    for pattern, said in _ENGLISH_REST:
        text = re.sub(pattern, said.format(he=he, his=his), text, flags=re.I)
    return text[:1].upper() + text[1:]


def _spanish(question: str) -> str | None:
    """With third-person verbs and possessives; None when nobody is spoken to."""
    pieces: list[str] = []
    at = 0
    for word in re.finditer(r"[^\W\d_]+", question):
        low = word.group().lower()
        said = _SPANISH_WORDS.get(low)
        if said is None and low not in _NOT_VERBS:
            said = next(
                (re.sub(f"^{p}$", r, low) for p, r in _SPANISH_VERBS if re.fullmatch(p, low)),
                _third_of_iste(low) or _third_of_ias(low),
            )
            if said is not None and pieces[-1:] == ["le"] and question[at : word.start()] == " ":
                pieces[-1] = "se"  # "te casaste" is "se casó"; "te dieron" stays "le dieron"
        if said is None and _is_enclitic(low):
            said = low[:-2] + "le"
        if said is not None:
            said = said[:1].upper() + said[1:] if word.group()[0].isupper() else said
            pieces += [question[at : word.start()], said]
            at = word.end()
    return " ".join("".join([*pieces, question[at:]]).split()) if pieces else None


def _third_of_ias(form: str) -> str | None:
    """ "vivías" → "vivía", but not "manías"."""
    stem = form.removesuffix("ías")
    verbs = [v for v in (stem, f"{stem}er", f"{stem}ir") if v in infinitives()]
    known = any(analyse.zipf(verb, "es") >= _EVERYDAY for verb in verbs)
    return f"{stem}ía" if stem != form and known else None


def _is_enclitic(form: str) -> bool:
    """Whether "te" hangs on an infinitive: "leerte", but not "muerte"."""
    bare = form.removesuffix("te")
    rarer = analyse.zipf(form, "es") < analyse.zipf(bare, "es")
    return bare != form and bare in infinitives() and rarer


def _third_of_iste(form: str) -> str | None:
    """ "saliste" → "salió"; verbs in -ir narrow their last vowel: "moriste" → "murió"."""
    stem = form.removesuffix("iste")
    if stem == form or not stem:
        return None
    known = infinitives()
    narrowed = re.sub(r"[eo](?=[^aeiou]+$)", lambda m: {"e": "i", "o": "u"}[m.group()], stem)
    is_ir = known.get(stem + "ir", 0.0) > known.get(stem + "er", 0.0)
    return (narrowed if is_ir else stem) + "ió"
