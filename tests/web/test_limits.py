"""What is over a limit gets a clear sentence, and nobody's flood is everybody's wait."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from rag.web import door, server
from rag.web.limits import RateLimiter, client_of
from tests.web.conftest import Site, answer_of, call, until

SiteWith = Callable[..., Site]


class Clock:
    """Time that a test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    clock = Clock()
    limiter = RateLimiter(6, clock)
    assert [limiter.take("a") for _ in range(6)] == [0] * 6
    assert limiter.take("a") == pytest.approx(10)
    clock.now += 10
    assert limiter.take("a") == 0
    assert limiter.take("a") > 0
    assert limiter.take("b") == 0


def test_the_memory_of_clients_is_bounded() -> None:
    limiter = RateLimiter(5, most=100)
    for number in range(10_000):
        limiter.take(str(number))
    assert len(limiter) == 100


@pytest.mark.parametrize(
    ("header", "value", "hops", "client"),
    [
        (None, "203.0.113.9", 1, "198.51.100.1"),
        ("X-Forwarded-For", "203.0.113.9", 1, "203.0.113.9"),
        ("X-Forwarded-For", "6.6.6.6, 203.0.113.9", 1, "203.0.113.9"),
        ("X-Forwarded-For", "6.6.6.6, 203.0.113.9, 10.0.0.1", 2, "203.0.113.9"),
        ("X-Forwarded-For", "203.0.113.9:4711", 1, "203.0.113.9"),
        ("X-Forwarded-For", "[2001:db8::1]:4711", 1, "2001:db8::/64"),
        ("X-Forwarded-For", "2001:db8::dead:beef", 1, "2001:db8::/64"),
        ("X-Forwarded-For", "::ffff:203.0.113.9", 1, "203.0.113.9"),
        ("X-Forwarded-For", "<script>", 1, "198.51.100.1"),
        ("X-Forwarded-For", "", 1, "198.51.100.1"),
        ("X-Forwarded-For", "203.0.113.9", 2, "198.51.100.1"),
    ],
)
def test_who_asks(header: str | None, value: str, hops: int, client: str) -> None:
    headers = [(b"x-forwarded-for", value.encode())]
    assert client_of({"client": ("198.51.100.1", 5), "headers": headers}, header, hops) == client


def test_over_the_limit_is_an_answer_with_a_sentence_and_a_flood_is_refused(
    site_with: SiteWith,
) -> None:
    site = site_with(questions_per_minute=2)
    outcomes = [answer_of(site, call(site, "hello"))["outcome"] for _ in range(3)]
    assert outcomes == ["greeting", "greeting", "error"]
    spanish = answer_of(site, call(site, "¿Por qué se calibra el umbral?"))
    assert spanish["answer"].startswith("Más de 2 preguntas por minuto")
    refused = call(site, "hello")
    assert refused.status_code == 429
    assert refused.json()["detail"].startswith("More than 2 questions in a minute")
    assert int(refused.headers["retry-after"]) > 0
    assert len(site.answerer.asked) == 2


def test_each_client_has_its_own_limit_behind_a_proxy_that_is_trusted(site_with: SiteWith) -> None:
    site = site_with(questions_per_minute=1, client_header="X-Forwarded-For")
    for client in ("203.0.113.1", "203.0.113.2"):
        headers = {"X-Forwarded-For": f"1.2.3.4, {client}"}
        first = answer_of(site, call(site, "hello", headers=headers))
        again = answer_of(site, call(site, "hello", headers=headers))
        assert (first["outcome"], again["outcome"]) == ("greeting", "error")


def test_a_header_that_is_not_trusted_gives_no_new_limit(site_with: SiteWith) -> None:
    site = site_with(questions_per_minute=1)
    answers = [
        answer_of(site, call(site, "hello", headers={"X-Forwarded-For": f"203.0.113.{n}"}))
        for n in range(2)
    ]
    assert [answer["outcome"] for answer in answers] == ["greeting", "error"]


