"""The interview's steps, each by itself, and the conversation around a scripted model."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rag.answer.answerer import Answerer
from rag.answer.check import Support, Unsupported
from rag.answer.collection import Collection
from rag.answer.interview import relevance
from rag.answer.interview.address import about, spoken_of
from rag.answer.interview.held import VoiceChecker
from rag.answer.interview.interview import Interview
from rag.answer.interview.passages import TurnedFootnotes, TurnedPassage
from rag.answer.interview.route import Route
from rag.answer.interview.voice import InterviewVoice
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import Answer, Card, Chunk, Turn
from tests.answer.scripted import ScriptedModel
from tests.words import WordEncoder, chunk, stored

MARIE = Card("Marie Stone", "f", ("Marie", "Stone"), "English chemist", "1852–1901", True, "MIT")
LUIS = Card("Luis Vega", "m", ("Luis", "Vega"), "", "", True, None)


@pytest.mark.parametrize(
    ("asked", "sought"),
    [
        ("Where were you born?", "Where was she born?"),
        ("What is your favourite salt?", "What is her favourite salt?"),
        ("Do you like music?", "Does she like music?"),
        ("When did Marie Stone die?", "When did she die?"),
        ("What was Marie's house like?", "What was her house like?"),
        ("Who was Babbage?", "Who was Babbage?"),
        ("What is a Stone filter?", "What is a Stone filter?"),
        ("Why did he leave you?", "Why did he leave her?"),
        ("What did he say about you?", "What did he say about her?"),
        ("Who taught you salts?", "Who taught her salts?"),
        ("When were you at Hull?", "When was she at Hull?"),
    ],
)
def test_you_becomes_the_subject(asked: str, sought: str) -> None:
    assert spoken_of(asked, MARIE, "en") == sought


@pytest.mark.parametrize(
    ("asked", "sought"),
    [
        ("¿Dónde naciste?", "¿Dónde nació?"),
        ("¿Con quién te casaste?", "¿Con quién se casó?"),
        ("¿Cuándo publicaste tu libro?", "¿Cuándo publicó su libro?"),
        ("¿Qué hiciste en Cuba?", "¿Qué hizo en Cuba?"),
        ("¿Cómo construiste el puente?", "¿Cómo construyó el puente?"),
        ("¿Quién era el rey?", "¿Quién era el rey?"),
        ("¿Dónde moriste?", "¿Dónde murió?"),
        ("¿Quién te dio el premio?", "¿Quién le dio el premio?"),
        ("¿Cuáles eran tus manías?", "¿Cuáles eran sus manías?"),
        ("¿Quién vino a leerte?", "¿Quién vino a leerle?"),
        ("¿Qué parte te tocó?", "¿Qué parte le tocó?"),
    ],
)
def test_tu_becomes_the_subject(asked: str, sought: str) -> None:
    assert spoken_of(asked, LUIS, "es") == sought


def test_the_answer_object_shows_the_name() -> None:
    assert about("Where were you born?", MARIE, "en") == "Where was Marie Stone born?"
    assert about("¿Dónde naciste?", LUIS, "es") == "¿Dónde nació (Luis Vega)?"
    assert about("Who was Babbage?", MARIE, "en") == "Who was Babbage?"


def section(name: str, text: str, *forms: str | None) -> Chunk:
    """A chunk of Marie's page whose sentences have the given first-person forms."""
    made = chunk(
        text,
        "marie",
        section=name,
        title="Marie Stone",
        kind="article",
        url=f"https://x.example/marie#{name}",
        id=name,
    )
    return replace(made, first_person=forms)


BIRTH = section(
    "Early life",
    "Stone was born in Hull in 1852. Her father kept bees. The girl feared the bees.",
    "I was born in Hull in 1852.",
    "My father kept bees.",
    None,
)
SALTS = section(
    "Work > Salts",
    "She studied salts in an attic. The attic burned in 1880. She lost her notes.",
    "I studied salts in an attic.",
    "The attic burned in 1880.",
    "I lost my notes.",
)
DEATH = section("Death", "She died in Leeds in 1901.", "I died in Leeds in 1901.")


def turned(made: Chunk) -> TurnedPassage:
    vectors = WordEncoder().encode_passages([made.text[a:b] for a, b in made.sentences])
    return TurnedPassage.turn(made, 0.9, vectors)


def test_a_turned_passage_leaves_out_what_has_no_form() -> None:
    passage = turned(BIRTH)
    assert passage.chunk.text == "I was born in Hull in 1852. My father kept bees."
    assert "Marie" not in passage.chunk.told
    assert passage.vectors.shape[0] == 2


def test_footnotes_quote_the_page_and_not_the_form() -> None:
    footnotes = TurnedFootnotes([turned(BIRTH), turned(SALTS)])
    for n, told in ((0, "I was born in Hull in 1852."), (1, "I lost my notes.")):
        footnotes.add(Support(n, told, 0.9, told))
    assert footnotes.text == "I was born in Hull in 1852. [1] I lost my notes. [2]"
    assert [c.quote for c in footnotes.citations] == [
        "Stone was born in Hull in 1852.",
        "She lost her notes.",
    ]
    assert [c.section for c in footnotes.citations] == ["Early life", "Work > Salts"]


