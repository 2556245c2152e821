import pytest

from rag.answer.whole import asks_about_the_whole
from tests.test_overview import ENGLISH, SPANISH


@pytest.mark.parametrize("message", ENGLISH + SPANISH)
def test_questions_about_the_whole_are_known(message: str) -> None:
    assert asks_about_the_whole(message, in_conversation=False)


@pytest.mark.parametrize(
    "message",
    ["Who writes this blog?", "How many posts are there?", "What is this blog's view on int8?",
     "What is BM25 about?", "Tell me about chunking", "¿Quién escribe este blog?", "Why?",
     "¿Qué temas de cuantización hay?", "What is the latest post?", "tell me more"],
)  # fmt: skip
def test_questions_with_a_subject_are_not(message: str) -> None:
    assert not asks_about_the_whole(message, in_conversation=False)


def test_in_a_conversation_this_means_what_was_talked_of() -> None:
    assert asks_about_the_whole("what is this about?", in_conversation=False)
    assert not asks_about_the_whole("what is this about?", in_conversation=True)
    assert asks_about_the_whole("what is this blog about?", in_conversation=True)
