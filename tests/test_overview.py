"""What is this about? Asked in ten wordings and both languages, it is answered with a citation."""

from __future__ import annotations

import pytest

from rag.answer.answerer import Answerer

pytestmark = pytest.mark.models

ENGLISH = [
    "What topics does this blog cover?", "What is this blog about?", "what do you write about",
    "Which subjects are covered here?", "What are the main topics of the blog?",
    "Give me an overview of this blog", "what is this about?", "What can I read about here?",
    "Tell me about this blog", "What themes do the posts deal with?",
]  # fmt: skip
SPANISH = [
    "¿De qué trata este blog?", "¿Qué temas cubre este blog?", "de que va este blog",
    "¿Sobre qué escribes?", "¿Cuáles son los temas principales del blog?", "que temas hay aqui",
    "Dame un resumen de este blog", "¿De qué hablan las entradas?", "¿Sobre qué puedo leer aquí?",
    "Háblame de este blog",
]  # fmt: skip


@pytest.mark.parametrize("question", ENGLISH + SPANISH)
def test_an_overview_question_is_answered(product: Answerer, question: str) -> None:
    answer = product.ask(question, "blog")
    assert answer.outcome == "answered", answer.answer
    assert answer.language == ("en" if question in ENGLISH else "es")
    assert answer.citations[0].url == "https://smallmodels.example/"