def checker(question: str = "Where was she born?") -> VoiceChecker:
    passages = [turned(BIRTH), turned(SALTS)]
    return VoiceChecker(question, "en", passages, WordEncoder(), question, MARIE)


def test_i_was_born_is_supported_by_she_was_born() -> None:
    found = checker().check("I was born in Hull in 1852.")
    assert isinstance(found, Support)
    assert found.quote == "I was born in Hull in 1852."


@pytest.mark.parametrize(
    "sentence",
    [
        "Marie Stone was born in Hull in 1852.",
        "As an AI, I was born in Hull in 1852.",
        "I was born in Leeds in 1852.",
    ],
)
def test_what_is_out_of_voice_or_untrue_is_held_back(sentence: str) -> None:
    assert isinstance(checker().check(sentence), Unsupported)


@pytest.mark.parametrize(
    "said", ["She was born in Hull in 1852.", "You were born in Hull in 1852."]
)
def test_what_points_at_a_sentence_shows_it_in_the_first_person(said: str) -> None:
    found = checker().check(said)
    assert isinstance(found, Support)
    assert found.shown == "I was born in Hull in 1852."


def test_in_another_language_the_models_own_sentence_must_be_in_voice() -> None:
    passages = [turned(BIRTH)]
    spanish = VoiceChecker("¿Dónde nació?", "es", passages, WordEncoder(), "¿Dónde nació?", MARIE)
    held = spanish.check("Ella nació en Hull in 1852: born.")
    assert isinstance(held, Unsupported)


def test_a_sentence_that_was_shown_does_not_come_again_with_the_next() -> None:
    made = section(
        "Life",
        "She met Reed at a party in Hull. He held the chair of chemistry in Hull.",
        "I met Reed at a party in Hull.",
        "He held the chair of chemistry in Hull.",
    )
    question = "Was the party in Hull?"
    checks = VoiceChecker(question, "en", [turned(made)], WordEncoder(), question, MARIE)
    first = checks.check("I met Reed at a party in Hull.")
    second = checks.check("He held the chair of chemistry in Hull.")
    assert isinstance(first, Support)
    assert isinstance(second, Support)
    assert second.shown == "He held the chair of chemistry in Hull."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Why did she refuse salts?", "I studied salts in an attic."),
        ("How did her father die?", "The attic burned in 1880."),
        ("Who was her second father?", "My father kept bees."),
    ],
)
def test_what_the_question_takes_for_granted_must_stand_in_what_is_shown(
    question: str, said: str
) -> None:
    assert isinstance(checker(question).check(said), Unsupported)


def test_a_follow_up_is_held_to_its_own_question() -> None:
    joined = "Why did she refuse the bees? Where did she study salts?"
    assert isinstance(checker(joined).check("I studied salts in an attic."), Support)


def test_a_draft_out_of_voice_is_not_shown() -> None:
    assert checker().may_go_on("I was born in")
    assert not checker().may_go_on("She was born in")


def test_relevance_wants_the_words_or_a_near_sentence() -> None:
    near, far = relevance.Signals(0.9, True, 0.0), relevance.Signals(0.8, False, 1.0)
    assert relevance.score(near) >= relevance.ENOUGH > relevance.score(far)
    assert 0 <= relevance.score(far) <= relevance.score(near) <= 10


def test_familiar_words_mean_the_pages() -> None:
    assert relevance.plainly("Who was her dad?") == "Who was her father?"
    assert [w.said for w in relevance.words_of("Who was her dad?", "en")] == ["father"]


PAGE = [BIRTH, SALTS, DEATH]


def searcher() -> Searcher:
    card = {
        "name": MARIE.name, "gender": "f", "names": list(MARIE.names), "line": MARIE.line,
        "years": MARIE.years, "is_dead": True, "licence": "MIT",
    }  # fmt: skip
    return Searcher(
        stored(PAGE, mode="interview", title="Marie Stone", card=card, name="t"), WordEncoder()
    )


def test_the_section_of_a_question_comes_first() -> None:
    query, found, verdict, steps = Route(searcher(), MARIE).find(
        "When did you study salts in the attic?", [], 3, "en"
    )
    assert verdict.passes
    assert found.hits[0].chunk.section == "Work > Salts"
    assert {"rewritten", "category"} <= set(steps)
    assert query.text == "When did Marie Stone study salts in the attic?"


def test_a_misspelt_name_is_found_and_the_route_says_so() -> None:
    _, found, _, steps = Route(searcher(), MARIE).find("Why did Huull matter?", [], 3, "en")
    assert "spelling" in steps
    assert found.hits[0].chunk.section == "Early life"


