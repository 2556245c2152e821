"""Runs a blocking generator beside the event loop, and ends it when nobody listens any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

PULSE_SECONDS = 0.4


async def stream_latest(
    produce: Callable[[Callable[[], bool]], Iterator[T]], pulse: float = PULSE_SECONDS
) -> AsyncIterator[T]:
    """Yields the newest item of `produce(stop)` whenever there is one; the last is never missed.

    The newest item comes again after `pulse` seconds of silence. That is for Gradio's queue: it
    learns that a client has left only when it is given something to send, and then closes this
    generator. Closing or cancelling it makes `stop()` true and waits for `produce` to end, so
    that the next question doesn't run beside a half-dead one. What `produce` raises is raised.
    """
    loop = asyncio.get_running_loop()
    stopped = threading.Event()
    changed = asyncio.Event()
    latest: list[T] = []
    shown: list[T] = []

    def publish(item: T) -> None:
        latest[:] = [item]
        changed.set()

    def run() -> None:
        for item in produce(stopped.is_set):
            loop.call_soon_threadsafe(publish, item)

    work = asyncio.ensure_future(asyncio.to_thread(run))
    work.add_done_callback(lambda _: changed.set())
    try:
        while not work.done():
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), pulse)
            changed.clear()
            if latest and not work.done():
                shown[:] = latest
                yield shown[0]
        if latest and (not shown or latest[0] is not shown[0]):
            yield latest[0]
        work.result()
    finally:
        stopped.set()
        await asyncio.wait({work})
