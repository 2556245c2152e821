import numpy as np

from rag.answer.check import Passage, Support
from rag.answer.footnotes import Footnotes
from tests.words import chunk

NONE = np.zeros((1, 4), dtype=np.float32)


def passages() -> list[Passage]:
    first = chunk("One. Two.", "a", section="S1", id="1")
    again = chunk("Three. Four.", "a", section="S2", id="2", url="https://x.example/a#s2")
    other = chunk("Five. Six.", "b", id="3")
    return [Passage.of(c, 0.9, NONE) for c in (first, again, other)]


def test_one_number_a_page_in_order_of_first_use() -> None:
    notes = Footnotes(passages())
    notes.add(Support(2, "Five.", 1.0, "Five is here."))
    notes.add(Support(0, "One.", 1.0, "One is here."))
    notes.add(Support(1, "Three.", 1.0, "Three too."))
    assert notes.text == "Five is here. [1] One is here. [2] Three too. [2]"
    assert [(c.n, c.title, c.quote, c.quotes) for c in notes.citations] == [
        (1, "B", "Five.", ("Five.",)),
        (2, "A", "One.", ("One.", "Three.")),
    ]
    assert notes.citations[1].passage == "One. Two.\n\n[…]\n\nThree. Four."


def test_an_interview_numbers_sections() -> None:
    notes = Footnotes(passages(), by_section=True)
    notes.add(Support(0, "One.", 1.0, "One."))
    notes.add(Support(1, "Three.", 1.0, "Three."))
    assert [c.n for c in notes.citations] == [1, 2]


def test_markers_that_the_model_wrote_lead_nowhere_and_go() -> None:
    notes = Footnotes(passages())
    notes.add(Support(0, "One.", 1.0, "One is here [9]."))
    assert notes.text == "One is here. [1]"
