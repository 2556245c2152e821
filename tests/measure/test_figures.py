import numpy as np

from rag.measure.figures import auc, mean, middle, ratio, share


def test_a_share_has_an_interval_around_it() -> None:
    found = share([True] * 80 + [False] * 20)
    assert found is not None
    assert (found.value, found.of) == (0.8, 100)
    assert 0.70 < found.low < 0.75 < 0.85 < found.high < 0.9
    assert str(found).startswith("0.800 (0.7")


def test_what_never_varies_has_no_width() -> None:
    found = share([True] * 10)
    assert found is not None
    assert (found.low, found.high) == (1.0, 1.0)


def test_without_observations_there_is_no_figure() -> None:
    assert share([]) is mean([]) is None
    assert ratio([True], [False]) is None
    assert auc([], [1.0]) is None


def test_a_mean_and_a_ratio() -> None:
    found = mean([0, 1, 2, 5])
    assert found is not None
    assert found.value == 2
    compared = ratio([True, False, True, False], [True, True, True, True])
    assert compared is not None
    assert compared.value == 0.5
    assert compared.low < 0.5 < compared.high


def test_auc_is_the_share_of_pairs_in_order() -> None:
    rng = np.random.default_rng(3)
    inside, outside = rng.integers(0, 9, 30).tolist(), rng.integers(0, 7, 20).tolist()
    pairs = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
    found = auc(inside, outside)
    assert found is not None
    assert abs(found.value - np.mean(pairs)) < 1e-12
    assert found.low < found.value < found.high


def test_middle() -> None:
    assert middle([1, 2, 9]) == {"median": 2.0, "p95": 8.3}
