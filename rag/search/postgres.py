"""Collections in PostgreSQL with pgvector: chunks, their vectors and the sentences' vectors.

Every build has rows of its own; a collection's name points at one build and is moved in the same
transaction that writes the rows, so a reader sees a whole collection, the old or the new. The build
before the last is kept for the processes that have it loaded.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.search.store import FORMAT, Manifest, Stored, read_chunk, read_manifest, whole
from rag.search.vectors import FaissIndex, Vectors, check_query
from rag.types import Chunk, FootnoteError, Unavailable

try:
    import psycopg
    from pgvector import HalfVector, Vector
    from pgvector.psycopg import register_vector
    from psycopg import sql
    from psycopg.types.json import Jsonb
    from psycopg_pool import ConnectionPool, PoolTimeout
except ModuleNotFoundError as error:
    raise FootnoteError(
        f"RAG_INDEX names a database, and {error.name} to speak to it is missing; run "
        "pip install -r requirements-postgres.txt."
    ) from error

logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # failures are raised where they matter
_CONNECT_SECONDS = 5
_STATEMENT_SECONDS = 30
_POOL = 4
_SCHEMA = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    """CREATE TABLE IF NOT EXISTS footnote_collections (
        name text PRIMARY KEY, build uuid NOT NULL, earlier uuid, manifest jsonb NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS footnote_chunks (
        build uuid, position integer, chunk jsonb NOT NULL, embedding vector NOT NULL,
        PRIMARY KEY (build, position))""",
    """CREATE TABLE IF NOT EXISTS footnote_sentences (
        build uuid, position integer, embedding halfvec NOT NULL,
        PRIMARY KEY (build, position))""",
)
_ROWS = ("footnote_chunks", "footnote_sentences")


class PostgresStore:
    """`rag.search.stores.CollectionStore` over a database; several processes may share it.

    `address` is a `postgresql://` URI. The tables are made by the first build, in the schema that
    the connection's `search_path` names. Raises Unavailable when the database can't be reached.
    """

    def __init__(self, address: str) -> None:
        self._database = _Database(address)

    def close(self) -> None:
        """Ends its connections."""
        self._database.close()

    def names(self) -> list[str]:
        if not self._has_tables():
            return []
        with self._database.connection() as connection:
            found = connection.execute("SELECT name FROM footnote_collections ORDER BY name")
            return [name for (name,) in found]

    def place(self, name: str) -> str:
        return f"{name} in {self._database.place}"

    def is_made_with(self, name: str, embedder_fingerprint: str) -> bool:
        found = self._found(name)
        made = (FORMAT, embedder_fingerprint)
        return found is not None and made == tuple(
            found[1].get(key) for key in ("format", "embedder_fingerprint")
        )

    def load(self, name: str, embedder_fingerprint: str, dimension: int) -> Stored:
        found = self._found(name)
        where = self.place(name)
        if found is None:
            known = ", ".join(self.names()) or "none"
            raise FootnoteError(
                f"There is no collection {name!r} in {self._database.place} (there: {known}); "
                "make it with build_index.py."
            )
        build, raw = found
        manifest = read_manifest(raw, where, embedder_fingerprint, dimension)
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT chunk FROM footnote_chunks WHERE build = %s ORDER BY position", [build]
            ).fetchall()
            length, width = _size(connection, "footnote_chunks", build)
            sentences, sentence_width = _size(connection, "footnote_sentences", build)
        chunks = tuple(read_chunk(chunk, where) for (chunk,) in rows)
        index = PostgresIndex(self._database, build, length, width)
        table = PostgresSentences(
            self._database, build, (sentences, sentence_width if sentences else width)
        )
        return whole(Stored(manifest, chunks, index, table), f"The rows of {where}")

    def save(
        self,
        manifest: Manifest,
        chunks: Sequence[Chunk],
        vectors: Vectors,
        sentence_vectors: NDArray[np.floating],
    ) -> None:
        FaissIndex.of(vectors)  # the same check of their lengths
        build = uuid.uuid4()
        with self._database.connection(writes=True) as connection:
            connection.execute("SET LOCAL statement_timeout = 0")
            # Two builds of one collection, or two that make the tables, go one after the other.
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('footnote'))")
            for statement in _SCHEMA:
                connection.execute(statement)
            register_vector(connection)
            entries = (
                (build, i, Jsonb(asdict(chunk)), Vector(vector))
                for i, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True))
            )
            _copy(connection, "footnote_chunks", ("chunk", "embedding"), entries)
            halves = sentence_vectors.astype(np.float16)
            rows = ((build, i, HalfVector(vector)) for i, vector in enumerate(halves))
            _copy(connection, "footnote_sentences", ("embedding",), rows)
            _point(connection, manifest, build)
        self._database.reconnect()  # the first build brought the types that connections must know

    def _found(self, name: str) -> tuple[uuid.UUID, dict[str, Any]] | None:
        if not self._has_tables():
            return None
        query = "SELECT build, manifest FROM footnote_collections WHERE name = %s"
        with self._database.connection() as connection:
            return connection.execute(query, [name]).fetchone()

    def _has_tables(self) -> bool:
        with self._database.connection() as connection:
            found = connection.execute("SELECT to_regclass('footnote_collections')").fetchone()
            return found is not None and found[0] is not None


class PostgresIndex:
    """`rag.search.vectors.VectorIndex` over the rows of one build: exact, in order of cosine."""

    def __init__(self, database: _Database, build: uuid.UUID, length: int, dimension: int) -> None:
        self._database = database
        self._build = build
        self._length = length
        self.dimension = dimension

    def __len__(self) -> int:
        return self._length

    def search(self, query: Vectors, k: int) -> list[tuple[int, float]]:
        check_query(query, self.dimension)
        wanted = min(k, self._length)
        if wanted <= 0:
            return []
        with self._database.connection() as connection:
            found = connection.execute(
                """SELECT position, -(embedding <#> %s) FROM footnote_chunks WHERE build = %s
                ORDER BY embedding <#> %s, position LIMIT %s""",
                [Vector(query), self._build, Vector(query), wanted],
            ).fetchall()
        _check_build(len(found), wanted, self._database.place)
        return [(int(i), float(np.clip(score, -1.0, 1.0))) for i, score in found]

    def vectors(self, positions: list[int]) -> Vectors:
        return self._database.vectors("footnote_chunks", self._build, positions, self.dimension)


class PostgresSentences:
    """`rag.search.vectors.SentenceVectors` over the rows of one build."""

    def __init__(self, database: _Database, build: uuid.UUID, shape: tuple[int, int]) -> None:
        self._database = database
        self._build = build
        self.shape: tuple[int, ...] = shape

    def __getitem__(self, rows: NDArray[np.intp], /) -> Vectors:
        positions = rows.tolist()
        return self._database.vectors("footnote_sentences", self._build, positions, self.shape[1])


class _Database:
    """Connections that are opened when they are needed, and an address without its password."""

    def __init__(self, address: str) -> None:
        try:
            parts = psycopg.conninfo.conninfo_to_dict(address)
        except psycopg.ProgrammingError as error:
            raise FootnoteError("RAG_INDEX is no address that PostgreSQL can read.") from error
        self.place = f"the database {parts.get('dbname')!r} at {parts.get('host') or 'localhost'}"
        self._address = address
        self._options: dict[str, Any] = {
            "connect_timeout": _CONNECT_SECONDS,
            "options": f"{parts.get('options') or ''} -c statement_timeout={_STATEMENT_SECONDS}s",
            "application_name": "footnote",
        }
        self._pool = ConnectionPool(
            address,
            kwargs=self._options,
            min_size=0,
            max_size=_POOL,
            timeout=_CONNECT_SECONDS,
            reconnect_timeout=0,
            check=ConnectionPool.check_connection,
            configure=_configure,
            open=True,
        )

    def reconnect(self) -> None:
        """Opens new connections from here on."""
        self._pool.drain()

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def connection(self, *, writes: bool = False) -> Iterator[psycopg.Connection[Any]]:
        """A connection in a transaction. Raises FootnoteError for all that goes wrong with it."""
        try:
            with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, psycopg.OperationalError) as error:
            why = self._refusal() if isinstance(error, PoolTimeout) else _first_line(error)
            raise Unavailable(
                f"{self._place()} gives no answer ({why}); start it, or correct RAG_INDEX."
            ) from error
        except psycopg.Error as error:
            raise FootnoteError(
                f"{self._place()} can't {'keep' if writes else 'give'} the collection: "
                f"{_first_line(error)}. It needs pgvector, and for a build the right to make tables."
            ) from error

    def vectors(
        self, table: str, build: uuid.UUID, positions: list[int], dimension: int
    ) -> Vectors:
        """Shape (len(positions), dimension)."""
        query = sql.SQL(
            "SELECT position, embedding FROM {} WHERE build = %s AND position = ANY(%s)"
        )
        with self.connection() as connection:
            found = connection.execute(
                query.format(sql.Identifier(table)), [build, positions], binary=True
            ).fetchall()
        _check_build(len(found), len(set(positions)), self.place)
        by_position = {position: embedding.to_numpy() for position, embedding in found}
        rows = [by_position[position] for position in positions]
        return np.array(rows, dtype=np.float32).reshape(len(positions), dimension)

    def _refusal(self) -> str:
        """Why no connection can be had; the pool itself doesn't tell."""
        try:
            psycopg.connect(self._address, **self._options).close()
        except psycopg.OperationalError as error:
            return _first_line(error)
        return "all its connections are in use"

    def _place(self) -> str:
        return self.place[0].upper() + self.place[1:]


