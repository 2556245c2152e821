from dataclasses import replace

from rag.answer.suggest import Suggester
from rag.types import Citation
from tests.words import chunk, stored

PAGES = {
    "kilns": "Kilns fire clay at great heat. A kiln cools for a day.",
    "glaze": "Glaze on clay melts in the kiln's heat. Heat makes glaze shine.",
    "sails": "Sails catch the wind at sea. A torn sail is sewn by hand.",
    "tides": "Tides follow the moon across the sea. The wind shifts with them.",
}
CHUNKS = [chunk(text, page) for page, text in PAGES.items()]
QUESTIONS = {
    "en": {
        "https://x.example/tides": ["What do tides follow at sea?"],
        "https://x.example/kilns": [
            "How long does a kiln cool?",
            "What does a kiln fire?",
            "Who built the first kilns?",
        ],
        "https://x.example/glaze": ["What makes glaze shine?"],
        "https://x.example/gone": ["What was on the page that is gone?"],
    }
}
OPENERS = {"en": ["What topics does this blog cover?"], "es": ["¿De qué trata este blog?"]}


def suggester(questions: object = QUESTIONS, suggestions: object = OPENERS) -> Suggester:
    return Suggester(stored(CHUNKS, questions=questions, suggestions=suggestions))


def cites(page: str) -> list[Citation]:
    blank = Citation(1, page, f"https://x.example/{page}", None, None, "", 0.9, "en", "")
    return [blank]


def test_questions_of_the_cited_page_come_first_and_then_its_neighbours() -> None:
    assert suggester().suggest(cites("kilns"), "en", []) == (
        "How long does a kiln cool?",
        "What does a kiln fire?",
        "What makes glaze shine?",
        "What do tides follow at sea?",
        "What topics does this blog cover?",
    )
    assert suggester().suggest(cites("sails"), "en", [])[0] == "What do tides follow at sea?"


def test_what_was_asked_is_not_offered_however_it_was_put() -> None:
    asked = ["how long does the kiln cool", "So what makes glaze shine"]
    offered = suggester().suggest(cites("kilns"), "en", asked)
    assert offered[0] == "What does a kiln fire?"
    assert "What makes glaze shine?" not in offered


def test_a_page_that_is_gone_is_passed_over() -> None:
    lost = [replace(cites("kilns")[0], url="https://x.example/gone")]
    assert suggester().suggest(lost, "en", []) == ("What topics does this blog cover?",)


def test_the_conversation_s_language_alone_is_offered() -> None:
    assert suggester().suggest(cites("kilns"), "es", []) == ("¿De qué trata este blog?",)


def test_a_collection_built_without_questions_gives_its_openers() -> None:
    without = suggester(questions={})
    assert without.suggest(cites("kilns"), "en", []) == ("What topics does this blog cover?",)
    assert suggester(questions={}, suggestions={}).suggest(cites("kilns"), "en", []) == ()
