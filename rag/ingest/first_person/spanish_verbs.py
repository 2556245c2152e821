"""Spanish verbs from the third person singular to the first: nació → nací, fue → fui, ha → he.

Only the tenses that differ are of interest: preterite, present and future. The infinitive behind a
form is looked up among the words of `wordfreq`, which the search needs anyway; the conjugating
libraries for Python either want an older numpy than everything else here or get "murió" wrong.
Rules: RAE, "Nueva gramática de la lengua española", §4 (verbal inflection).
"""

from __future__ import annotations

import re
from functools import cache

from wordfreq import get_frequency_dict

_PRETERITE = {"fue": "fui", "dio": "di", "vio": "vi", "hizo": "hice", "satisfizo": "satisfice",
              "rehizo": "rehice", "deshizo": "deshice"}  # fmt: skip
_STRONG = re.compile(r"(?P<stem>\w*(?:tuv|anduv|pud|pus|sup|cup|hub|quis|vin|dij|traj|duj))o")
_PRESENT = {
    "es": "soy", "está": "estoy", "ha": "he", "va": "voy", "da": "doy", "tiene": "tengo",
    "viene": "vengo", "hace": "hago", "dice": "digo", "sabe": "sé", "pone": "pongo",
    "sale": "salgo", "cae": "caigo", "trae": "traigo", "oye": "oigo", "ve": "veo", "cabe": "quepo",
    "vale": "valgo", "puede": "puedo", "quiere": "quiero", "debe": "debo", "suele": "suelo",
}  # fmt: skip
_COMPOUND = re.compile(r"(?P<before>\w+)(?P<verb>tiene|viene|pone|hace|face|dice|trae|sale|cae|ve)")
_BASE = {"tiene": "tener", "viene": "venir", "pone": "poner", "hace": "hacer", "face": "facer",
         "dice": "decir", "trae": "traer", "sale": "salir", "cae": "caer", "ve": "ver"}  # fmt: skip
_SHORT_FUTURE = frozenset("será dará irá hará dirá verá oirá".split())


_IMPERFECT = {"era": "ser", "iba": "ir", "había": "haber", "podía": "poder", "podría": "poder",
              "veía": "ver", "haría": "hacer", "diría": "decir", "tendría": "tener",
              "venía": "venir"}  # fmt: skip
_UNACCENTED = str.maketrans("íú", "iu")


@cache
def infinitives() -> dict[str, float]:
    """Words that end like an infinitive, with their frequency."""
    words = get_frequency_dict("es", wordlist="best")
    return {w: f for w, f in words.items() if re.fullmatch(r"\w+(?:[aei]r|ír)", w)}


def preterite(form: str) -> tuple[str, str] | None:
    """(first person singular, infinitive) of a preterite's third; None for any other word."""
    if form in {"previo", "entrevio"}:
        return None  # an adjective far more often
    if form in _PRETERITE:
        return _PRETERITE[form], {"fue": "ser", "dio": "dar", "vio": "ver"}.get(form, "hacer")
    strong = _STRONG.fullmatch(form)
    if strong:
        return strong["stem"] + "e", _strong_infinitive(strong["stem"])
    if not form.endswith("ó"):
        return None
    candidates: list[tuple[str, str]] = []
    if form.endswith(("ió", "yó")):
        stem = form[:-2]
        candidates += [(stem + "í", stem + "er")] if stem else []
        candidates += [(i + "í", i + e) for i in _unchanged(stem) for e in ("ir", "ír")]
    if form.endswith("ñó"):
        candidates += [(i + "í", i + "ir") for i in _unchanged(form[:-1])]
    candidates.append((_hardened(form[:-1]) + "é", form[:-1] + "ar"))
    known = infinitives()
    found = [c for c in candidates if c[1] in known]
    if not found and not form.endswith(("ió", "yó")) and len(form) > 4:
        return candidates[-1]  # a rare verb: doctoró
    return max(found, key=lambda c: known[c[1]], default=None)


