"""Sentences about a person in the first person: what is turned, and what is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag.ingest.chunk import chunk
from rag.ingest.first_person import spanish_verbs as verbs
from rag.ingest.first_person.card import card_of
from rag.ingest.first_person.english import EnglishTurner
from rag.ingest.first_person.spanish import SpanishTurner
from rag.ingest.first_person.subject import Subject, find_subject
from rag.ingest.first_person.turn import first_person, turned
from rag.types import Block, Document

MARIE = Subject("Marie Stone", "f", "en", "Marie Stone", frozenset({"Marie", "Stone"}), True)
PETER = Subject("Peter Holm", "m", "en", "Peter Holm", frozenset({"Peter", "Holm"}), True)
LUIS = Subject("Luis Vega", "m", "es", "Luis Vega", frozenset({"Luis", "Vega"}), True)
ELENA = Subject("Elena Ruiz", "f", "es", "Elena Ruiz", frozenset({"Elena", "Ruiz"}), True)


def english(subject: Subject, *sentences: str) -> list[str | None]:
    turner = EnglishTurner(subject, " ".join(sentences))
    return [turner.turn(sentence) for sentence in sentences]


def spanish(subject: Subject, *sentences: str) -> list[str | None]:
    turner = SpanishTurner(subject, " ".join(sentences))
    return [turner.turn(sentence) for sentence in sentences]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("She was born in 1852.", "I was born in 1852."),
        ("Stone was born in Hull.", "I was born in Hull."),
        ("Her father taught her Latin.", "My father taught me Latin."),
        ("Her mother gave her a telescope.", "My mother gave me a telescope."),
        ("In 1871 she met John Reed, who hired her.", "In 1871 I met John Reed, who hired me."),
        ("The house was hers.", "The house was mine."),
        ("She taught herself Greek.", "I taught myself Greek."),
        ("Marie's notes were lost.", "My notes were lost."),
        ("She is a chemist.", "I am a chemist."),
        ("She and her brother founded a school.", "My brother and I founded a school."),
        ("After her marriage she moved to Leeds.", "After my marriage I moved to Leeds."),
        ("The treatment of Stone was harsh.", "The treatment of me was harsh."),
    ],
)
def test_english_about_the_subject(said: str, told: str) -> None:
    assert english(MARIE, said) == [told]


def test_a_verb_in_the_present_agrees() -> None:
    assert english(PETER, "He lives in Oslo.") == ["I live in Oslo."]
    assert english(PETER, "He is a painter.") == ["I am a painter."]
    assert english(PETER, "He has studied birds.") == ["I have studied birds."]
    # The second verb would have to follow, and may as well be a noun.
    assert english(PETER, "He lives in Oslo and paints boats.") == [None]


@pytest.mark.parametrize(
    "said",
    [
        "The bridge fell in 1870.",
        "The Stone Medal is awarded each year.",
        "The crater Stone lies near the pole.",
        "He owned two mills.",
    ],
)
def test_what_does_not_speak_of_her_stays(said: str) -> None:
    assert english(MARIE, said) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Anna Reed doubted that her results were right.",
        "Mary Reed told Sarah that she had seen her.",
        "The girl spent the summers in Hull.",
        "Young Marie ran the farm.",
        "Stone, Reed and Holm wrote to the queen.",
    ],
)
def test_what_could_mean_another_woman_is_not_turned(said: str) -> None:
    assert english(MARIE, said) == [None]


def test_a_pronoun_behind_another_womans_sentence_is_not_turned() -> None:
    told = english(MARIE, "Her mother feared the sea.", "She never let anyone swim.")
    assert told == ["My mother feared the sea.", None]
    # A date begins something new.
    told = english(MARIE, "Her mother feared the sea.", "In 1860 she went to Hull.")
    assert told[1] == "In 1860 I went to Hull."


def test_quoted_words_stay() -> None:
    said = 'His teacher wrote: "He is lazy."'
    assert english(PETER, said) == ['My teacher wrote: "He is lazy."']


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Nació el 1 de mayo de 1852 en Burgos.", "Nací el 1 de mayo de 1852 en Burgos."),
        ("Fue médico en Cádiz.", "Fui médico en Cádiz."),
        ("Su padre le enseñó a leer.", "Mi padre me enseñó a leer."),
        ("En 1880 publicó su primer libro.", "En 1880 publiqué mi primer libro."),
        ("En 1881 se casó con Ana Gil.", "En 1881 me casé con Ana Gil."),
        ("Vega construyó un puente.", "Construí un puente."),
        ("Él dudó, y la rechazó.", "Yo dudé, y la rechacé."),
        ("El rey lo invitó a palacio.", "El rey me invitó a palacio."),
        ("Su hermano trabajó con él.", "Mi hermano trabajó conmigo."),
        ("Vivía en Madrid y escribía de noche.", "Vivía en Madrid y escribía de noche."),
        ("El premio le llegó tarde.", "El premio me llegó tarde."),
    ],
)
def test_spanish_about_the_subject(said: str, told: str) -> None:
    assert spanish(LUIS, said) == [told]


def test_gender_in_spanish() -> None:
    assert spanish(ELENA, "El director la llamó a Roma.") == ["El director me llamó a Roma."]
    assert spanish(ELENA, "Ella lo negó.") == ["Yo lo negué."]


@pytest.mark.parametrize(
    "said",
    [
        "Ana Gil murió en 1890.",
        "En 1885 una epidemia llegó a la región.",
        "Apareció el primer número de la revista.",
        "En 1907 se creó la escuela.",
        "Ana dedicó su vida a la música.",
    ],
)
def test_what_does_not_speak_of_him_stays(said: str) -> None:
    assert spanish(LUIS, said) == [said]


@pytest.mark.parametrize(
    "said", ["El niño dibujaba a escondidas.", "Le regaló un libro.", "La obra de Vega se perdió."]
)
def test_what_could_mean_another_is_not_turned(said: str) -> None:
    assert spanish(LUIS, said) == [None]


@pytest.mark.parametrize(
    ("third", "first"),
    [
        ("nació", "nací"), ("murió", "morí"), ("leyó", "leí"), ("construyó", "construí"),
        ("pidió", "pedí"), ("siguió", "seguí"), ("publicó", "publiqué"), ("llegó", "llegué"),
        ("empezó", "empecé"), ("averiguó", "averigüé"), ("estudió", "estudié"), ("fue", "fui"),
        ("hizo", "hice"), ("obtuvo", "obtuve"), ("produjo", "produje"), ("dijo", "dije"),
        ("sonrió", "sonreí"),
    ],
)  # fmt: skip
def test_preterites(third: str, first: str) -> None:
    found = verbs.preterite(third)
    assert found is not None
    assert found[0] == first


@pytest.mark.parametrize(
    ("third", "first"),
    [
        ("es", "soy"), ("ha", "he"), ("vive", "vivo"), ("piensa", "pienso"), ("conoce", "conozco"),
        ("mantiene", "mantengo"), ("dirige", "dirijo"), ("construye", "construyo"), ("sitúa", "sitúo"),
    ],
)  # fmt: skip
def test_presents(third: str, first: str) -> None:
    found = verbs.present(third)
    assert found is not None
    assert found[0] == first


def test_words_that_are_no_verbs() -> None:
    assert verbs.preterite("libro") is None
    assert verbs.imperfect("anatomía") is None
    assert verbs.imperfect("tenía") == "tener"


def page(*paragraphs: str, title: str = "Marie Stone", language: str = "en") -> Document:
    blocks = tuple(Block("paragraph", text) for text in paragraphs)
    return Document("https://en.wikipedia.org/wiki/X", title, language, blocks, kind="article")


LEAD = (
    "Marie Stone (3 May 1852 – 1 June 1901) was an English chemist. She studied salts in her attic."
)


def test_an_article_about_a_person_has_a_subject() -> None:
    found = find_subject(page(LEAD, "She worked alone. Her notes are kept in Hull."))
    assert found is not None
    assert (found.name, found.gender, found.is_dead) == ("Marie Stone", "f", True)


@pytest.mark.parametrize(
    "lead",
    [
        "In mathematics, a Hermitian matrix is a square matrix that equals its own transpose.",
        "Mozilla is a free-software community, created in 1998 by members of Netscape.",
    ],
)
def test_a_matrix_and_an_organisation_have_none(lead: str) -> None:
    assert find_subject(page(lead, title="Thing")) is None


@pytest.mark.parametrize(
    ("lead", "language"),
    [
        ("The Stone School (1919–1933) was a school of salts. It closed when its roof fell.", "en"),
        ("La Junta de Sales (1907-1939) fue una institución que becaba a jóvenes químicos.", "es"),
    ],
)
def test_years_alone_make_no_person(lead: str, language: str) -> None:
    founder = "He founded it. His sister left him, and he followed her to Hull with his books."
    document = replace(page(lead, founder, title="Thing"), language=language)
    assert find_subject(document) is None


@pytest.mark.parametrize(
    ("lead", "language"),
    [
        ("Marie Stone (1852–1901) was a chemist. She studied salts in her attic.", "en"),
        ("Luis Vega (Soria, 1852-Madrid, 1901) fue un ingeniero español.", "es"),
        ("Luis Vega (Soria, 3 de mayo de 1852-Madrid, 1901) fue un ingeniero español.", "es"),
    ],
)
def test_a_life_has_a_person(lead: str, language: str) -> None:
    document = replace(
        page(lead, "She worked alone in her attic.", title="Stone"), language=language
    )
    assert find_subject(document) is not None


def test_the_lead_introduces_itself() -> None:
    document = page(LEAD, "She worked alone.")
    subject = find_subject(document)
    assert subject is not None
    forms = list(first_person(document, subject).values())
    assert forms[0] == "I, Marie Stone (3 May 1852 – 1 June 1901), was an English chemist."
    assert forms[1] == "I studied salts in my attic."


def test_chunks_keep_the_original_beside_each_form() -> None:
    document = page(LEAD, "She worked alone.")
    subject = find_subject(document)
    assert subject is not None
    chunks = turned(chunk(document, lambda text: len(text.split())), document, subject)
    for piece in chunks:
        assert len(piece.first_person) == len(piece.sentences)
        assert "She" in piece.text


def test_the_card_says_who_and_from_where() -> None:
    document = page(LEAD)
    subject = Subject("Marie Stone", "f", "en", "Marie Stone", frozenset({"Marie"}), True)
    card = card_of(document, subject, None)
    assert (card.name, card.years, card.line) == ("Marie Stone", "1852–1901", "English chemist")
    assert card.licence == "CC BY-SA 4.0"
