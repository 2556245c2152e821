"""What the page needs from the room above it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from rag.types import Answer, CollectionInfo, Turn


def never() -> bool:
    """A `stop` that lets the answer run to its end."""
    return False


class Retrieved(Protocol):
    """What a search found."""

    def as_json(self) -> dict[str, Any]:
        """Plain lists and dictionaries."""


class Answerer(Protocol):
    """Answers questions about collections. Used by one question at a time."""

    def stream(
        self,
        question: str,
        collection: str | None = None,
        history: Sequence[Turn] | None = None,
        stop: Callable[[], bool] = never,
    ) -> Iterator[Answer]:
        """Yields the answer as it grows; the last one, and only that, has stage `done`.

        Ends soon after `stop()` turns true. Never raises for what a reader typed: an unknown
        collection is an answer with outcome `error`.
        """

    def search(self, query: str, collection: str | None = None, k: int = 5) -> Retrieved:
        """Retrieval alone. Raises FootnoteError for an unknown collection."""

    def collections(self) -> list[CollectionInfo]:
        """What can be asked, the default first."""

    def check(self) -> None:
        """Searches and generates a token. Raises whatever keeps it from answering."""
