"""The verb of a question, found by its place, and the verb behind an irregular form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rag.answer.interview.relevance import is_light, says_nothing
from rag.ingest.first_person.spanish_verbs import imperfect, present, preterite
from rag.search import analyse
from rag.types import Language

# Base form and past forms that a stemmer doesn't bring together.
_IRREGULAR = """become became; begin began begun; bear bore born; beat beaten; bite bit bitten; blow blew
blown; break broke broken; bring brought; build built; burn burnt; buy bought; catch caught;
choose chose chosen; come came; deal dealt; die died dying death; dig dug; draw drew drawn;
dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feel
felt; fight fought; find found; fly flew flown flight; forbid forbade forbidden; forget forgot
forgotten; forgive forgave forgiven; freeze froze frozen; give gave given; go went gone; grow
grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew known; lay
laid; lead led; learn learnt; leave left; lend lent; lie lay lain; light lit; lose lost loss;
marry marriage; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise rose
risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken;
shine shone; shoot shot; sing sang sung; sink sank sunk; sit sat; sleep slept; speak spoke
spoken speech; spend spent; stand stood; steal stole stolen; stick stuck; strike struck; swear
swore sworn; swim swam swum; take took taken; teach taught; tear tore torn; tell told; think
thought; throw threw thrown; understand understood; wake woke woken; wear wore worn; weep wept;
win won; write wrote written"""
_DO = frozenset("did does do didn't doesn't don't".split())
_BE = frozenset("was were is are am been has have had could would can will should".split())
_PRONOUNS = frozenset("i he she it they we you there".split())
_DETERMINERS = frozenset("a an the his her my your their its this that".split())
_THROUGH = frozenset(
    """a an the his her its their any some ever never to in on el la los las un una su sus de del en
    al""".split()
)
"""What may stand between a verb that says little and the word that says more."""
_APART = frozenset(
    """when while after before that which who whom whose as with of for from by at about because if
    cuando mientras como quien con por para""".split()
)
_EMPTY_VERBS = frozenset(
    "do say think know want need make get use write work mean tell give show let like talk".split()
)
_LIGHT_SPANISH = frozenset(
    """ser estar haber tener hacer ir dar decir poder querer llamar venir pasar poner ver saber creer
    opinar pensar gustar contar recordar tratar dedicar llevar quedar llegar empezar encontrar deber
    soler seguir volver ocurrir suceder significar parecer vivir""".split()
)
_NO_VERB_AFTER = frozenset(
    """el la los las un una unos unas su sus de del en con por para a al que cuanto cuanta cuantos cuantas
    cual cuales""".split()
)


@dataclass(frozen=True)
class Done:
    """What a question says was done."""

    verb: str
    """Folded. After a verb that says little, the next word that says more."""
    doer: str | None
    """Folded: the noun or last name before the verb, when that isn't a pronoun."""


def predicate(question: str, language: Language) -> Done | None:
    """What a question says was done; None where its form leaves that open."""
    words = analyse.words(question)
    return _spanish(words) if language == "es" else _english(words)


@cache
def verbs_of(folded: str, language: Language) -> tuple[str, ...]:
    """The verbs that a word may be a form of, beside what a stemmer sees."""
    if language == "es":
        forms = [folded] if not folded.endswith(("o", "ia")) else [folded, _accented(folded)]
        found = [_infinitive(form) for form in forms]
        return tuple(dict.fromkeys(analyse.fold(verb) for verb in found if verb))
    return _past_of().get(folded, ())


@cache
def _past_of() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _IRREGULAR.split(";"):
        base, *forms = line.split()
        for form in forms:
            found[form] = (*found.get(form, ()), base)
    return found


def _english(words: Sequence[analyse.Word]) -> Done | None:
    said = [word.folded for word in words]
    at = next((i for i, w in enumerate(said) if w in _DO or w in _BE), None)
    opens = said[0] if said else ""
    if at is None or (opens == "who" and at > 1):
        return _telling(words, 1, None, "en") if opens == "who" else None
    after = at + 1
    if after < len(said) and said[after] in _PRONOUNS:
        return _telling(words, after + 1, None, "en")
    if after < len(said) and said[after] in _DETERMINERS:
        after += 1
    end = after
    while end < len(said) and said[end] not in analyse.EMPTY_WORDS["en"]:
        end += 1
    run = list(range(after, end))
    plain = [i for i in run if not words[i].text[0].isupper()]
    if not plain:
        return _telling(words, end, said[run[-1]], "en") if run and said[at] in _DO else None
    last = plain[-1]
    doer = said[last - 1] if last > after else None
    says_little = end < len(said) and said[end] in _EMPTY_VERBS
    if said[at] in _DO and (doer is None or says_little):
        return _telling(words, end, said[last], "en")  # "did your brother become": it says little
    if said[at] in _DO:
        return _telling(words, last, doer, "en")
    return Done(said[last], None) if not is_light(said[last], "en") else None


def _telling(
    words: Sequence[analyse.Word], start: int, doer: str | None, language: Language
) -> Done | None:
    """The first word from a place on that says something; a name says who, not what."""
    for i, word in enumerate(words[start:]):
        if word.text[0].isupper() or word.has_digit:
            return None
        if not is_light(word.folded, language):
            return Done(word.folded, None if i else doer)
        if word.folded in _APART or (
            i and word.folded in analyse.EMPTY_WORDS[language] and word.folded not in _THROUGH
        ):
            return None
    return None


def _spanish(words: Sequence[analyse.Word]) -> Done | None:
    at = next((i for i in range(len(words)) if _is_verb(words, i)), None)
    if at is None:
        return None
    verb = words[at]
    doer = None
    after = words[at + 1 : at + 3]
    if len(after) == 2 and after[0].folded in {"su", "sus"} and not after[1].text[0].isupper():
        doer = after[1].folded
    elif after and after[0].text[0].isupper():
        doer = after[0].folded
    infinitive = _infinitive(verb.text.lower()) or ""
    if doer and (says_nothing(doer, "es") or doer.startswith(("primer", "segund", "tercer"))):
        doer = None
    if infinitive in _LIGHT_SPANISH or verb.folded.startswith("llam"):
        done = _telling(words, at + 1, None, "es")
        return done
    return Done(verb.folded, doer)


def _is_verb(words: Sequence[analyse.Word], i: int) -> bool:
    form = words[i].text.lower()
    if words[i].text[0].isupper() and i > 0:
        return False
    if preterite(form) or imperfect(form):
        return True
    if words[i].folded in analyse.EMPTY_WORDS["es"]:
        return False
    before = words[i - 1].folded if i else ""
    return before not in _NO_VERB_AFTER and present(form) is not None


def _infinitive(form: str) -> str | None:
    past = preterite(form)
    if past:
        return past[1]
    now = present(form)
    return imperfect(form) or (now[1] if now else None)


def _accented(folded: str) -> str:
    return folded[:-1] + "ó" if folded.endswith("o") else folded[:-2] + "ía"
