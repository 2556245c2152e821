"""The interview's measures around scripted models: who chooses better, and who is quicker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag.answer.answerer import Answerer, Collection
from rag.answer.interview.interview import Interview
from rag.answer.interview.route import Route
from rag.measure import bench_interview
from rag.measure.figures import Estimate
from rag.measure.interview_choice import compare, expected_score, pick
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import FootnoteError, Message
from tests.answer.scripted import ScriptedModel
from tests.answer.test_interview import MARIE, PAGE, searcher
from tests.measure.test_evaluate import lines
from tests.words import WordEncoder, chunk, stored


class Choosing(ScriptedModel):
    """Finds the option whose words the last message names; scores 10 for a passage about salts."""

    def keep(self, messages: Sequence[Message]) -> None:
        pass

    def option_logprobs(
        self, messages: Sequence[Message], options: Sequence[str], *, begin: str = ""
    ) -> list[float]:
        asked = messages[-1].content
        liked = "10" if "salts" in asked else "0"
        if options[0] == "A":
            liked = "B" if "salts" in asked else "A"
        return [math.log(0.9) if option == liked else math.log(0.01) for option in options]


def test_the_model_picks_a_section_by_its_letter_and_scores_by_the_mean() -> None:
    picked = pick(Choosing(), ["Early life", "Work > Salts"], "Where are the salts?", "en")
    assert picked.index(max(picked)) == 1
    assert expected_score(Choosing(), "She studied salts.", "Why?", "en") > 8
    assert expected_score(Choosing(), "She kept bees.", "Why?", "en") < 2


def test_more_sections_than_letters_are_an_error() -> None:
    with pytest.raises(FootnoteError, match="60 sections"):
        pick(Choosing(), [str(i) for i in range(60)], "Why?", "en")


def test_model_and_embedder_are_compared_on_the_same_questions() -> None:
    entries = [
        {"question": "Where did you study salts?", "language": "en", "answerable": True,
         "section": "Work > Salts"},
        {"question": "When did you die in Leeds?", "language": "en", "answerable": True,
         "section": "Death"},
        {"question": "Did you sing operas?", "language": "en", "answerable": False},
    ]  # fmt: skip
    passages = {c.section or "": c.text for c in PAGE}
    figures = compare(entries, Route(searcher(), MARIE), passages, Choosing())

    def value(name: str) -> float:
        found = figures[name]
        assert isinstance(found, Estimate)
        return found.value

    assert value("right section first, embedder") == 1
    assert value("right section first, model") == 0.5
    assert value("right side of 5, model") == pytest.approx(2 / 3)
    assert "ms, section by model" in figures


def test_blog_and_interview_are_asked_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [chunk("Yeast makes dough rise in a warm kitchen.", "bread")]
    page = searcher()
    model = ScriptedModel(
        *["Yeast makes dough rise in a warm kitchen.", "I studied salts in an attic."]
    )
    collections = {
        "blog": Collection(Searcher(stored(posts, name="blog"), WordEncoder()), Gate()),
        "t": Collection(page, Gate(), Interview(page, MARIE)),
    }
    answerer = Answerer(collections, model, Settings(collection="blog"))
    monkeypatch.setattr(bench_interview, "load_answerer", lambda settings: (answerer, {}))
    battery = lines(
        tmp_path / "people.jsonl",
        {"question": "Where did you study salts?", "answerable": True, "collection": "t"},
        {"question": "Did you sing?", "answerable": False, "collection": "t"},
    )
    result = bench_interview.bench_interview(
        Settings(collection="blog"),
        [("What makes dough rise in a warm kitchen?", "en")],
        [battery],
        None,
        lambda *_: None,
    )
    assert result["blog"]["questions"] == result["interview"]["questions"] == {"answered": 1}
    assert "first word, interview over blog" in result
