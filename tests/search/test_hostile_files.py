"""Collections come as files from anywhere: whatever is in them, loading ends in a line or works."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.search import store
from rag.search.calibrate import gate_of
from rag.search.search import Searcher
from rag.types import FootnoteError
from tests.words import WordEncoder, chunk, stored

ENCODER = WordEncoder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    whole = stored([chunk("Falcons fly fast. They nest on cliffs.")], name="a")
    folder = tmp_path / "a"
    store.save(folder, whole.manifest, whole.chunks, whole.index, whole.sentence_vectors)
    return folder


def refused(folder: Path) -> str:
    with pytest.raises(FootnoteError) as caught:
        gate_of(store.load(folder, ENCODER.fingerprint, ENCODER.dimension).manifest)
    assert "\n" not in str(caught.value)
    assert "build_index.py" in str(caught.value)
    return str(caught.value)


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


class Pwned:
    """Unpickling it would leave a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["sentences.npy", "index.faiss"])
def test_a_pickle_is_never_opened(folder: Path, tmp_path: Path, name: str) -> None:
    trap = tmp_path / "pwned"
    if name == "sentences.npy":
        np.save(folder / name, np.array([Pwned(trap)], dtype=object), allow_pickle=True)
    else:
        (folder / name).write_bytes(pickle.dumps(Pwned(trap)))
    refused(folder)
    assert not trap.exists()


@pytest.mark.parametrize("at", [8, 10, 20, 40, 60])
@pytest.mark.parametrize("junk", [b"", b"(((", b"\xff\xff", b"{'descr': '|O'"])
def test_a_broken_header_of_an_array_is_one_line(folder: Path, at: int, junk: bytes) -> None:
    path = folder / "sentences.npy"
    body = path.read_bytes()
    path.write_bytes(body[:at] + junk + (body[at + len(junk) :] if junk else b""))
    refused(folder)


def test_an_index_that_claims_more_than_its_size_is_not_read(folder: Path) -> None:
    path = folder / "index.faiss"
    body = bytearray(path.read_bytes())
    body[8:16] = struct.pack("<q", 1 << 40)
    body[37:45] = struct.pack("<Q", 1 << 50)
    path.write_bytes(body)
    refused(folder)


def test_the_size_is_checked_against_the_manifest(folder: Path) -> None:
    edit(folder / "manifest.json", chunks=2)
    assert "FAISS" in refused(folder)


def test_an_index_of_another_kind_is_not_read(folder: Path) -> None:
    path = folder / "index.faiss"
    path.write_bytes(b"IwPQ" + path.read_bytes()[4:])
    refused(folder)


def test_vectors_that_are_no_numbers_are_refused(folder: Path) -> None:
    path = folder / "index.faiss"
    body = path.read_bytes()
    path.write_bytes(body[:45] + struct.pack("<f", float("nan")) * ((len(body) - 45) // 4))
    refused(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"title": 3}, {"chunks": "many"}, {"suggestions": []}, {"suggestions": {"en": "x"}},
        {"topics": {"en": [1]}}, {"languages": None}, {"mode": "oracle"}, {"calibration": []},
        {"card": {}}, {"card": {"name": "Ada"}}, {"card": 3},
        {"calibration": {"same": 1}}, {"calibration": {"same": {}, "other": {}}},
        {"calibration": {"same": {"centre": [], "scale": [], "weight": [], "threshold": 0},
                         "other": None}},
    ],
)  # fmt: skip
def test_a_manifest_with_wrong_fields_is_one_line(folder: Path, changes: dict) -> None:
    edit(folder / "manifest.json", **changes)
    refused(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"text": None}, {"text": ["x"]}, {"url": {}}, {"sentences": [[0, 10_000]]},
        {"sentences": [[-5, 2]]}, {"sentences": [[3, 1], [0, 1]]}, {"sentences": "ab"},
        {"sentences": [[0]]}, {"kind": "virus"}, {"tags": 5},
    ],
)  # fmt: skip
def test_a_chunk_with_wrong_fields_is_one_line(folder: Path, changes: dict) -> None:
    path = folder / "chunks.json"
    first = json.loads(path.read_text())["chunks"][0]
    edit(path, chunks=[{**first, **changes}])
    refused(folder)


@pytest.mark.parametrize("chunks", [None, 3, "x", {}, [None], [[]], [3], []])
def test_chunks_that_are_none_are_one_line(folder: Path, chunks: Any) -> None:
    edit(folder / "chunks.json", chunks=chunks)
    refused(folder)


@pytest.mark.parametrize("name", ["chunks.json", "manifest.json"])
@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 10_000],
)
def test_json_of_any_shape_is_one_line(folder: Path, name: str, body: bytes) -> None:
    (folder / name).write_bytes(body)
    refused(folder)


@pytest.mark.parametrize("words", [[1, 2], "ab", {"a": 1}, [None], [["falcons"]], None])
@pytest.mark.parametrize("field", ["words", "stems"])
def test_a_word_list_of_another_shape_is_made_anew(folder: Path, field: str, words: Any) -> None:
    edit(folder / "lexical" / "words.json", **{field: words})
    loaded = store.load(folder, ENCODER.fingerprint, ENCODER.dimension)
    assert loaded.lexical is None
    assert Searcher(loaded, ENCODER).search("Do falcns fly?", 1, "en").hits


@pytest.mark.parametrize("number", [1, 1 << 30, -1])
def test_a_word_index_of_other_chunks_is_one_line(folder: Path, number: int) -> None:
    path = folder / "lexical" / "chunks.npy"
    np.save(path, np.full_like(np.load(path), number))
    searcher = Searcher(store.load(folder, ENCODER.fingerprint, ENCODER.dimension), ENCODER)
    with pytest.raises(FootnoteError, match="word index"):
        searcher.search("Do falcons fly?", 1, "en")
