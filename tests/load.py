"""Readers of every kind for a running server: who ask, stop, vanish, and send rubbish.

`python -m tests.soak` and `python -m tests.kills` send them. What they count as a fault is the
server's: a 500, an answer object that breaks its promises, an error where a question was good.
"""

from __future__ import annotations

import json
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.schema import faults, squeezed

ROOT = Path(__file__).parent.parent
_PATHS = ("/", "/healthz", "/metrics", "/page/setup", "/config", "/gradio_api/info", "/nothing",
          "/gradio_api/file=/etc/passwd", "/page/../app.py", "/page/formula?latex=%5Cfrac%7Ba")  # fmt: skip


@dataclass
class Tally:
    """What all readers together saw."""

    done: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.done[what] += 1

    def fault(self, what: str) -> None:
        with self.lock:
            self.faults.append(what)


def questions() -> list[str]:
    """The demo blog's battery."""
    lines = (ROOT / "corpus" / "battery.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines if line.strip()]


class Reader:
    """One client with its own mind; `step` does one thing to the server at `url`."""

    def __init__(self, url: str, tally: Tally, seed: int) -> None:
        self.url = url
        self.tally = tally
        self.chance = random.Random(seed)
        self.http = httpx.Client(timeout=120)
        self.questions = questions()
        self.history: list[dict[str, str]] = []

    def step(self) -> None:
        """Raises httpx.TransportError when the server is gone."""
        ways: list[tuple[int, Callable[[], None]]] = [
            (8, self.ask), (2, self.stop), (2, self.vanish), (1, self.forget), (4, self.rubbish),
            (1, self.look), (1, self.agent),
        ]  # fmt: skip
        way = self.chance.choices([w for _, w in ways], [n for n, _ in ways])[0]
        way()
        self.tally.count(way.__name__)

    def ask(self) -> None:
        """Asks and reads to the end; the answer object must keep its promises."""
        question = self.chance.choice(self.questions)
        event = self._join(question)
        if event is None:
            return
        last: dict[str, Any] | None = None
        for answer in self._answers(event):
            last = answer
        if last is None or last["stage"] != "done":
            self.tally.fault(f"no whole answer to {question!r}: {last and last['stage']}")
            return
        wrong = [w for w in faults(last, {}) if "verbatim" not in w]
        for citation in last["citations"]:
            if squeezed(citation["quote"]) not in squeezed(citation["passage"]):
                wrong.append(f"quote not in its passage: {citation['quote']!r}")
        if last["outcome"] == "error" and "restarted" not in last["answer"]:
            wrong.append(f"error: {last['answer']}")
        for one in wrong:
            self.tally.fault(f"{question!r}: {one}")
        self.tally.count(last["outcome"])
        self.history = [*self.history, {"role": "user", "content": question},
                        {"role": "assistant", "content": last["answer"]}][-10:]  # fmt: skip

    def stop(self) -> None:
        """As the page's stop button: cancels in mid-answer."""
        session = f"soak{self.chance.randrange(1 << 60):x}"
        body = {"data": [self.chance.choice(self.questions)], "fn_index": 0}
        joined = self._post("queue/join", json={**body, "session_hash": session})
        if joined.status_code != 200:
            return
        event = joined.json()["event_id"]
        with self.http.stream(
            "GET", f"{self.url}/gradio_api/queue/data?session_hash={session}"
        ) as stream:
            for line in stream.iter_lines():
                if "process_" in line and self.chance.random() < 0.3:
                    break
        self._post("cancel", json={"session_hash": session, "fn_index": 0, "event_id": event})

    def vanish(self) -> None:
        """Closes the connection in the middle of a stream."""
        event = self._join(self.chance.choice(self.questions))
        if event is None:
            return
        for number, _ in enumerate(self._answers(event)):
            if number >= self.chance.randrange(4):
                return

    def forget(self) -> None:
        """Asks and never comes for the answer."""
        self._join(self.chance.choice(self.questions))

    def agent(self) -> None:
        """Searches or asks as a program does, over the Model Context Protocol."""
        tool = self.chance.choice(["search", "ask", "collections"])
        arguments = (
            {"question": self.chance.choice(self.questions)} if tool != "collections" else {}
        )
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}  # fmt: skip
        headers = {"Accept": "application/json, text/event-stream"}
        answer = self._post("mcp/", json=message, headers=headers)
        if answer.status_code == 200 and '"isError":true' in answer.text:
            self.tally.fault(f"agent, {tool}: {answer.text[:200]}")

    def look(self) -> None:
        """Health must be good while others send rubbish."""
        answer = self.http.get(f"{self.url}/healthz")
        if answer.status_code != 200:
            self.tally.fault(f"health: {answer.text}")

    def rubbish(self) -> None:
        """Sends what no client of ours does."""
        kind = self.chance.randrange(4)
        if kind == 0:
            self._get(self.chance.choice(_PATHS))
        elif kind == 1:
            path = self.chance.choice(["call/ask", "queue/join", "cancel", "upload", "run/ask"])
            self._post(path, content=self.chance.randbytes(self.chance.randrange(5000)))
        elif kind == 2:
            body = json.dumps({"data": [junk(self.chance) for _ in range(3)]})
            self._post("call/ask", content=body)  # httpx can't encode half a surrogate pair
        else:
            self._raw(self.chance.randbytes(self.chance.randrange(300)))

    def _join(self, question: str) -> str | None:
        history = self.history if self.chance.random() < 0.3 else []
        sent = self._post("call/ask", json={"data": [question, None, history]})
        if sent.status_code == 200:
            return str(sent.json()["event_id"])
        if sent.status_code in (429, 503):
            self.tally.count(f"turned away {sent.status_code}")
        else:
            self.tally.fault(f"a good question: {sent.status_code} {sent.text[:200]}")
        return None

    def _answers(self, event: str) -> Iterator[dict[str, Any]]:
        address = f"{self.url}/gradio_api/call/ask/{event}"
        with self.http.stream("GET", address) as stream:
            name = ""
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                    if name == "error":
                        self.tally.fault(f"event error in {event}")
                elif line.startswith("data: [{") and name in ("generating", "complete"):
                    yield json.loads(line.removeprefix("data: "))[0]

    def _get(self, path: str) -> httpx.Response:
        return self._judged(self.http.get(self.url + path), path)

    def _post(self, path: str, **options: Any) -> httpx.Response:
        return self._judged(self.http.post(f"{self.url}/gradio_api/{path}", **options), path)

    def _judged(self, answer: httpx.Response, path: str) -> httpx.Response:
        if answer.status_code >= 500 and answer.status_code != 503:
            self.tally.fault(f"{path}: {answer.status_code} {answer.text[:200]}")
        if "Traceback" in answer.text:
            self.tally.fault(f"{path}: a traceback")
        return answer

    def _raw(self, data: bytes) -> None:
        parts = httpx.URL(self.url)
        try:
            with socket.create_connection((parts.host, parts.port or 80), timeout=5) as connection:
                connection.sendall(data)
                if self.chance.random() < 0.5:
                    connection.settimeout(0.2)
                    connection.recv(1000)
        except OSError:
            return  # who sends rubbish may be hung up on


def junk(chance: random.Random, depth: int = 3) -> Any:
    """A JSON value of any shape."""
    kind = chance.randrange(9 if depth else 7)
    if kind == 7:
        return [junk(chance, depth - 1) for _ in range(chance.randrange(4))]
    if kind == 8:
        keys = ["role", "content", "text", "type", "path", "meta", "url", "metadata"]
        return {chance.choice(keys): junk(chance, depth - 1) for _ in range(chance.randrange(4))}
    texts = ["user", "assistant", "system", "\u202e\x00\ud800", "<img src=x onerror=alert(1)>",
             "x" * 3000, "", "[9]", "<|im_end|>"]  # fmt: skip
    return [None, True, chance.randrange(-(1 << 40), 1 << 40), chance.random(),
            *(chance.choice(texts) for _ in range(3))][kind]  # fmt: skip
