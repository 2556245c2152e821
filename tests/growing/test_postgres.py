"""Collections in a real PostgreSQL: the same promises as for files, and processes that share it."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from rag.search.postgres import PostgresStore
from rag.search.store import Stored
from rag.search.vectors import FaissIndex
from rag.settings import Settings
from rag.types import Chunk, FootnoteError, Unavailable
from tests.words import WordEncoder, chunk, stored

ENCODER = WordEncoder()
FALCONS = [chunk("Falcons fly fast. They nest on cliffs."), chunk("Bread needs flour.", "bread")]


def save(store: PostgresStore, chunks: list[Chunk], title: str = "Birds", name: str = "a") -> None:
    made = stored(chunks, name=name, title=title)
    vectors = made.index.vectors(list(range(len(chunks))))
    rows = np.arange(made.sentence_vectors.shape[0])
    store.save(made.manifest, made.chunks, vectors, made.sentence_vectors[rows])


def load(store: PostgresStore) -> Stored:
    return store.load("a", ENCODER.fingerprint, ENCODER.dimension)


@pytest.fixture
def store(database: str) -> Iterator[PostgresStore]:
    store = PostgresStore(database)
    yield store
    store.close()


def test_what_is_written_is_read_back(store: PostgresStore) -> None:
    assert store.names() == []
    save(store, FALCONS)
    read, made = load(store), stored(FALCONS)
    assert store.names() == ["a"]
    assert read.chunks == made.chunks
    assert asdict(read.manifest) == asdict(replace(made.manifest, name="a", title="Birds"))
    rows = np.array([2, 0, 1])
    assert np.array_equal(read.sentence_vectors[rows], made.sentence_vectors[rows])
    assert np.array_equal(read.index.vectors([1, 0]), made.index.vectors([1, 0]))


def test_it_finds_what_faiss_finds_with_the_same_cosines(store: PostgresStore) -> None:
    vectors = np.random.default_rng(7).normal(size=(300, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = stored([chunk(f"This is chunk {i}.", f"p{i}") for i in range(300)], name="a")
    store.save(made.manifest, made.chunks, vectors, np.zeros((300, 256)))
    ours, theirs = load(store).index, FaissIndex.of(vectors)
    for query in vectors[:20]:
        mixed = query + vectors[20] / 2
        mixed /= np.linalg.norm(mixed)
        found, expected = ours.search(mixed, 60), theirs.search(mixed, 60)
        assert [i for i, _ in found] == [i for i, _ in expected]
        assert [s for _, s in found] == pytest.approx([s for _, s in expected], abs=1e-6)


def test_bad_queries_are_refused_as_by_the_files(store: PostgresStore) -> None:
    save(store, FALCONS)
    index = load(store).index
    assert len(index.search(ENCODER.encode_query("falcons"), 99)) == 2
    with pytest.raises(ValueError, match="no numbers"):
        index.search(np.full(ENCODER.dimension, np.nan, np.float32), 1)
    with pytest.raises(ValueError, match=r"\(4,\).*\(256,\)"):
        index.search(np.ones(4, np.float32), 1)


def test_a_process_keeps_the_build_that_it_loaded(store: PostgresStore) -> None:
    save(store, FALCONS, "First")
    first = load(store)
    save(store, FALCONS[:1], "Second")
    second = load(store)
    assert (first.manifest.title, second.manifest.title) == ("First", "Second")
    query = ENCODER.encode_query("bread")
    assert first.index.search(query, 2)[0][0] == 1
    assert len(second.index.search(query, 2)) == 1


def test_a_process_two_builds_behind_is_told_to_start_again(store: PostgresStore) -> None:
    save(store, FALCONS)
    first = load(store)
    save(store, FALCONS)
    save(store, FALCONS)
    with pytest.raises(Unavailable, match="Start the process again"):
        first.index.search(ENCODER.encode_query("bread"), 2)
    with pytest.raises(Unavailable, match="Start the process again"):
        first.sentence_vectors[np.array([0])]


def test_old_builds_leave_no_rows(store: PostgresStore, database: str) -> None:
    for _ in range(4):
        save(store, FALCONS)
    with psycopg.connect(database) as connection:
        for table in ("footnote_chunks", "footnote_sentences"):
            count = connection.execute(f"SELECT count(DISTINCT build) FROM {table}").fetchone()
            assert count == (2,)


def test_a_build_that_fails_half_way_leaves_the_last_good_one(store: PostgresStore) -> None:
    save(store, FALCONS, "Good")
    made = stored(FALCONS, name="a", title="Bad")
    with pytest.raises(ValueError, match="shorter"):
        store.save(made.manifest, made.chunks, made.index.vectors([0]), np.zeros((3, 256)))
    assert load(store).manifest.title == "Good"


def test_a_build_that_is_killed_while_writing_leaves_the_last_good_one(
    store: PostgresStore, database: str
) -> None:
    save(store, FALCONS, "Good")
    code = (
        "import sys, tests.growing.test_postgres as t\n"
        "class Stuck(list):\n"
        "    def __iter__(self):\n"
        "        yield from super().__iter__()\n"
        "        print('writing', flush=True); sys.stdin.read()\n"
        "made = t.stored(t.FALCONS, name='a', title='Half')\n"
        "t.PostgresStore(sys.argv[1]).save(made.manifest, Stuck(made.chunks),"
        " made.index.vectors([0, 1]), made.sentence_vectors)\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code, database],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert writer.stdout is not None
    assert writer.stdout.readline() == "writing\n"
    writer.kill()
    writer.communicate()
    assert load(store).manifest.title == "Good"
    save(store, FALCONS, "Next")
    assert load(store).manifest.title == "Next"


def test_builds_at_the_same_time_are_both_whole(store: PostgresStore, database: str) -> None:
    def build(name: str) -> None:
        store = PostgresStore(database)
        for _ in range(3):
            save(store, FALCONS, name=name)
        store.close()

    threads = [threading.Thread(target=build, args=[name]) for name in ("a", "b", "a")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.names() == ["a", "b"]
    assert load(store).chunks == stored(FALCONS).chunks


def test_the_manifest_is_checked_as_for_files(store: PostgresStore, database: str) -> None:
    save(store, FALCONS)
    assert store.is_made_with("a", ENCODER.fingerprint)
    assert not store.is_made_with("a", "other")
    assert not store.is_made_with("b", ENCODER.fingerprint)
    with pytest.raises(FootnoteError, match=r"no collection 'b'.*there: a"):
        store.load("b", ENCODER.fingerprint, ENCODER.dimension)
    with pytest.raises(FootnoteError, match=r"made with the embedder.*build_index\.py"):
        store.load("a", "other", ENCODER.dimension)
    with pytest.raises(FootnoteError, match="384 wide"):
        store.load("a", ENCODER.fingerprint, 384)
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM footnote_sentences WHERE position = 1")
    with pytest.raises(FootnoteError, match="don't belong together"):
        load(store)
    with psycopg.connect(database) as connection:
        connection.execute(
            """UPDATE footnote_collections SET manifest = manifest || '{"format": 9}'"""
        )
    with pytest.raises(FootnoteError, match="format 9"):
        load(store)


def test_vectors_that_are_not_normalised_are_refused(store: PostgresStore) -> None:
    made = stored(FALCONS, name="a")
    with pytest.raises(ValueError, match="length 1"):
        store.save(made.manifest, made.chunks, np.ones((2, 256), np.float32), np.zeros((3, 256)))


@pytest.fixture
def restarted(server: Any) -> Iterator[None]:
    yield
    server.ensure_postgres_running()


@pytest.mark.usefixtures("restarted")
def test_a_database_that_dies_is_one_sentence_and_works_when_it_is_back(
    store: PostgresStore, server: Any
) -> None:
    save(store, FALCONS)
    index = load(store).index
    query = ENCODER.encode_query("falcons")
    server.stop()
    with pytest.raises(Unavailable, match="gives no answer") as error:
        index.search(query, 1)
    assert "\n" not in str(error.value)
    server.ensure_postgres_running()
    assert index.search(query, 1)[0][0] == 0


def test_a_password_is_never_told() -> None:
    address = "postgresql://me:hush@127.0.0.1:1/blog"
    store = PostgresStore(address)
    with pytest.raises(Unavailable) as error:
        store.names()
    store.close()
    told = f"{error.value} {error.value.__cause__} {Settings(index=address)}"
    assert "hush" not in told
    assert re.search(r"'blog' at 127\.0\.0\.1 gives no answer \(.*refused", told)
