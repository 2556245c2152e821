import json
from pathlib import Path

import pytest

from rag.search.battery import by_page, invitations, make_battery, openers, read_battery
from rag.search.calibrate import Calibration, Labelled, calibrate, gate_of
from rag.search.gate import SAME_LANGUAGE
from rag.search.search import Searcher
from rag.types import FootnoteError
from tests.words import WordEncoder, chunk, stored

SUBJECTS = (
    "falcons bread caches rivers engines violins glaciers lanterns orchards compasses harbours "
    "looms kilns sundials aqueducts telescopes"
).split()
CHUNKS = [
    chunk(
        f"Old {s} need steady care. People repair {s} every spring. Nobody sells {s} here.",
        s,
        section="Old ones: repair every spring",
    )
    for s in SUBJECTS
]
QUIET = lambda what, done, total: None  # noqa: E731


def write(title: str, passage: str, language: str) -> str:
    return f"Who will repair old {title.lower()} every spring?"


def made() -> tuple[Searcher, list[Labelled], Calibration]:
    searcher = Searcher(stored(CHUNKS), WordEncoder())
    battery = make_battery(CHUNKS, write, QUIET)
    return searcher, battery, calibrate(searcher, battery, 3)


def test_the_battery_has_a_question_for_every_page_with_its_source() -> None:
    _, battery, _ = made()
    asked = {b.source: b.question for b in battery if b.question.startswith("Who")}
    assert len(asked) == len(SUBJECTS)
    assert asked["https://x.example/looms"] == "Who will repair old looms every spring?"


@pytest.mark.parametrize(
    "written", ["What is the main idea of this text?", "It is about looms.", "Why?", ""]
)
def test_what_is_no_question_of_its_own_is_left_out(written: str) -> None:
    battery = make_battery(CHUNKS, lambda *_: written, QUIET)
    assert all(b.question.startswith("What is ") and b.question != written for b in battery)


def test_answerable_questions_pass_and_left_out_ones_do_not() -> None:
    searcher, battery, calibration = made()
    report = calibration.report
    assert report["answerable_passed"] >= 0.95
    assert report["left_out_passed"] <= 0.2
    assert report["auc"] > 0.9
    assert len(report["battery"]) == len(battery)
    gate = gate_of(
        stored(CHUNKS, calibration=json.loads(json.dumps(calibration.as_json()))).manifest
    )
    for question, passes in (
        ("Who will repair old looms every spring?", True),
        ("Who will repair old pianos every spring?", False),
    ):
        found = searcher.search(question, 3, "en")
        assert gate.decide(question, found, "en").passes is passes


def test_letting_more_through_lowers_the_threshold() -> None:
    searcher, battery, _ = made()
    strict = calibrate(searcher, battery, 3, let_through=0.5).same.threshold
    kind = calibrate(searcher, battery, 3, let_through=1.0).same.threshold
    assert kind < strict


def test_too_few_questions_leave_the_shipped_weights() -> None:
    searcher, battery, _ = made()
    assert calibrate(searcher, battery[:3], 3).same == SAME_LANGUAGE


def test_openers_begin_with_the_whole_and_pass_the_gate() -> None:
    searcher, battery, calibration = made()
    manifest = stored(CHUNKS, calibration=calibration.as_json()).manifest
    inviting = invitations(searcher, gate_of(manifest), battery, 3)
    found = openers(inviting, "blog")
    assert found["en"][0] == "What topics does this blog cover?"
    assert len(found["en"]) > 3
    assert len(set(found["en"])) == len(found["en"])
    assert found["es"] == ["¿De qué trata este blog?"]
    next_ones = by_page(inviting)["en"]
    assert set(next_ones["https://x.example/looms"]) == {"Who will repair old looms every spring?"}


def test_the_authors_own_battery_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"question": "Who?", "language": "en", "answerable": false}\n\n')
    assert read_battery(path) == [Labelled("Who?", "en", False)]
    path.write_text('{"question": "Who?"}\n')
    with pytest.raises(FootnoteError, match=r"own\.jsonl, line 1"):
        read_battery(path)
