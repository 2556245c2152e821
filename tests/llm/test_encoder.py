from __future__ import annotations

import numpy as np
import pytest

from rag.llm.build import Models
from rag.llm.encoder import OnnxEncoder


@pytest.fixture(scope="module")
def encoder(tiny: Models) -> OnnxEncoder:
    return OnnxEncoder(tiny.embedder, threads=1)


def test_vectors_have_length_one(encoder: OnnxEncoder) -> None:
    texts = ["a passage", "", "una respuesta " * 60]
    vectors = encoder.encode_passages(texts)
    assert vectors.shape == (3, encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_what_lies_past_the_window_counts(encoder: OnnxEncoder) -> None:
    start = "the tokenizer cuts words into pieces " * 20
    ends = [start + "una lista de vectores", start + "an answer quotes it word for word"]
    one, other = encoder.encode_passages(ends)
    assert encoder.count_tokens(start) > 48
    assert one @ other < 0.9999


def test_windows_weigh_by_their_tokens(encoder: OnnxEncoder) -> None:
    # Without a prompt both windows of the long text are the short one's.
    encoder._passage = ""
    text = " ".join(["passage", "vectores"] * 22)
    whole = encoder.encode_passages([f"{text} {text}"])[0]
    half = encoder.encode_passages([text])[0]
    encoder._passage = "passage: "
    assert whole @ half > 0.9999


def test_order_and_company_change_nothing(encoder: OnnxEncoder) -> None:
    texts = ["a passage says what it says " * n for n in (9, 1, 30, 4)]
    together = encoder.encode_passages(texts)
    alone = np.stack([encoder.encode_passages([text])[0] for text in texts])
    assert np.allclose(together, alone, atol=1e-5)


def test_a_word_longer_than_the_window(encoder: OnnxEncoder) -> None:
    assert np.isfinite(encoder.encode_passages(["q" * 5000])).all()


def test_no_texts(encoder: OnnxEncoder) -> None:
    assert encoder.encode_passages([]).shape == (0, encoder.dimension)


def test_special_tokens_are_not_counted(encoder: OnnxEncoder) -> None:
    assert encoder.count_tokens("") == 0
    assert encoder.count_tokens("a passage") < encoder.count_tokens("a passage a passage")
