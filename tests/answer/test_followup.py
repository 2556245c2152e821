import pytest

from rag.answer.followup import names_its_subject, resolve, wanted_language, whole_turns
from rag.types import Turn


def conversation(*questions: str) -> list[Turn]:
    return [t for q in questions for t in (Turn("user", q), Turn("assistant", "…"))]


@pytest.mark.parametrize(
    "message",
    ["Why?", "And in Python?", "When was he born?", "How does it work?", "tell me more",
     "¿Y por qué?", "¿Cuánto ocupa su caché?", "¿Para qué sirve eso?", "what about its memory?"],
)  # fmt: skip
def test_a_message_that_leans_on_the_last_question_is_searched_with_it(message: str) -> None:
    query = resolve(message, conversation("What is BM25?"))
    assert query.text == f"What is BM25? {message}"
    assert query.rewritten


@pytest.mark.parametrize(
    "message",
    ["What is chunking?", "¿Qué es la cuantización?", "What topics does this blog cover?",
     "Is there a post on FAISS?", "¿De qué trata este blog?", "How big should a chunk be?",
     "Does FAISS copy vectors when it builds an index?"],
)  # fmt: skip
def test_a_message_that_stands_alone_is_searched_as_typed(message: str) -> None:
    query = resolve(message, conversation("What is BM25?"))
    assert (query.text, query.rewritten) == (message, False)


@pytest.mark.parametrize(
    "message",
    ["and in Spanish?", "¿Me lo explicas en español?", "could you repeat that in Spanish",
     "tradúcelo al español", "¿puedes responderme en castellano?"],
)  # fmt: skip
def test_a_message_that_only_changes_the_language_adds_nothing_to_the_search(message: str) -> None:
    assert resolve(message, conversation("What is BM25?")).text == "What is BM25?"


def test_the_first_follow_up_is_rewritten() -> None:
    assert resolve("When was he born?", conversation("Who wrote X?")).rewritten


def test_without_a_history_nothing_is_rewritten() -> None:
    assert resolve("Why?", []).text == "Why?"


def test_a_greeting_is_never_context() -> None:
    query = resolve("How does it work?", conversation("What is BM25?", "hola", "thanks"))
    assert query.text == "What is BM25? How does it work?"
    assert resolve("How does it work?", conversation("hola")).text == "How does it work?"


@pytest.mark.parametrize(
    ("message", "language"),
    [("and in Spanish?", "es"), ("¿y en español?", "es"), ("en inglés por favor", "en"),
     ("translate that to English", "en"), ("What is BM25?", None)],
)  # fmt: skip
def test_asking_for_the_other_language(message: str, language: str | None) -> None:
    assert wanted_language(message) == language


def test_the_other_language_searches_the_same_question_again() -> None:
    assert resolve("and in Spanish?", conversation("What is BM25?")).text == "What is BM25?"


def test_a_window_holds_whole_turns_and_never_starts_with_an_answer() -> None:
    history = conversation(*(f"q{i}" for i in range(7)))
    kept = whole_turns(history[1:], 5)
    assert [t.content for t in kept if t.role == "user"] == ["q2", "q3", "q4", "q5", "q6"]
    assert kept[0].role == "user"


def test_a_failed_turn_does_not_leave_two_questions_in_a_row() -> None:
    history = [Turn("user", "lost"), *conversation("kept")]
    assert [t.content for t in whole_turns(history, 5)] == ["kept", "…"]


@pytest.mark.parametrize(
    ("message", "names"),
    [("How do I repair mojibake?", True), ("How many layers?", False), ("and the memory?", False)],
)
def test_a_rare_word_is_a_messages_own_subject(message: str, names: bool) -> None:
    assert names_its_subject(message) is names
