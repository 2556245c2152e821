import pytest

from rag.answer.language import detect


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Hola", "es"), ("Hello", "en"), ("buenos dias", "es"), ("hi there", "en"),
        ("Tell me about El Niño", "en"), ("Who is José Martínez?", "en"),
        ("explicame asyncio en Python", "es"), ("que es la cuantizacion", "es"),
        ("¿Qué es la cuantización?", "es"), ("Explain naïve retrieval", "en"),
        ("gracias", "es"), ("Why?", "en"), ("por que", "es"), ("and in Spanish?", "en"),
        ("resume el café", "es"), ("How do I call max_output_tokens?", "en"),
    ],
)  # fmt: skip
def test_the_language_of_a_message(message: str, language: str) -> None:
    other = "es" if language == "en" else "en"
    assert detect(message, undecided=other) == language  # type: ignore[arg-type]


@pytest.mark.parametrize("message", ["ok", "Kubernetes?", "BM25", "chunking", "", "🙂"])
def test_what_could_be_either_keeps_the_conversation_language(message: str) -> None:
    assert detect(message, undecided="en") == "en"
    assert detect(message, undecided="es") == "es"