def _configure(connection: psycopg.Connection[Any]) -> None:
    """pgvector's types, once the extension is there."""
    found = connection.execute("SELECT FROM pg_type WHERE typname = 'halfvec'").fetchone()
    if found is not None:
        register_vector(connection)
    connection.commit()


def _copy(
    connection: psycopg.Connection[Any], table: str, columns: Sequence[str], rows: Iterator[Any]
) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, ("build", "position", *columns)))
    query = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    with connection.cursor().copy(query) as copy:
        for row in rows:
            copy.write_row(row)


def _point(connection: psycopg.Connection[Any], manifest: Manifest, build: uuid.UUID) -> None:
    """Moves the name to `build`, and deletes what nothing points at any more."""
    connection.execute(
        """INSERT INTO footnote_collections (name, build, manifest) VALUES (%s, %s, %s)
        ON CONFLICT (name) DO UPDATE SET build = excluded.build,
        earlier = footnote_collections.build, manifest = excluded.manifest""",
        [manifest.name, build, Jsonb(asdict(manifest))],
    )
    for table in _ROWS:
        connection.execute(
            sql.SQL(
                """DELETE FROM {} AS rows WHERE NOT EXISTS (
                SELECT FROM footnote_collections WHERE rows.build IN (build, earlier))"""
            ).format(sql.Identifier(table))
        )


def _size(connection: psycopg.Connection[Any], table: str, build: uuid.UUID) -> tuple[int, int]:
    """Rows of a build and the width of their vectors, 0 when they differ."""
    query = sql.SQL(
        """SELECT count(*), min(vector_dims(embedding)), max(vector_dims(embedding))
        FROM {} WHERE build = %s"""
    ).format(sql.Identifier(table))
    found = connection.execute(query, [build]).fetchone()
    length, least, most = found if found else (0, None, None)
    return int(length), int(least) if least is not None and least == most else 0


def _check_build(found: int, wanted: int, place: str) -> None:
    if found != wanted:
        raise Unavailable(
            f"This process has a collection loaded that {place} no longer holds: it was built anew "
            "more than once since. Start the process again."
        )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
