"""The real models, as the settings name them."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest

from rag.llm.build import Models, ensure_models
from rag.llm.encoder import OnnxEncoder
from rag.llm.generate import OnnxLanguageModel
from rag.settings import Settings
from rag.types import Message

pytestmark = pytest.mark.models

PASSAGES = [
    "The lighthouse of Vardø was built in 1896 and stands on a small island; its light reaches "
    "24 nautical miles. It was made automatic in 2003.",
    "El faro de Vardø se construyó en 1896 en una isla pequeña; su luz alcanza 24 millas náuticas.",
    "Bread dough rises because yeast turns sugar into carbon dioxide.",
]
CASES = [
    ("How far does the light of the lighthouse reach?", PASSAGES[0], "24"),
    ("¿En qué año se construyó el faro?", PASSAGES[1], "1896"),
]


@pytest.fixture(scope="module")
def models() -> Models:
    return ensure_models(Settings.from_environment())


@pytest.fixture(scope="module")
def model(models: Models) -> OnnxLanguageModel:
    return OnnxLanguageModel(models.llm, threads=2)


def test_the_built_files_hold_about_a_byte_a_weight(models: Models) -> None:
    for folder in (models.llm, models.embedder):
        graph = onnx.load(str(folder / "model.onnx"), load_external_data=False).graph
        weights = sum(math.prod(t.dims) for t in graph.initializer)
        size = sum(path.stat().st_size for path in folder.glob("model.onnx*"))
        assert size < 1.4 * weights, folder.name


def test_a_question_finds_its_passage_in_both_languages(models: Models) -> None:
    encoder = OnnxEncoder(models.embedder, threads=2)
    passages = encoder.encode_passages(PASSAGES)
    for question, *_ in CASES:
        scores = passages @ encoder.encode_query(question)
        assert np.argsort(scores)[0] == 2, "the bread is the farthest"


@pytest.mark.parametrize(("question", "passage", "expected"), CASES)
def test_the_answer_is_read_from_the_passage(
    model: OnnxLanguageModel, question: str, passage: str, expected: str
) -> None:
    prompt = [
        Message("system", "Answer the question from the passage in one short sentence."),
        Message("user", f"{passage}\n\n{question}"),
    ]
    generation = model.generate(prompt, max_tokens=48)
    assert expected in "".join(generation)
    assert generation.ending == "end"


def test_guessing_and_caching_change_nothing(models: Models, model: OnnxLanguageModel) -> None:
    plain = OnnxLanguageModel(models.llm, threads=2, guesses=0)
    for question, passage, _ in CASES:
        prompt = [Message("user", f"{passage}\n\n{question}")]
        expected = "".join(plain.generate(prompt, max_tokens=40))
        assert "".join(model.generate(prompt, max_tokens=40)) == expected
        assert "".join(model.generate(prompt, max_tokens=40)) == expected


def test_likelier_option_scores_higher(model: OnnxLanguageModel) -> None:
    prompt = [Message("user", f"{PASSAGES[0]}\n\nIn which year was it built? Only the year.")]
    right, wrong = model.option_logprobs(prompt, ["1896", "1745"])
    assert right > wrong
