"""What a question takes for granted, and whether a quote holds it."""

from __future__ import annotations

import pytest

from rag.answer.interview.premise import Premise
from rag.answer.interview.question_verb import Done, predicate
from rag.types import Language


@pytest.mark.parametrize(
    ("question", "language", "verb", "doer"),
    [
        ("Why did she refuse the medal?", "en", "refuse", None),
        ("When did her mother die?", "en", "die", "mother"),
        ("Why did Stone burn her letters?", "en", "burn", "stone"),
        ("Who painted her portrait?", "en", "painted", None),
        ("What machine did Stone sketch in 1834?", "en", "sketch", "stone"),
        ("Why was she convicted?", "en", "convicted", None),
        ("Did she ever try to fly?", "en", "fly", None),
        ("Did she go to prison?", "en", "prison", None),
        ("¿Por qué rechazó la medalla?", "es", "rechazo", None),
        ("¿Cuándo murió su madre?", "es", "murio", "madre"),
        ("¿Por qué se hizo sacerdote?", "es", "sacerdote", None),
        ("¿Qué novela escribió?", "es", "escribio", None),
    ],
)
def test_the_verb_of_a_question_is_found_by_its_place(
    question: str, language: Language, verb: str, doer: str | None
) -> None:
    assert predicate(question, language) == Done(verb, doer)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How old was she when her father left?", "en"),
        ("What did she do in Leeds?", "en"),
        ("¿Qué hizo en León?", "es"),
        ("Salts?", "en"),
        ("What animal appears in her letters?", "en"),
        ("What did her mother's father do?", "en"),
    ],
)
def test_a_form_that_leaves_the_verb_open_has_none(question: str, language: Language) -> None:
    assert predicate(question, language) is None


@pytest.mark.parametrize(
    ("question", "language", "quote"),
    [
        ("Who taught her salts?", "en", "Ann Reed would teach her about salts."),
        ("What did Reed add to the kiln?", "en", "Reed improved the kiln with an addition."),
        ("When did her mother die?", "en", "Her mother died in 1870."),
        ("How many notes did she publish?", "en", "She published seven notes."),
        ("Who was her second teacher?", "en", "Reed was her second teacher."),
        ("When did Stone sign the will?", "en", "Queen Stone II of Hull, a Reed, signed the will."),
        (
            "¿Qué cargo le ofreció Vega?",
            "es",
            "Vega, jefe del Consejo de Ministros, le ofreció un cargo.",
        ),
        ("¿Cuándo murió su madre?", "es", "En 1870 iba a morir su madre."),
        ("¿Cuántas cartas escribió?", "es", "Escribió siete cartas."),
    ],
)
def test_a_quote_that_says_so_holds_it(question: str, language: Language, quote: str) -> None:
    assert Premise.of(question, language).lacking(quote, "", "", "") is None


@pytest.mark.parametrize(
    ("question", "language", "quote"),
    [
        ("Why did she refuse the medal?", "en", "She got the medal of the Society in 1890."),
        ("When did her mother die?", "en", "She died in Leeds in 1901."),
        ("When did her mother die?", "en", "Her mother and her aunt Ann Reed, who died in 1822."),
        ("Who was her second husband?", "en", "Her husband was the second mayor of Hull."),
        ("How many sisters did she have?", "en", "She was named after a sister in 1852."),
        ("¿Por qué rechazó la medalla?", "es", "Recibió la medalla en 1890."),
        ("¿Cómo murió su madre?", "es", "Murió en Madrid, en su casa."),
        ("¿Quién fue su segunda mujer?", "es", "Su mujer fue la segunda alcaldesa."),
    ],
)
def test_a_wrong_premise_is_missing_in_the_quote(
    question: str, language: Language, quote: str
) -> None:
    assert Premise.of(question, language).lacking(quote, "", "", "")


def test_the_heading_says_what_a_sentence_leaves_out() -> None:
    convicted = Premise.of("Why was she convicted?", "en")
    assert convicted.lacking("She had sold salts without a licence.", "Conviction", "", "") is None
    assert convicted.lacking("She had sold salts without a licence.", "Work", "", "")


def test_a_heading_alone_is_not_what_was_asked_for() -> None:
    cuba = Premise.of("¿Qué hizo en Cuba?", "es")
    assert cuba.lacking("Sirvió en Lérida.", "Médico en Cuba", "", "") == "cuba"
    assert cuba.lacking("Dirigió un hospital.", "", "Lo destinaron a Cuba.", "") is None


def test_a_neighbour_may_hold_the_verb_when_the_quote_holds_the_rest() -> None:
    burned = Premise.of("When did she burn the letters?", "en")
    assert burned.lacking("The letters went in 1880.", "", "", "She burned them all.") is None
    told = "She burned them all."
    assert burned.lacking("Ann saw it in 1880.", "The letters", told, "") is None
    assert burned.lacking("That was in 1880.", "", "", "She burned them all.")


def test_a_pronoun_means_what_its_own_paragraph_names() -> None:
    refused = Premise.of("¿Por qué rechazó el premio?", "es")
    sentence = "Dudó, y finalmente lo rechazó."
    assert refused.lacking(sentence, "El premio", "Le ofrecieron un ministerio.", "") == "premio"
    assert refused.lacking(sentence, "El premio", "Le ofrecieron el premio.", "") is None
    assert refused.lacking(sentence, "El premio", "", "") is None