def test_this_machine_itself_is_not_counted_unless_a_setting_says_so(site: Site) -> None:
    assert all(call(site, "hello").status_code == 200 for _ in range(63))
    until(lambda: len(site.answerer.finished) == 63, 30)


def test_zero_is_no_limit(site_with: SiteWith) -> None:
    site = site_with(questions_per_minute=0, max_waiting=1000)
    headers = {"X-Forwarded-For": "203.0.113.1"}
    assert all(call(site, "hello", headers=headers).status_code == 200 for _ in range(100))


def test_a_jump_of_the_clock_changes_nothing(
    site_with: SiteWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_with(questions_per_minute=3)
    real = time.time
    for jump in (0, 86_400 * 400, -86_400 * 400):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        answer = answer_of(site, call(site, "hello"))
        assert answer["outcome"] == "greeting"
        assert httpx.get(f"{site.url}/healthz").status_code == 200
    assert answer_of(site, call(site, "hello"))["outcome"] == "error"


@pytest.mark.parametrize(
    ("question", "says"),
    [("How is it? " * 20, "100 characters fit"), ("¿Cómo es esto? " * 20, "caben 100 caracteres")],
)
def test_a_question_that_is_too_long(site_with: SiteWith, question: str, says: str) -> None:
    site = site_with(max_question_chars=100)
    answer = answer_of(site, call(site, question))
    assert answer["outcome"] == "error"
    assert says in answer["answer"]
    assert site.answerer.asked == []


def test_a_history_that_is_too_long(site_with: SiteWith) -> None:
    site = site_with(max_history_chars=1000)
    history = [{"role": "user", "content": "x" * 600}, {"role": "assistant", "content": "y" * 600}]
    answer = answer_of(site, call(site, "hello", None, history))
    assert "1000 characters fit" in answer["answer"]
    assert answer_of(site, call(site, "hello", None, history[:1]))["outcome"] == "greeting"


def test_a_request_that_is_too_large_or_lies_about_its_length(site_with: SiteWith) -> None:
    site = site_with(max_request_bytes=10_000)
    assert call(site, "x" * 20_000).status_code == 413
    spanish = call(site, "x" * 20_000, headers={"Accept-Language": "es-ES,es"})
    assert spanish.json()["detail"].startswith("La petición es demasiado grande")

    def endless() -> Any:
        yield b'{"data": ["'
        for _ in range(100):
            yield b"x" * 1000

    unannounced = httpx.post(f"{site.url}/gradio_api/call/ask", content=endless())
    assert unannounced.status_code == 413


def test_a_request_that_never_ends_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "BODY_SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", site.settings.port), timeout=5) as slow:
        slow.sendall(
            b"POST /gradio_api/call/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
        )
        assert b" 408 " in slow.recv(1000)


def test_more_connections_than_there_is_room_for_are_turned_away(
    site_with: SiteWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", 5)
    site = site_with()
    idle = [socket.create_connection(("127.0.0.1", site.settings.port)) for _ in range(6)]
    until(lambda: httpx.get(f"{site.url}/healthz").status_code == 503)
    for one in idle:
        one.close()
    until(lambda: httpx.get(f"{site.url}/healthz").status_code == 200)


def test_a_full_queue_is_said_at_once(site_with: SiteWith) -> None:
    site = site_with(max_waiting=1)
    call(site, "a silent one")
    until(lambda: site.answerer.running == 1)
    call(site, "waiting")
    full = call(site, "one too many")
    assert full.status_code == 503
    assert full.json()["detail"] == "Too many readers are waiting just now. Ask again in a moment."


def test_agents_are_counted_too(site_with: SiteWith) -> None:
    site = site_with(questions_per_minute=1)
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "collections", "arguments": {}},
    }  # fmt: skip
    headers = {"Accept": "application/json, text/event-stream"}
    address = f"{site.url}/gradio_api/mcp/"
    statuses = [httpx.post(address, json=message, headers=headers).status_code for _ in range(2)]
    assert statuses[0] != 429
    assert statuses[1] == 429
