"""A lock that serves in order of arrival."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class FairLock:
    """Like threading.Lock as a context manager, first come, first served."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._queue: deque[threading.Event] = deque()
        self._held = False

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._queue)

    def __enter__(self) -> None:
        turn = threading.Event()
        with self._guard:
            if not self._held:
                self._held = True
                return
            self._queue.append(turn)
        turn.wait()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._guard:
            if self._queue:
                self._queue.popleft().set()  # stays held, by the next one
            else:
                self._held = False