def test_a_name_that_the_page_has_wrong_is_found_by_its_right_spelling() -> None:
    teacher = section(
        "Teachers", "Cholmondely painted her portrait.", "Cholmondely painted my portrait."
    )
    made = Searcher(
        stored([*PAGE, teacher], mode="interview", title="Marie Stone", name="t"), WordEncoder()
    )
    asked = "Did Cholmondeley paint your portrait?"
    _, found, verdict, steps = Route(made, MARIE).find(asked, [], 3, "en")
    assert verdict.passes
    assert "spelling" in steps
    assert found.hits[0].chunk.section == "Teachers"


def test_dad_is_found_and_the_route_says_so() -> None:
    _, found, verdict, steps = Route(searcher(), MARIE).find("Your dad kept bees?", [], 3, "en")
    assert verdict.passes
    assert "familiar-word" in steps
    assert found.hits[0].chunk.section == "Early life"


def test_a_stranger_is_refused_before_anything_is_scored() -> None:
    _, _, verdict, steps = Route(searcher(), MARIE).find("Did you meet Napoleon?", [], 3, "en")
    assert not verdict.passes
    assert verdict.missing == ("meet", "Napoleon")
    assert "category" not in steps


def talk(*replies: str | Exception) -> tuple[Answerer, ScriptedModel]:
    model = ScriptedModel(*replies)
    made = searcher()
    collection = Collection(made, Gate(), Interview(made, MARIE))
    return Answerer({"t": collection}, model, Settings(collection="t")), model


def test_an_answer_is_in_the_first_person_with_the_pages_words_behind_it() -> None:
    ask, model = talk("I studied salts in an attic.")
    answer = ask.ask("Where did you study salts?")
    assert (answer.outcome, answer.mode) == ("answered", "interview")
    assert answer.answer == "I studied salts in an attic. [1]"
    assert answer.citations[0].quote == "She studied salts in an attic."
    assert "She" not in model.asked[0][-1].content


def test_what_the_model_says_from_outside_gives_way_to_the_pages_own_sentence() -> None:
    ask, _ = talk("She sold shells by the shore.")
    answer = ask.ask("Where did you study salts?")
    assert answer.answer == "I studied salts in an attic. [1]"
    assert "quoted" in answer.route


def test_what_cannot_be_turned_is_quoted() -> None:
    ask, _ = talk("The girl feared the bees.", "The girl feared the bees.")
    answer = ask.ask("Which girl feared the bees?")
    assert answer.answer == "My page puts it like this: “The girl feared the bees.” [1]"
    assert answer.citations[0].quote == "The girl feared the bees."


def test_a_sentence_that_only_announces_is_no_answer() -> None:
    ways = section(
        "Salts", "She improved the salts in two ways.", "I improved the salts in two ways."
    )
    question = "How did she improve the salts?"
    checks = VoiceChecker(question, "en", [turned(ways)], WordEncoder(), question, MARIE)
    assert isinstance(checks.check("I improved the salts in two ways."), Unsupported)


def test_an_item_of_a_list_is_quoted_as_such() -> None:
    prizes = section(
        "Prizes", "1. Copley Medal for salts (1890).", "Copley Medal for salts (1890)."
    )
    start = prizes.text.index("Copley")
    prizes = replace(prizes, sentences=((start, len(prizes.text)),))
    question = "Which medal did she get for salts?"
    checks = VoiceChecker(question, "en", [turned(prizes)], WordEncoder(), question, MARIE)
    assert isinstance(checks.check("Copley Medal for salts (1890)."), Unsupported)


def test_a_refusal_stays_in_role_and_calls_no_model() -> None:
    ask, model = talk()
    answer = ask.ask("Why did you move to Tokyo?")
    assert answer.outcome == "refused"
    assert model.asked == []
    assert re.search(r"\b(?:me|my|I)\b", answer.answer)
    assert "“Tokyo”" in answer.answer
    assert answer.citations == ()


@pytest.mark.parametrize("question", ["Who are you?", "hello", "What can I ask you?", "thanks"])
def test_small_talk_is_in_role(question: str) -> None:
    ask, model = talk()
    answer = ask.ask(question)
    assert (answer.outcome, model.asked) == ("greeting", [])
    assert "Footnote" not in answer.answer


def test_who_are_you_owns_up_to_the_machine() -> None:
    assert "machine" in talk()[0].ask("Are you a bot?").answer


def test_a_follow_up_takes_the_earlier_question_along() -> None:
    ask, _ = talk("I studied salts in an attic.")
    history = [Turn("user", "Where did you study salts?"), Turn("assistant", "In an attic.")]
    answer: Answer = ask.ask("And why there?", history=history)
    assert "salts" in answer.search_query
    assert "rewritten" in answer.route


def test_refusals_have_several_wordings() -> None:
    said = {InterviewVoice("en", "t", (), MARIE, str(n)).refusal((), None) for n in range(20)}
    assert len(said) > 1