def present(form: str) -> tuple[str, str] | None:
    """(first person singular, infinitive) of a present's third; None for any other word."""
    if form in _PRESENT:
        return _PRESENT[form], form
    compound = _COMPOUND.fullmatch(form)
    known = infinitives()
    if (
        compound
        and (compound["verb"] != "ve" or compound["before"] in {"pre", "entre"})
        and (whole := compound["before"] + _BASE[compound["verb"]]) in known
    ):
        first = "fago" if compound["verb"] == "face" else _PRESENT[compound["verb"]]
        return compound["before"] + first, whole
    if form.endswith("a"):
        found = [s + "ar" for s in _undiphthonged(form[:-1]) if s + "ar" in known]
        return (form[:-1] + "o", found[0]) if found else None
    if not form.endswith("e"):
        return None
    stem = form[:-1]
    endings = ("er", "ir", "ír")
    found = [s + e for s in _undiphthonged(stem) for e in endings if s + e in known]
    if not found:
        return None
    if re.search(r"[aeiou]c$", stem):
        return stem[:-1] + "zco", found[0]
    for old, new in (("gu", "g"), ("qu", "c"), ("g", "j"), ("c", "z")):
        if stem.endswith(old):
            return stem[: -len(old)] + new + "o", found[0]
    return stem + "o", found[0]


def future(form: str) -> tuple[str, str] | None:
    """(first person singular, infinitive) of a future's third; None for any other word."""
    if form in _SHORT_FUTURE or (form.endswith("rá") and len(form) > 4):
        return form[:-1] + "é", form[:-1]
    return None


def imperfect(form: str) -> str | None:
    """The infinitive of an imperfect or conditional, whose first and third persons are the same."""
    if form in _IMPERFECT:
        return _IMPERFECT[form]
    known = infinitives()
    if form.endswith("aba"):
        return form[:-3] + "ar" if form[:-3] + "ar" in known else None
    if form.endswith("ía") and len(form) > 4:
        stem = form[:-2]
        whole = [stem, *(stem + e for e in ("er", "ir", "ír"))]
        return next((w for w in whole if w in known), None)
    return None


def is_plural(form: str) -> bool:
    """Whether a word is a verb's third person plural in a past tense or the commonest presents."""
    if form in {"son", "eran", "fueron", "han", "habían", "están", "iban", "dieron", "vieron", "tienen",
                "hacen", "van"}:  # fmt: skip
        return True
    known = infinitives()
    if form.endswith("aron") or form.endswith("aban"):
        return form[:-4] + "ar" in known
    if form.endswith("ieron"):
        return _STRONG.fullmatch(form[:-5] + "o") is not None or any(
            inner + e in known for inner in _unchanged(form[:-5]) for e in ("er", "ir", "ír")
        )
    if form.endswith("yeron") or form.endswith("jeron"):
        return True
    return form.endswith("ían") and any(form[:-3] + e in known for e in ("er", "ir"))


def _strong_infinitive(stem: str) -> str:
    for past, whole in (("anduv", "andar"), ("estuv", "estar"), ("tuv", "tener"), ("pud", "poder"),
                        ("pus", "poner"), ("sup", "saber"), ("cup", "caber"), ("hub", "haber"),
                        ("quis", "querer"), ("vin", "venir"), ("dij", "decir"), ("traj", "traer"),
                        ("duj", "ducir")):  # fmt: skip
        if stem.endswith(past):
            return stem.removesuffix(past) + whole
    return stem


def _unchanged(stem: str) -> list[str]:
    """The stem, and what it was before e became i or o became u: sirv → serv, mur → mor."""
    stems = [stem]
    vowel = re.search(r"[iu](?=(?:[gq]u)?[^aeiou]*$)", stem)
    if vowel:
        stems.append(
            stem[: vowel.start()] + {"i": "e", "u": "o"}[vowel.group()] + stem[vowel.end() :]
        )
    if stem.endswith("r") or len(stem) < 3:
        stems.append(stem + "e")  # rió: reír
    return stems


def _undiphthonged(stem: str) -> list[str]:
    stems = [stem, stem.translate(_UNACCENTED)]
    for double, single in (
        ("ie", "e"),
        ("ie", "i"),
        ("ue", "o"),
        ("ue", "u"),
        ("üe", "o"),
        ("i", "e"),
        ("í", "e"),
    ):
        at = stem.rfind(double)
        if at >= 0:
            stems.append(stem[:at] + single + stem[at + len(double) :])
    if stem.endswith("y"):
        stems.append(stem[:-1])
    return stems


def _hardened(stem: str) -> str:
    """What keeps its sound before é: publiqu-, llegu-, empec-, averigü-."""
    for soft, hard in (("gu", "gü"), ("c", "qu"), ("g", "gu"), ("z", "c")):
        if stem.endswith(soft):
            return stem[: -len(soft)] + hard
    return stem
