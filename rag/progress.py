"""Progress bars on stderr."""

from __future__ import annotations

import sys

from tqdm import tqdm


class Bars:
    """One progress bar a stage, on stderr; a line now and then where that is a log."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stage = ""
        self._bar: tqdm | None = None

    def __enter__(self) -> Bars:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, stage: str, done: int, total: int) -> None:
        """Moves the bar of a stage, and begins a new one with a new stage."""
        if stage != self._stage or self._bar is None:
            if self._bar is not None:
                self._bar.close()
            self._stage = stage
            pause = 0.1 if sys.stderr.isatty() else 15  # a log wants few lines
            self._bar = tqdm(desc=f"{self._name}: {stage}", total=total, mininterval=pause)
        self._bar.total = total
        self._bar.update(done - self._bar.n)
