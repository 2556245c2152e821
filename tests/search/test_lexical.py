from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest

from rag.search import analyse, lexical, store
from rag.search.lexical import LexicalIndex
from rag.search.postings import K1, B, Postings, gram_ids
from tests.words import WordEncoder, chunk, stored

DOCUMENTS = [
    ["falcon", "fast", "ship", "falcon"],
    ["bread", "flour"],
    [],
    ["fast", "bread", "fast"],
]


def grams(stems: list[str]) -> list[tuple[str, ...]]:
    return [tuple(stems[i : i + n]) for n in (1, 2, 3) for i in range(len(stems) - n + 1)]


def bm25(document: int, asked: list[str]) -> float:
    """The textbook's sum, over the grams that the question and the document share."""
    counted = [Counter(grams(stems)) for stems in DOCUMENTS]
    lengths = [count.total() for count in counted]
    relative = lengths[document] / (sum(lengths) / len(lengths))
    total = 0.0
    for gram in set(grams(asked)):
        held_by = sum(gram in count for count in counted)
        often = counted[document][gram]
        weight = log(1 + (len(DOCUMENTS) - held_by + 0.5) / (held_by + 0.5))
        total += weight * often / (often + K1 * (1 - B + B * relative))
    return total


@pytest.mark.parametrize("asked", [["falcon"], ["fast", "ship"], ["fast", "bread", "x"], ["x"]])
def test_scores_are_bm25(asked: list[str]) -> None:
    found = Postings.of(DOCUMENTS).score(np.unique(gram_ids(asked)))
    assert np.allclose(found, [bm25(i, asked) for i in range(len(DOCUMENTS))], atol=1e-5)


def test_no_documents_and_no_question() -> None:
    assert Postings.of([]).score(gram_ids(["falcon"])).shape == (0,)
    assert not Postings.of(DOCUMENTS).score(gram_ids([])).any()


def test_the_order_of_words_makes_other_grams() -> None:
    forwards, backwards = (set(gram_ids(s).tolist()) for s in (["a", "b", "c"], ["c", "b", "a"]))
    assert len(forwards) == len(backwards) == 6
    assert len(forwards & backwards) == 3  # the words themselves


def test_stop_words_are_gone_before_grams_are_formed() -> None:
    built = gram_ids(analyse.terms("the Falcon of the rebels", "en"))
    assert set(gram_ids(analyse.terms("Falcon rebels", "en")).tolist()) == set(built.tolist())


def test_a_stored_index_gives_the_same_scores(tmp_path: Path) -> None:
    chunks = [chunk("Falcons fly fast.", "a"), chunk("Bread needs flour.", "b")]
    built = LexicalIndex.of(chunks)
    built.save(tmp_path / "lexical")
    read = LexicalIndex.load(tmp_path / "lexical", 2)
    assert read is not None
    assert (read.words, read.stems) == (built.words, built.stems)
    question = "how is braed baked"
    assert read.bridges(question) == built.bridges(question) != ()
    assert np.array_equal(
        read.scores(question, read.bridges(question)),
        built.scores(question, built.bridges(question)),
    )


@pytest.mark.parametrize("harm", ["another analyser", "truncated", "missing", "other chunks"])
def test_one_that_cannot_be_used_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    whole = stored([chunk("Falcons fly fast. They nest on cliffs.")])
    folder = tmp_path / "a"
    store.save(folder, whole.manifest, whole.chunks, whole.index, whole.sentence_vectors)
    assert LexicalIndex.load(folder / "lexical", 1) is not None
    if harm == "another analyser":
        monkeypatch.setattr(lexical, "_analyser", lambda: "other")
    elif harm == "truncated":
        path = folder / "lexical" / "scores.npy"
        path.write_bytes(path.read_bytes()[:-4])
    elif harm == "missing":
        (folder / "lexical" / "words.json").unlink()
    chunks = 2 if harm == "other chunks" else 1
    assert LexicalIndex.load(folder / "lexical", chunks) is None
    if chunks == 1:
        encoder = WordEncoder()
        assert store.load(folder, encoder.fingerprint, encoder.dimension).lexical is None
