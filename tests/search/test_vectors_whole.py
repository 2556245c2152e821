"""What goes wrong between encoder, index and search, seen from the search and from the answer."""

from __future__ import annotations

import numpy as np
import pytest

from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.answer.load import load_encoder
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.settings import Settings
from tests.answer.scripted import ScriptedModel
from tests.words import WordEncoder, chunk, stored

CHUNKS = [
    chunk("Bread needs flour and water. It bakes for an hour.", "bread"),
    chunk("A cache keeps keys and values. It saves work.", "cache"),
]


class BrokenEncoder(WordEncoder):
    """Its queries are no numbers."""

    def encode_query(self, text: str) -> np.ndarray:
        return np.full(self.dimension, np.nan, dtype=np.float32)


class LongEncoder(WordEncoder):
    """Its queries are a hair longer than 1, as rounding makes them."""

    def encode_query(self, text: str) -> np.ndarray:
        return super().encode_query(text) * np.float32(1.000001)


def test_five_of_two_are_two_and_none_of_them_twice() -> None:
    found = Searcher(stored(CHUNKS), WordEncoder()).search("bread", 5, "en")
    assert sorted(found.positions) == [0, 1]


def test_a_query_of_no_numbers_is_an_error_to_the_reader_and_not_a_refusal() -> None:
    searcher = Searcher(stored(CHUNKS), BrokenEncoder())
    with pytest.raises(ValueError, match="no numbers"):
        searcher.search("bread", 3, "en")
    answerer = Answerer(
        {"t": Collection(searcher, Gate())}, ScriptedModel(), Settings(collection="t")
    )
    assert answerer.ask("What is bread?", "t").outcome == "error"


def test_scores_stay_cosines_whatever_the_rounding() -> None:
    encoder = LongEncoder()
    texts = [chunk("bread", "bread", title=""), *CHUNKS]
    hits = Searcher(stored(texts), encoder).search("bread", 3, "en").hits
    assert all(-1 <= hit.score <= 1 for hit in hits)
    assert hits[0].score > 0.99


@pytest.mark.models
def test_texts_that_differ_only_past_the_window_differ(settings: Settings) -> None:
    encoder = load_encoder(settings)
    start = "The harbour is old and the boats come in with the tide. " * 60
    assert encoder.count_tokens(start) > 512
    one, other = encoder.encode_passages([
        start + "Ferries to Norway leave from pier nine every Friday evening.",
        start + "Nobody has ever measured how many gulls sleep on its roofs.",
    ])  # fmt: skip
    assert one @ other < 0.9999
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-5)
