from dataclasses import replace

import numpy as np
import pytest

from rag.answer import choice, prompt
from rag.answer.check import Passage
from rag.types import Language
from tests.words import WordEncoder, chunk

ENCODER = WordEncoder()


def passage(text: str, page: str = "a", **changes: object) -> Passage:
    piece = replace(chunk(text, page), **changes)  # type: ignore[arg-type]
    vectors = ENCODER.encode_passages([text[a:b] for a, b in piece.sentences]).astype(np.float32)
    return Passage.of(piece, 0.9, vectors)


def notes_of(question: str, *passages: Passage, budget: int = 40) -> prompt.Notes:
    vector = ENCODER.encode_query(question)
    return prompt.select(question, vector, passages, lambda t: len(t.split()), budget)


def select(question: str, *passages: Passage, budget: int = 40) -> str:
    return notes_of(question, *passages, budget=budget).text


def candidates(
    question: str, *passages: Passage, language: Language = "en", only: bool = False
) -> list[choice.Candidate]:
    vector = ENCODER.encode_query(question)
    return choice.candidates(question, vector, passages, language, only=only)


LONG = passage(
    "Bread rises slowly in winter. The oven must be hot. Salt slows the yeast. "
    "A cache keeps keys and values. It saves reading them again. Tea is served later."
)


def test_the_nearest_sentences_are_read_with_their_neighbours_in_order() -> None:
    notes = select("What does a cache keep?", LONG, budget=24)
    told = notes.splitlines()[1:]
    at = [LONG.chunk.text.index(line) for line in told]
    assert "A cache keeps keys and values." in told
    assert len(told) == 2
    assert at == sorted(at)
    assert not any(line.startswith(("Bread", "Tea")) for line in told)


def test_the_budget_is_kept() -> None:
    for budget in (10, 20, 60):
        notes = select(
            "What does a cache keep?", LONG, passage("A cache is fast.", "b"), budget=budget
        )
        told = [line for line in notes.splitlines() if not line.startswith("##")]
        assert sum(len(line.split()) for line in told) <= budget


def test_each_passage_stands_under_its_title_and_section() -> None:
    notes = select("cache", passage("A cache is fast.", "b", section="Why > Speed"))
    assert notes.startswith("## B: Speed\n")


def test_an_overview_is_read_only_when_it_came_first() -> None:
    whole = passage("This blog is about caches.", "o", kind="overview")
    assert "This blog" not in select("cache", LONG, whole)
    assert "This blog" in select("cache", whole, LONG)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is a cache?", "A cache is a small store of results."),
        ("what are caches for memory", "Memory caches are fast, and memory is cheap."),
    ],
)
def test_the_sentence_that_says_it_is_nearest(question: str, first: str) -> None:
    text = (
        "Nobody likes a cold cache in the morning. A cache is a small store of results. "
        "What is a cache? It grows old. Memory caches are fast, and memory is cheap."
    )
    read = passage(text)
    nearest = choice.nearest(candidates(question, read))
    assert read.sentence(nearest[0][1]) == first
    assert all("?" not in read.sentence(place.sentence) for place in nearest)


@pytest.mark.parametrize(
    "text",
    ["What does a cache keep?", "A cache keeps:", "A cache keeps this.", "$$c = k \\cdot v$$"],
)
def test_what_answers_nothing_is_no_candidate(text: str) -> None:
    piece = chunk(text, "a")
    read = Passage.of(piece, 0.9, ENCODER.encode_passages([text]).astype(np.float32))
    assert len(piece.sentences) == 1
    assert candidates("What does a cache keep?", read) == []


def test_other_languages_count_unless_only_one_is_wanted() -> None:
    english = passage("Bread rises slowly in winter because yeast is cold.", "e")
    spanish = passage("La caché guarda claves y valores de los tokens.", "s", language="es")
    question = "que guarda la caché"
    both = choice.nearest(candidates(question, english, spanish))
    assert both[0][:2] == (1, 0) and len(both) == 2
    (own,) = candidates(question, english, spanish, only=True)
    assert (own.passage, own.sentence) == (0, 0)


