"""What kind of thing a question asks for, and whether a sentence has it."""

import pytest

from rag.answer.wanted import wanted


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who invented the ROC curve?", "person"),
        ("¿Quién creó Snowball?", "person"),
        ("quien lo escribio", "person"),
        ("What does Pinecone cost?", "price"),
        ("cuanto vale el libro", "price"),
        ("¿Cuál es el precio de la cámara?", "price"),
        ("When was Karl Drais born?", "year"),
        ("¿Cuándo nació Taku Kudo?", "year"),
        ("in which year was it released", "year"),
        ("What is the latest version of Gradio?", "version"),
        ("How many layers does E5 have?", "number"),
        ("¿Cuántos años tiene?", "number"),
    ],
)
def test_a_question_whose_form_leaves_no_doubt_has_a_kind(question: str, kind: str) -> None:
    assert wanted(question).kinds == {kind}


@pytest.mark.parametrize(
    "question",
    [
        "What is a cache?",
        "How does BM25 rank?",
        "How long should a chunk be?",
        "When should I use a flat index?",
        "¿Cómo evito que la fórmula salga repetida?",
        "At what cost in time?",
        "por que es tan poco cuesta abajo",
    ],
)
def test_other_questions_have_none(question: str) -> None:
    assert not wanted(question).kinds


@pytest.mark.parametrize(
    ("question", "text", "met"),
    [
        ("Who wrote BM25?", "Stephen Robertson and others wrote it.", True),
        ("Who wrote BM25?", "It was written by Robertson.", True),
        ("Who wrote BM25?", "The formula counts words.", False),
        ("Who is Ada?", "Ada wrote programs.", False),
        ("What does it cost?", "It costs 30 euros.", True),
        ("What does it cost?", "It has 30 keys.", False),
        ("What does it cost?", "It is free.", True),
        ("When was she born?", "She was born in 1815.", True),
        ("When was she born?", "She was born in London.", False),
        ("How many cars were there?", "There were eleven cars.", True),
        ("¿Cuántos coches había?", "Había once coches.", True),
        ("How many cars were there?", "Horses pulled the cars.", False),
        ("How many layers does E5 large have?", "E5 is made like this.", False),
        ("How many layers does E5 large have?", "E5 large has 24.", True),
        ("How many of the 12 apostles fled?", "All 12 of them fled.", True),
        ("How do cars move?", "Horses pulled the cars.", True),
    ],
)
def test_a_sentence_has_it_or_not(question: str, text: str, met: bool) -> None:
    assert bool(wanted(question).met_by(text)) is met
