import pytest

from rag.answer.smalltalk import classify


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("hola", "greeting"), ("Hellooo!", "greeting"), ("buenos días", "greeting"),
        ("Hola, ¿qué tal?", "greeting"), ("hi there", "greeting"), ("What's up", "greeting"),
        ("thanks!", "thanks"), ("muchas gracias", "thanks"), ("ok", "thanks"),
        ("bye", "goodbye"), ("hasta luego", "goodbye"), ("thanks, bye", "goodbye"),
        ("Hi, who are you?", "identity"), ("¿Quién eres?", "identity"),
        ("what can I ask?", "help"), ("¿Qué puedo preguntar?", "help"),
        ("helo", "greeting"), ("garcias", "thanks"),
    ],
)  # fmt: skip
def test_small_talk_is_known(message: str, kind: str) -> None:
    assert classify(message) == kind


@pytest.mark.parametrize(
    "message",
    ["Hi, what is chunking?", "nice post about int8", "What is int8?", "hola mundo en Python", "", "?",
     "Who is Marta?", "ok but why int8", "halo effect"],
)  # fmt: skip
def test_a_question_is_no_small_talk(message: str) -> None:
    assert classify(message) is None
