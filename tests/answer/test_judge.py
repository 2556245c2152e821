"""The judge: what the model's state says decides before the first word."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.answer import judge as judges
from rag.answer.choice import SIGNS, Pointer
from rag.answer.judge import Judge, judge_of
from rag.llm.protocol import Watch
from rag.settings import Settings
from rag.types import FootnoteError, Turn
from tests.answer.test_answerer import GOOD, answerer
from tests.words import chunk

# Says yes to states that point along the first axis, whatever the gate said.
JUDGE = Judge(np.array([1, 0], np.float32), 0.0, 0.0, 0.0)
YES, NO = np.array([1, 5], np.float32), np.array([-1, 5], np.float32)


def test_the_score_is_linear_in_the_state_and_in_a_bounded_gate_score() -> None:
    judge = Judge(np.array([2, -1], np.float32), 0.5, 0.0, 0.25)
    state = np.array([1, 3], np.float32)
    assert judge.score(state, 2.0) == pytest.approx(2 - 3 + 1 + 0.25)
    assert judge.score(state, 1e9) == judge.score(state, 6.0)
    assert judge.score(state, float("-inf")) == judge.score(state, -6.0)


def test_notes_that_do_not_answer_end_in_a_refusal_before_a_word_is_shown() -> None:
    ask, model = answerer(GOOD, judge=JUDGE)
    model.state = NO
    *partial, last = ask.stream("What does BM25 rank documents by?")
    assert last.outcome == "refused"
    assert not any(answer.draft or "ranks" in answer.answer for answer in [*partial, last])
    assert model.generations[0].output_tokens == 1  # the model's turn ended there
    assert "judged" in last.route
    assert last.nearest and last.nearest[0].title
    assert last.timings.prompt_tokens == 10


def test_notes_that_answer_are_written_from() -> None:
    ask, model = answerer(GOOD, judge=JUDGE)
    model.state = YES
    answer = ask.ask("What does BM25 do?")
    assert (answer.outcome, answer.answer) == ("answered", f"{GOOD} [1]")
    assert answer.route == ("dense", "lexical", "judged", "verified")


def test_a_question_just_under_the_gate_is_read_and_judged() -> None:
    ask, model = answerer(GOOD, GOOD, judge=JUDGE, below=0.5)
    model.state = YES
    assert ask.ask("What does BM25 do?").outcome == "answered"
    model.state = NO
    assert ask.ask("What does BM25 do?").outcome == "refused"


def test_a_question_far_under_the_gate_calls_no_model() -> None:
    ask, model = answerer(GOOD, judge=JUDGE, below=50.0)
    model.state = YES
    assert ask.ask("What does BM25 do?").outcome == "refused"
    assert model.asked == []


def test_the_nearest_sentence_is_a_draft_until_the_model_has_voted() -> None:
    ask, model = answerer(GOOD, judge=JUDGE)
    model.state = YES
    *partial, last = ask.stream("What does BM25 rank documents by?")
    drafts = [answer.draft for answer in partial if answer.draft]
    assert drafts[0] == GOOD
    assert last.answer == f"{GOOD} [1]" and "quoted" not in last.route


def test_where_the_notes_surely_answer_the_nearest_sentence_needs_no_vote() -> None:
    said = "Bananas are yellow and sweet."
    ask, model = answerer(said, said, "", judge=JUDGE, below=0.5)
    model.state = YES
    answer = ask.ask("What does BM25 rank documents by?")
    assert answer.outcome == "answered" and "quoted" in answer.route
    assert answer.answer.startswith(GOOD)
    model.state = NO
    assert ask.ask("What does BM25 rank documents by?").outcome == "refused"
    model.state = YES
    assert ask.ask("What does BM25 rank documents by?").outcome == "answered"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (GOOD, "answered"),
        ("It ranks by colour.", "refused"),
        ("", "refused"),
        ("I don't know by which words BM25 ranks documents.", "refused"),
        ("What does BM25 rank documents by?", "refused"),
        (f"It ranks by colour. {GOOD}", "refused"),
    ],
)
def test_where_the_judge_is_not_sure_the_models_vote_decides(said: str, outcome: str) -> None:
    ask, model = answerer(said, judge=replace(JUDGE, agreed=1.5))
    model.state = NO
    *partial, last = ask.stream("What does BM25 rank documents by?")
    assert last.outcome == outcome
    assert last.withheld == (outcome == "refused" and said != "")
    assert outcome == "answered" or not any(answer.draft for answer in [*partial, last])


def test_a_sentence_that_stands_elsewhere_is_not_counted_as_held_back() -> None:
    ask, model = answerer(
        "The parameter k1 sets how quickly repeated words stop counting.",
        "Bananas are yellow and sweet.",
        judge=JUDGE,
    )
    model.state = YES
    question = "What does BM25 rank documents by?"
    elsewhere, nowhere = ask.ask(question), ask.ask(question)
    assert elsewhere.answer == nowhere.answer == f"{GOOD} [1]"
    assert (elsewhere.withheld, nowhere.withheld) == (0, 1)


def test_what_comes_behind_another_sentence_in_one_piece_is_not_heard() -> None:
    said = "The parameter k1 sets how quickly repeated words stop counting."
    ask, model = answerer(f"{said} {GOOD}", judge=JUDGE)
    model.state, model.at_once = YES, True
    assert ask.ask("What does BM25 rank documents by?").answer == f"{GOOD} [1]"


def test_without_a_state_the_gate_alone_decides() -> None:
    ask, model = answerer(GOOD, judge=JUDGE)
    model.state = None
    answer = ask.ask("What does BM25 do?")
    assert answer.outcome == "answered" and "judged" not in answer.route


def test_a_follow_up_asks_for_its_own_kind_of_thing() -> None:
    ask, model = answerer(GOOD, GOOD, judge=JUDGE)
    model.state = YES
    history = [Turn("user", "How many documents does BM25 rank?"), Turn("assistant", "Many.")]
    answer = ask.ask("And what are they ranked by?", history=history)
    assert answer.outcome == "answered"


def test_code_can_be_the_answer() -> None:
    block = "```python\nrank(bm25)\n```"
    page = chunk(f"To rank with BM25 call the function like this:\n\n{block}", "code")
    ask, model = answerer(block, judge=JUDGE, more=(page,))
    model.state = YES
    answer = ask.ask("Show me code that ranks with BM25")
    assert answer.outcome == "answered" and "rank(bm25)" in answer.answer


def test_what_has_nothing_of_the_kind_that_was_asked_for_needs_no_model() -> None:
    ask, model = answerer(GOOD, judge=JUDGE)
    model.state = YES
    assert ask.ask("What does BM25 cost?").outcome == "refused"
    assert model.asked == []


def test_a_page_in_another_language_is_quoted_as_it_is() -> None:
    ask, model = answerer("BM25 ordena los documentos.", judge=JUDGE)
    model.state = YES
    answer = ask.ask("¿Por qué palabras ordena BM25 los documentos?")
    assert answer.language == "es" and answer.outcome == "answered"
    assert answer.answer == f"Lo dice una página en otro idioma: “{GOOD}” [1]"
    assert answer.citations[0].quote == GOOD


@pytest.mark.parametrize("sentence", [0, 1])
def test_the_sentence_that_the_model_looks_at_is_shown(sentence: int) -> None:
    pointer = Pointer(np.zeros(SIGNS, np.float32), np.array([[0.0], [1.0]], np.float32))
    ask, model = answerer("", judge=replace(JUDGE, pointer=pointer))
    model.state = YES
    page = [GOOD, "The parameter k1 sets how quickly repeated words stop counting."]

    def looks(watch: Watch, content: str) -> np.ndarray:
        told = [content[a:b] for a, b in watch.sentences]
        found = np.full((2, 1, len(told)), 0.001, np.float32)
        found[1, 0, told.index(page[sentence])] = 0.3
        return found

    model.looks = looks
    question = "What does BM25 rank documents by, and what is k1 for?"
    assert ask.ask(question).answer == f"{page[sentence]} [1]"
    assert model.watched[-1] is not None
    start, end = model.watched[-1].question
    assert model.asked[-1][-1].content[start:end] == question


def test_without_looks_the_nearest_sentence_is_shown() -> None:
    pointer = Pointer(np.zeros(SIGNS, np.float32), np.ones((2, 1), np.float32))
    ask, model = answerer("", judge=replace(JUDGE, pointer=pointer))
    model.state = YES
    assert ask.ask("What does BM25 rank documents by?").answer == f"{GOOD} [1]"


def test_a_model_whose_looks_nobody_reads_is_not_watched() -> None:
    ask, model = answerer(GOOD, judge=JUDGE)
    model.state = YES
    assert ask.ask("What does BM25 do?").outcome == "answered"
    assert model.watched == [None]


def test_a_file_from_before_there_were_pointers_is_a_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.json"
    monkeypatch.setattr(judges, "path_of", lambda model: path)
    path.write_text('{"weights": [1], "gate": 0, "agreed": 0, "offset": 1, "points": '
                    f"{[*range(50)]}}}", encoding="utf-8")  # fmt: skip
    judge = judge_of("m", 50)
    assert judge is not None and judge.pointer is None


def test_a_model_without_a_judge_has_none() -> None:
    assert judge_of("somebody/another-model", 80) is None


def test_a_judge_that_is_not_whole_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.json"
    monkeypatch.setattr(judges, "path_of", lambda model: path)
    whole = json.dumps({"weights": [1, 2], "gate": 0, "agreed": 0, "offset": 1,
                        "points": [*range(50)],
                        "pointer": {"signs": [1] * 9, "heads": [[1], [2]]}})  # fmt: skip
    path.write_text(whole, encoding="utf-8")
    found = [judge_of("m", percent) for percent in (50, 99)]
    assert [judge and judge.offset for judge in found] == [1.0, -48.0]
    assert found[0] and found[0].pointer and found[0].pointer.heads.tolist() == [[1], [2]]
    for text in (
        "{",
        "[]",
        whole.replace("49]", "]").replace(", ]", "]"),
        '{"weights": [1, 2]}',
        whole.replace("signs", "sights"),
        '{"weights": "x", "gate": 0, "agreed": 0, "offset": 0}',
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FootnoteError, match="fit_judge"):
            judge_of("m", 80)


@pytest.mark.models
def test_the_shipped_judge_fits_the_language_model() -> None:
    from rag.llm.engine import load_llm
    from rag.types import Message

    llm = load_llm(Settings.from_environment())
    judge = judge_of(llm.name, 80)
    watch = Watch((8, 13), ((0, 7),))
    generation = llm.generate([Message("user", "A note. Hello")], max_tokens=1, watch=watch)
    for _ in generation:
        pass
    assert judge is not None and generation.state is not None
    assert generation.state.shape == judge.weights.shape
    assert judge.pointer is not None and generation.looks is not None
    assert generation.looks.shape == (*judge.pointer.heads.shape, 1)
