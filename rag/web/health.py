"""Whether the model can answer, told from its last answers and, when those are old, by asking it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

STALL_SECONDS = 60.0
"""An answer under way that hasn't moved for so long is stuck."""
FRESH_SECONDS = 60.0
"""So long a good answer vouches for the model."""
CHECK_SECONDS = 10.0
"""A token takes milliseconds; a model that needs longer is none."""
AGAIN_SECONDS = 5.0
"""A failed check isn't repeated sooner, however often health is asked."""


class Health:
    """`check` searches and generates a token, and raises when that can't be done.

    A model on a server may be silent for `silence` seconds before it counts as stuck.
    """

    def __init__(
        self,
        check: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        silence: float = 0.0,
    ) -> None:
        self._check = check
        self._silence = silence
        self._clock = clock
        self._running = 0
        self._moved = clock()
        self._good = clock()
        """When the model last showed that it works: it has generated a token before it serves."""
        self._suspect = False
        self._checking: asyncio.Task[None] | None = None
        self._failed = 0.0
        self._fault: str | None = None

    def began(self) -> None:
        """An answer is under way."""
        self._running += 1
        self._moved = self._clock()

    def moved(self) -> None:
        """It has something new."""
        self._moved = self._clock()

    def ended(self, *, wrote: bool, failed: bool) -> None:
        """It ended: after the model wrote, or with an error, which is a reason to look."""
        self._running -= 1
        if failed:
            self._suspect = True
        elif wrote:
            self._passed()

    async def fault(self) -> str | None:
        """Why the model can't answer, in a few words; None when it can."""
        now = self._clock()
        if self._running:
            still = now - self._moved
            if still > max(STALL_SECONDS, self._silence):
                return f"the answer under way hasn't moved for {still:.0f} s"
            if not self._suspect:
                return self._fault
        if not self._suspect and not self._fault and now - self._good < FRESH_SECONDS:
            return None
        if self._fault and now - self._failed < AGAIN_SECONDS:
            return self._fault
        return await self._ask()

    async def _ask(self) -> str | None:
        if self._checking is None:
            self._checking = asyncio.ensure_future(asyncio.to_thread(self._check))
        done, _ = await asyncio.wait({self._checking}, timeout=CHECK_SECONDS)
        if not done:
            # It is left to run: a second one would only wait behind it.
            return self._say(f"the model gave no token within {CHECK_SECONDS:.0f} s")
        error = self._checking.exception() if self._checking else None
        self._checking = None
        if error is not None:
            log.error("The check of the model failed", exc_info=error)
            return self._say(f"the model can't answer ({type(error).__name__})")
        self._passed()
        return None

    def _passed(self) -> None:
        self._good = self._clock()
        self._suspect = False
        self._fault = None

    def _say(self, fault: str) -> str:
        self._failed = self._clock()
        self._fault = fault
        return fault