def test_a_sentence_with_what_was_asked_for_is_nearer() -> None:
    text = "The old bridge over the river was paid by somebody. It cost 400 euros to build."
    read = passage(text)
    question = "What did the bridge cost?"
    nearest = choice.nearest(candidates(question, read))
    assert read.sentence(nearest[0][1]) == "It cost 400 euros to build."


def test_the_fixed_part_comes_first_so_that_its_cache_can_be_kept() -> None:
    asked = prompt.messages("What is it?", None, "## A\nText.", "es")
    assert asked[:3] == prompt.fixed("es")
    assert asked[-1].content.endswith("Pregunta: What is it?")


def test_what_goes_on_in_code_is_no_candidate_and_a_list_item_is_one() -> None:
    question = "What does a cache keep?"
    block = passage("A cache keeps keys of so many tokens that\n\n```\nkeep(cache)\n```")
    assert candidates(question, block) == []
    item = passage("A cache keeps the keys and the values of all tokens")
    assert len(candidates(question, item)) == 1


def test_an_overview_is_a_candidate_only_when_it_came_first() -> None:
    whole = passage("This blog is about caches and about what they keep.", "o", kind="overview")
    question = "What does a cache keep?"
    assert {found.passage for found in candidates(question, LONG, whole)} == {0}
    assert 0 in {found.passage for found in candidates(question, whole, LONG)}


@pytest.mark.parametrize(
    ("question", "text", "first"),
    [
        ("¿Qué es la cuantización?",
         "Con ella todo va más deprisa. Cuantizar es cambiar números por enteros:", 1),
        ("What is a near negative?",
         "It is one of three kinds here. Near: questions about your own subjects.", 1),
        ("What is a cache?", "Caches are stores of earlier results. A cache gets cold.", 0),
        ("What is a cache?", "A cache gets cold at night. What it holds is a matter of taste.", 0),
    ],
)  # fmt: skip
def test_a_definition_comes_first(question: str, text: str, first: int) -> None:
    language: Language = "es" if "¿" in question else "en"
    read = passage(text, language=language)
    found = choice.nearest(candidates(question, read, language=language))
    assert found[0].sentence == first


def test_each_line_of_the_notes_and_the_question_are_where_the_prompt_says() -> None:
    read = [LONG, passage("A cache is fast. It is small.", "b", section="Why > Speed")]
    question = "What does a cache keep?"
    notes = notes_of(question, *read, budget=100)
    asked = prompt.of(question, "What is a token?", notes, "es")
    assert asked.watch is not None
    content = asked.messages[-1].content
    assert content[slice(*asked.watch.question)] == question
    told = [content[slice(*span)] for span in asked.watch.sentences]
    assert told == [read[line.passage].sentence(line.sentence) for line in asked.lines]
    assert {line.passage for line in asked.lines} == {0, 1} and len(told) > 3


def test_the_sentence_that_the_heads_look_at_is_the_likeliest_by_what_was_read() -> None:
    question = "What does a cache keep?"
    other = passage("Nobody keeps a cold cache for long.", "b")
    found = candidates(question, LONG, other)
    lines = notes_of(question, LONG, other, budget=50).lines
    could = {(one.passage, one.sentence) for one in found}
    places = {(line.passage, line.sentence) for line in lines} & could
    assert 1 < len(places) < len(could)
    looks = np.full((2, 3, len(lines)), 0.01, np.float32)
    seen = next(n for n, line in enumerate(lines) if line[:2] == max(places))
    looks[1, 2, seen] = 0.2
    heads = np.zeros((2, 3), np.float32)
    heads[1, 2] = 1.0
    pointer = choice.Pointer(np.zeros(choice.SIGNS, np.float32), heads)
    likeliest = pointer.likeliest(found, lines, looks)
    assert {place[:2] for place in likeliest} == places
    assert likeliest[0][:2] == max(places)
    assert likeliest[0].likely - likeliest[1].likely == pytest.approx(np.log(0.201 / 0.011), 1e-4)
    # And the signs count beside them.
    signs = np.zeros(choice.SIGNS, np.float32)
    signs[0] = 100.0
    near = choice.Pointer(signs, heads).likeliest(found, lines, looks)
    assert near[0][:2] == choice.nearest(found)[0][:2]
