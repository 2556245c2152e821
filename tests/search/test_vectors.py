from pathlib import Path

import numpy as np
import pytest

from rag.search.vectors import FaissIndex
from rag.types import FootnoteError


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


@pytest.fixture
def index() -> FaissIndex:
    return FaissIndex.of(np.stack([unit(1, 0, 0), unit(0, 1, 0)]))


def test_asking_for_more_than_it_holds_gives_what_it_holds(index: FaissIndex) -> None:
    found = index.search(unit(1, 0.1, 0), 5)
    assert [position for position, _ in found] == [0, 1]


def test_scores_are_cosines_within_bounds(index: FaissIndex) -> None:
    vector = unit(1, 0, 0) * np.float32(1.0000002)
    assert index.search(vector, 1) == [(0, 1.0)]


def test_a_vector_with_nan_is_an_error_and_not_an_empty_answer(index: FaissIndex) -> None:
    with pytest.raises(ValueError, match="no numbers"):
        index.search(np.array([np.nan, 0, 0], dtype=np.float32), 1)


def test_another_width_is_an_error_that_gives_both(index: FaissIndex) -> None:
    with pytest.raises(ValueError, match=r"\(4,\).*\(3,\)"):
        index.search(unit(1, 0, 0, 0), 1)


def test_vectors_that_are_not_normalised_are_refused() -> None:
    with pytest.raises(ValueError, match="length 1"):
        FaissIndex.of(np.array([[2.0, 0.0]], dtype=np.float32))


def test_a_truncated_file_is_one_line_for_the_user(index: FaissIndex, tmp_path: Path) -> None:
    path = tmp_path / "index.faiss"
    index.save(path)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(FootnoteError, match=r"index\.faiss is not a whole FAISS index"):
        FaissIndex.load(path)
