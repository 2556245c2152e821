"""The built models and the demo collections, as `make test` made them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag.answer.answerer import Answerer
from rag.settings import Settings


@pytest.fixture(scope="session")
def settings() -> Settings:
    """As the environment says: the same models and artifacts as the app's."""
    return Settings.from_environment()


@pytest.fixture(scope="session")
def product(settings: Settings) -> Iterator[Answerer]:
    """The whole product behind the page, loaded and warmed."""
    from rag.answer.load import load_answerer

    answerer, _ = load_answerer(settings)
    yield answerer
