"""The measurements on small files, with an encoder of words and a model that says what it is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.measure.answers import drawn, evaluate_answers
from rag.measure.battery import evaluate_battery
from rag.measure.conversations import are_conversations, evaluate_conversations, failures
from rag.measure.evaluate import Report
from rag.measure.figures import Estimate
from rag.measure.search import evaluate_search
from rag.measure.squad import Paragraphs, holds, index, read_squad
from rag.search.gate import SAME_LANGUAGE, Gate
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import FootnoteError
from tests.answer.scripted import ScriptedModel
from tests.words import WordEncoder, chunk, stored

QUIET = lambda what, done, total: None  # noqa: E731
PARAGRAPHS = [
    "The harbour of Veldt was dug in 1911 by forty men. It is deep enough for ferries.",
    "The lighthouse of Skagen burns coal. Its keeper climbs ninety steps every evening.",
    "The mill of Aarup grinds rye and barley. Its wheel turns only in spring.",
    "The library of Lund lends maps to sailors. It opens on Sundays.",
]
QUESTIONS = [
    ("How many men dug the harbour of Veldt?", "40"),
    ("What does the lighthouse of Skagen burn?", "coal"),
    ("What does the mill of Aarup grind?", "rye and barley"),
    ("What does the library of Lund lend?", "maps"),
]
_ANYTHING = replace(SAME_LANGUAGE, threshold=-1e9)
OPEN = Gate(_ANYTHING, _ANYTHING)
"""Lets every question through."""


def squad_file(folder: Path) -> Path:
    """Four articles of a paragraph and a question each."""
    data = [
        {"title": str(i), "paragraphs": [{"context": text, "qas": [
            {"id": str(i), "question": question, "answers": [{"text": gold, "answer_start": 0}]}
        ]}]}
        for i, (text, (question, gold)) in enumerate(zip(PARAGRAPHS, QUESTIONS, strict=True))
    ]  # fmt: skip
    path = folder / "small.en.json"
    path.write_text(json.dumps({"version": "1.1", "data": data}), encoding="utf-8")
    return path


@pytest.fixture
def squad(tmp_path: Path) -> Paragraphs:
    return read_squad(squad_file(tmp_path))


def value(figure: Any) -> float:
    assert isinstance(figure, Estimate)
    return figure.value


def test_a_squad_file_is_read_with_its_gold_strings(squad: Paragraphs) -> None:
    assert (squad.language, squad.articles, squad.gold) == ("en", [0, 1, 2, 3], [0, 1, 2, 3])
    assert squad.answers[2] == ("rye and barley",)


@pytest.mark.parametrize("text", ['{"data": [{"paragraphs": 3}]}', "[]", "{", '{"data": []}'])
def test_a_file_of_another_shape_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(FootnoteError, match=r"other\.json") as error:
        read_squad(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "gold", "language", "held"),
    [
        ("It was dug by 40 men.", "forty", "en", True),
        ("The Rye, and barley!", "rye and barley", "en", True),
        ("It was 1,000.", "1000", "en", True),
        ("Cuarenta personas", "40", "es", True),
        ("en la Revolución francesa", "la revolucion francesa", "es", True),
        ("It was dug by 400 men.", "40", "en", False),
        ("a catalogue", "log", "en", False),
        ("anything", "the", "en", False),
    ],
)
def test_a_gold_string_is_held_word_for_word(
    text: str, gold: str, language: str, held: bool
) -> None:
    assert holds(text, [gold], language) is held


def test_questions_are_drawn_evenly_and_the_same_from_parallel_files() -> None:
    assert drawn(612, 4) == [0, 204, 407, 611]
    assert drawn(3, 30) == [0, 1, 2]


def test_search_is_measured_in_every_direction(squad: Paragraphs) -> None:
    rows = evaluate_search([squad, squad], WordEncoder(), QUIET)
    assert len(rows) == 4
    assert value(rows[0]["recall@1"]) == 1
    assert value(rows[0]["gate AUC"]) > 0.5


def test_answers_are_measured_against_the_model_alone(squad: Paragraphs) -> None:
    answers = [
        "The harbour of Veldt was dug in 1911 by forty men.", "About 40 men.",
        "The lighthouse of Skagen burns coal.", "Wood.",
        "The mill of Aarup grinds rye and barley.", "rye and barley",
        "The library of Lund lends maps to sailors.", "Maps.",
    ]  # fmt: skip
    llm = ScriptedModel(*answers)
    searcher = Searcher(index(squad, range(4), WordEncoder(), QUIET), WordEncoder())
    row, asked = evaluate_answers(squad, 4, Collection(searcher, OPEN), llm, Settings(), QUIET)
    by_question = {entry["question"]: entry for entry in asked}
    assert [by_question[question]["alone"].strip() for question, _ in QUESTIONS] == answers[1::2]
    assert [entry["alone holds gold"] for entry in asked] == [True, False, True, True]
    assert value(row["answered"]) == 1
    assert value(row["gold string in the answer"]) == 1
    assert value(row["ratio of the two"]) == pytest.approx(4 / 3)
    assert value(row["sentences with nothing that their passage lacks"]) == 1
    assert value(row["quotes verbatim in their page"]) == 1
    assert value(row["citations of the right passage"]) == 1
    assert value(row["answers in the question's language"]) == 1
    assert value(row["sentences withheld per answer"]) == 0


HARBOUR, LIGHT, MILL, LIBRARY = (
    chunk(text, page, alternates=(f"https://x.example/es/{page}",))
    for text, page in zip(PARAGRAPHS, ("harbour", "light", "mill", "library"), strict=True)
)


def product(*replies: str) -> tuple[Answerer, Collection]:
    searcher = Searcher(stored([HARBOUR, LIGHT, MILL, LIBRARY]), WordEncoder())
    collection = Collection(searcher, OPEN)
    llm = ScriptedModel(*replies)
    return Answerer({"t": collection}, llm, Settings(collection="t")), collection


def lines(path: Path, *entries: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, entries)) + "\n", encoding="utf-8")
    return path


def test_a_battery_gives_outcomes_by_label_and_kind(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "own.jsonl",
        {"question": QUESTIONS[0][0], "language": "en", "answerable": True,
         "page": "/es/harbour/", "kind": "number"},
        {"question": QUESTIONS[1][0], "language": "en", "answerable": True, "page": "/mill/"},
        {"question": "What does the mill of Skagen grind?", "language": "en", "answerable": False,
         "kind": "next door"},
        {"question": "hello", "language": "en", "answerable": False},
    )  # fmt: skip
    answerer, collection = product(
        "The harbour of Veldt was dug in 1911 by forty men.",
        "The lighthouse of Skagen burns coal.",
        "The mill of Aarup grinds rye and barley.",
        " grinds rye and barley.",
    )
    row, asked = evaluate_battery(path, answerer, collection, 3, QUIET)
    assert value(row["answerable answered"]) == 1
    assert value(row["answerable answered, number"]) == 1
    assert value(row["others greeting"]) == 0.5
    assert value(row["right page cited"]) == 0.5  # a language version counts, another page doesn't
    assert value(row["sentences with nothing that their passage lacks"]) == 1
    assert row["gate AUC"] is not None
    assert row["others answered, next door"] is not None
    assert all("gate score" in entry for entry in asked)
    assert json.dumps(asked)


def test_a_battery_of_another_shape_is_one_line(tmp_path: Path) -> None:
    answerer, collection = product()
    for entries, says in (
        ([{"question": "Who?", "language": "en"}], "'answerable' is missing"),
        ([], "no questions"),
    ):
        path = lines(tmp_path / "own.jsonl", *entries)
        with pytest.raises(FootnoteError, match=says):
            evaluate_battery(path, answerer, collection, 3, QUIET)
    path.write_text("no json\n")
    with pytest.raises(FootnoteError, match=r"own\.jsonl, line 1"):
        evaluate_battery(path, answerer, collection, 3, QUIET)


def talk(question: str, follow_up: str, page: str, kind: str) -> dict[str, Any]:
    history = [{"role": "user", "content": question}, {"role": "assistant", "content": "…"}]
    return {"id": kind, "history": history, "question": follow_up, "page": page, "kind": kind}


def test_conversations_are_searched_without_the_model(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "talks.jsonl",
        talk(QUESTIONS[0][0], "And when was it dug?", "/harbour/", "pronoun"),
        talk(QUESTIONS[0][0], QUESTIONS[2][0], "/mill/", "change"),
        talk(QUESTIONS[2][0], "Tell me more about it", "/nowhere/", "pronoun"),
    )
    assert are_conversations(path)
    answerer, collection = product()  # a model that is asked would have nothing to say
    row, asked = evaluate_conversations(path, answerer, collection, QUIET)
    assert [entry["right"] for entry in asked] == [True, True, False]
    assert asked[0]["search_query"].startswith(QUESTIONS[0][0])
    assert value(row["changes of subject dragged back"]) == 0
    assert value(row["… pronoun"]) == 0.5
    (failed,) = failures(asked)
    assert "/nowhere/" in failed


def test_a_new_subject_that_is_searched_with_the_old_one_is_dragged_back(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "talks.jsonl",
        talk(QUESTIONS[0][0], "And the mill's wheel?", "/mill/", "change"),
    )
    answerer, collection = product()
    _, asked = evaluate_conversations(path, answerer, collection, QUIET)
    assert asked[0]["dragged back"]
    assert "dragged back" in failures(asked)[0]


def test_a_report_lists_what_the_second_check_objects_to() -> None:
    report = Report()
    offence = {"sentence": "It was 1812.", "lacking": ["1812"], "quote": "It was.", "page": "p"}
    asked = [{"question": "When?", "second check": {"offences": [offence]}}]
    report.add({"set": "s", "share": Estimate(1.0, 0.9, 1.0, 3), "none": None}, asked)
    assert "'It was 1812.' lacks 1812" in report.as_text()
    assert "1.000 (0.900–1.000, n=3)" in report.as_text()
    assert report.as_json()["rows"][0]["share"] == {"value": 1.0, "low": 0.9, "high": 1.0, "of": 3}
