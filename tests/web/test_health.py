"""Health is whether the model can answer, not whether the port is open."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rag.types import Answer
from rag.web import health
from rag.web.health import Health
from tests.web.conftest import Site, answer_of, call, until
from tests.web.scripted import ScriptedAnswerer


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Model:
    """Fails while `error` is set; counts how often it was asked."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked = 0

    def check(self) -> None:
        self.asked += 1
        if self.error:
            raise self.error


def fault(one: Health) -> str | None:
    return asyncio.run(one.fault())


def test_a_fresh_answer_vouches_and_an_old_one_does_not() -> None:
    clock, model = Clock(), Model()
    one = Health(model.check, clock)
    assert fault(one) is None
    assert model.asked == 0
    clock.now += health.FRESH_SECONDS + 1
    assert fault(one) is None
    assert model.asked == 1
    model.error = RuntimeError("gone")
    assert fault(one) is None  # it has just shown that it works
    clock.now += health.FRESH_SECONDS + 1
    assert fault(one) == "the model can't answer (RuntimeError)"


def test_a_failed_check_is_not_repeated_at_every_look_and_recovery_is_seen() -> None:
    clock, model = Clock(), Model()
    model.error = OSError("gone")
    one = Health(model.check, clock)
    one.began()
    one.ended(wrote=False, failed=True)
    assert [fault(one) for _ in range(5)] == ["the model can't answer (OSError)"] * 5
    assert model.asked == 1
    model.error = None
    clock.now += health.AGAIN_SECONDS + 1
    assert fault(one) is None


def test_an_answer_that_does_not_move_is_a_fault() -> None:
    clock = Clock()
    one = Health(Model().check, clock)
    one.began()
    clock.now += health.STALL_SECONDS / 2
    one.moved()
    clock.now += health.STALL_SECONDS / 2 + 1
    assert fault(one) is None
    clock.now += health.STALL_SECONDS
    assert "hasn't moved for" in str(fault(one))
    one.ended(wrote=True, failed=False)
    assert fault(one) is None


def test_a_server_that_may_be_silent_for_longer_is_given_its_time() -> None:
    clock = Clock()
    one = Health(Model().check, clock, silence=300)
    one.began()
    clock.now += health.STALL_SECONDS + 1
    assert fault(one) is None
    clock.now += 300
    assert fault(one)


def test_a_check_that_hangs_is_a_fault_and_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(health, "AGAIN_SECONDS", 0)
    gate, asked = threading.Event(), []

    def hang() -> None:
        asked.append(1)
        gate.wait(10)

    async def look() -> list[Any]:
        one = Health(hang)
        one.began()
        one.ended(wrote=False, failed=True)
        first = [await one.fault(), await one.fault()]
        gate.set()
        await asyncio.sleep(0.2)
        return [*first, await one.fault()]

    first, second, third = asyncio.run(look())
    assert "no token within" in first
    assert "no token within" in second
    assert third is None
    assert asked == [1]


def test_a_model_that_breaks_turns_health_bad_and_a_mended_one_good_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "AGAIN_SECONDS", 0.1)
    assert httpx.get(f"{site.url}/healthz").status_code == 200
    site.answerer.broken = RuntimeError("no such file: /secret/path")
    assert answer_of(site, call(site, "explode"))["outcome"] == "error"
    bad = httpx.get(f"{site.url}/healthz")
    assert bad.status_code == 503
    assert bad.json() == {"status": "failing", "reason": "the model can't answer (RuntimeError)"}
    site.answerer.broken = None
    time.sleep(0.2)
    assert httpx.get(f"{site.url}/healthz").json()["status"] == "ready"


def test_what_a_reader_got_wrong_is_no_fault_of_the_model(site: Site) -> None:
    assert answer_of(site, call(site, "x", "no such collection"))["outcome"] == "error"
    assert httpx.get(f"{site.url}/healthz").status_code == 200


class Silent(ScriptedAnswerer):
    """A model that hangs and doesn't even hear `stop`, until a test lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def _stream(self, *arguments: Any) -> Iterator[Answer]:
        self.go.wait(20)
        return super()._stream(*arguments)


def test_health_answers_while_a_model_hangs(
    site_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "STALL_SECONDS", 0.3)
    answerer = Silent()
    site = site_with(answerer, llm_timeout=0)
    call(site, "hello")
    until(lambda: answerer.running == 1)
    until(lambda: httpx.get(f"{site.url}/healthz").status_code == 503)
    assert "hasn't moved" in httpx.get(f"{site.url}/healthz").json()["reason"]
    answerer.go.set()
    until(lambda: httpx.get(f"{site.url}/healthz").status_code == 200)
