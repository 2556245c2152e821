from pathlib import Path

import numpy as np

from rag.build_cache import BuildCache


def test_what_one_build_computed_the_next_one_knows(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "computed.sqlite"
    first = BuildCache(path, "encoder-1")
    first.save_vectors(["a", "b"], np.array([[1, 2], [3, 4]], dtype=np.float32))
    first.save_question("passage", "What?")
    first.close()
    again = BuildCache(path, "encoder-1")
    known = again.vectors(["b", "c"])
    assert list(known) == ["b"]
    assert known["b"].tolist() == [3, 4]
    assert again.question("passage") == "What?"
    assert again.question("other") is None


def test_another_encoder_knows_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "computed.sqlite"
    BuildCache(path, "encoder-1").save_vectors(["a"], np.ones((1, 2), dtype=np.float32))
    assert BuildCache(path, "encoder-2").vectors(["a"]) == {}


def test_force_computes_everything_anew(tmp_path: Path) -> None:
    path = tmp_path / "computed.sqlite"
    BuildCache(path, "e").save_vectors(["a"], np.ones((1, 2), dtype=np.float32))
    assert BuildCache(path, "e", forget=True).vectors(["a"]) == {}


def test_a_broken_file_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "computed.sqlite"
    path.write_bytes(b"no database at all" * 100)
    assert BuildCache(path, "e").vectors(["a"]) == {}


def test_many_texts_at_once(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "computed.sqlite", "e")
    texts = [f"text {i}" for i in range(1200)]
    cache.save_vectors(texts, np.arange(2400, dtype=np.float32).reshape(1200, 2))
    known = cache.vectors(texts)
    assert len(known) == 1200
    assert known["text 700"].tolist() == [1400, 1401]
