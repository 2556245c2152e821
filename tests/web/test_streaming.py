"""A blocking generator streams beside the event loop and ends when its reader is gone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from rag.web.streaming import stream_latest


def counting(stop: Callable[[], bool]) -> Iterator[int]:
    for number in range(5):
        time.sleep(0.02)
        yield number


def test_every_slow_item_arrives_and_the_last_ends_it() -> None:
    async def collect() -> list[int]:
        return [item async for item in stream_latest(counting)]

    assert asyncio.run(collect()) == [0, 1, 2, 3, 4]


def test_a_slow_reader_gets_the_last_item() -> None:
    def fast(stop: Callable[[], bool]) -> Iterator[int]:
        yield from range(1000)

    async def collect() -> list[int]:
        items = []
        async for item in stream_latest(fast):
            items.append(item)
            await asyncio.sleep(0.01)
        return items

    items = asyncio.run(collect())
    assert items[-1] == 999
    assert len(items) < 1000
    assert items == sorted(set(items))


def test_silence_repeats_the_newest_item() -> None:
    def silent(stop: Callable[[], bool]) -> Iterator[str]:
        yield "reading"
        time.sleep(0.2)
        yield "done"

    async def collect() -> list[str]:
        return [item async for item in stream_latest(silent, pulse=0.05)]

    items = asyncio.run(collect())
    assert items.count("reading") > 2
    assert items[-1] == "done"


def test_a_generator_that_ends_after_its_last_item_was_shown_repeats_nothing() -> None:
    def slow_to_end(stop: Callable[[], bool]) -> Iterator[str]:
        yield "reading"
        time.sleep(0.05)
        yield "done"
        time.sleep(0.1)

    async def collect() -> list[str]:
        return [item async for item in stream_latest(slow_to_end, pulse=1.0)]

    assert asyncio.run(collect()) == ["reading", "done"]


@pytest.mark.parametrize("how", ["close", "cancel"])
def test_leaving_stops_the_work_and_waits_for_its_end(how: str) -> None:
    ended = threading.Event()

    def endless(stop: Callable[[], bool]) -> Iterator[int]:
        yield 1
        while not stop():
            time.sleep(0.01)
        time.sleep(0.1)  # what a model needs to notice
        ended.set()

    async def leave() -> None:
        stream = stream_latest(endless, pulse=0.05)
        await anext(stream)
        if how == "close":
            await stream.aclose()  # type: ignore[attr-defined]
        else:
            task = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert ended.is_set()

    asyncio.run(leave())


def test_a_fault_reaches_the_reader_of_the_stream_after_what_came_before() -> None:
    def faulty(stop: Callable[[], bool]) -> Iterator[int]:
        yield 1
        raise RuntimeError("broken")

    async def collect() -> None:
        items = []
        with pytest.raises(RuntimeError, match="broken"):
            async for item in stream_latest(faulty):
                items.append(item)
        assert set(items) == {1}

    asyncio.run(collect())
