"""Fixtures for the ingest tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ingest.server import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    """A web server on this machine."""
    with serving() as running:
        yield running
