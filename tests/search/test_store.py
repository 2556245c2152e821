import json
from dataclasses import replace
from pathlib import Path

import pytest

from rag.search import store
from rag.types import FootnoteError
from tests.words import WordEncoder, chunk, stored

ENCODER = WordEncoder()


def write(folder: Path, title: str = "Test Blog") -> None:
    whole = stored([chunk("Falcons fly fast. They nest on cliffs.")], name=folder.name, title=title)
    store.save(folder, whole.manifest, whole.chunks, whole.index, whole.sentence_vectors)


def load(folder: Path) -> store.Stored:
    return store.load(folder, ENCODER.fingerprint, ENCODER.dimension)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write(tmp_path / "a")
    read = load(tmp_path / "a")
    assert read.chunks[0].text == "Falcons fly fast. They nest on cliffs."
    assert len(read.chunks[0].sentences) == 2
    assert read.sentence_vectors.shape == (2, ENCODER.dimension)
    assert store.names(tmp_path) == ["a"]
    files = {path.name for path in (tmp_path / "a").iterdir()}
    assert files == {"index.faiss", "chunks.json", "manifest.json", "sentences.npy", "lexical"}


def test_a_second_build_replaces_the_first(tmp_path: Path) -> None:
    write(tmp_path / "a", "First")
    write(tmp_path / "a", "Second")
    assert load(tmp_path / "a").manifest.title == "Second"
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == ["a"]


def test_a_build_killed_while_writing_leaves_the_last_good_one(tmp_path: Path) -> None:
    write(tmp_path / "a", "Good")
    half = tmp_path / ".a.building"
    half.mkdir()
    (half / "index.faiss").write_bytes(b"half")
    assert load(tmp_path / "a").manifest.title == "Good"
    assert not half.exists()


def test_a_build_killed_between_the_two_renames_is_finished(tmp_path: Path) -> None:
    write(tmp_path / "a", "Old")
    write(tmp_path / "b", "New")
    (tmp_path / "a").rename(tmp_path / ".a.old")
    (tmp_path / "b").rename(tmp_path / ".a.building")
    (tmp_path / ".a.building" / ".complete").touch()
    assert load(tmp_path / "a").manifest.title == "New"
    assert not (tmp_path / ".a.old").exists()


def test_an_old_one_whose_successor_is_gone_comes_back(tmp_path: Path) -> None:
    write(tmp_path / "a", "Old")
    (tmp_path / "a").rename(tmp_path / ".a.old")
    assert store.names(tmp_path) == ["a"]
    assert load(tmp_path / "a").manifest.title == "Old"


def test_an_unknown_collection_names_those_that_exist(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with pytest.raises(FootnoteError, match=r"no collection 'b'.*there: a"):
        load(tmp_path / "b")


def test_an_index_of_another_embedder_says_what_to_run(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with pytest.raises(FootnoteError, match=r"another|made with the embedder.*build_index\.py"):
        store.load(tmp_path / "a", "other", ENCODER.dimension)
    with pytest.raises(FootnoteError, match="384 wide"):
        store.load(tmp_path / "a", ENCODER.fingerprint, 384)


def test_another_format_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a")
    path = tmp_path / "a" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(FootnoteError, match="format 99"):
        load(tmp_path / "a")


@pytest.mark.parametrize("name", ["chunks.json", "manifest.json", "sentences.npy", "index.faiss"])
def test_a_truncated_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    write(tmp_path / "a")
    path = tmp_path / "a" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FootnoteError) as error:
        load(tmp_path / "a")
    assert "\n" not in str(error.value)
    assert "build_index.py" in str(error.value)


def test_files_of_two_builds_are_not_taken_for_one(tmp_path: Path) -> None:
    write(tmp_path / "a")
    path = tmp_path / "a" / "chunks.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, "chunks": value["chunks"] * 2}))
    with pytest.raises(FootnoteError, match="don't belong together"):
        load(tmp_path / "a")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    whole = stored([chunk("Falcons fly fast.")])
    with pytest.raises(FootnoteError, match="Cannot write the collection"):
        store.save(
            tmp_path / "file" / "a",
            replace(whole.manifest),
            whole.chunks,
            whole.index,
            whole.sentence_vectors,
        )
