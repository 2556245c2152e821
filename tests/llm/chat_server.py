"""A small server that speaks OpenAI's chat protocol, with the faults that a test asks for."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[list[dict[str, str]]], str]
"""The conversation → what the assistant's next message is, its begun start included."""

COUNTED = "one two three four five six seven eight nine ten"


@dataclass
class Behaviour:
    """What the server does; a test may change it while it runs."""

    reply: Reply = lambda messages: COUNTED
    models: tuple[str, ...] = ("small",)
    key: str | None = None
    continues: bool = True
    """Goes on with a last message that is the assistant's, as vLLM does when told to."""
    rejects_unknown: bool = False
    """Answers 400 to fields that OpenAI's own service doesn't know."""
    breaks_after: int | None = None
    """Words after which the connection is cut."""
    silent_after: int | None = None
    error_after: int | None = None
    status: int | None = None
    """Answered to every chat."""
    usage: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    words_sent: int = 0
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a client closed the connection before the reply was over."""


@contextmanager
def chat_server(behaviour: Behaviour) -> Iterator[str]:
    """The address of a running server, as `RAG_LLM` takes it."""

    class Handler(_Handler):
        does = behaviour

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    does: Behaviour

    def do_GET(self) -> None:
        if not self._allowed():
            return
        if self.path != "/v1/models":
            self._json(404, {"error": {"message": f"no {self.path}"}})
            return
        self._json(200, {"object": "list", "data": [{"id": m} for m in self.does.models]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._allowed():
            return
        self.does.asked.append(asked)
        if self.does.status:
            self._json(self.does.status, {"error": {"message": "out of\nmemory"}})
            return
        if self.does.rejects_unknown and "continue_final_message" in asked:
            self._json(400, {"error": {"message": "unknown field"}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            self._stream(asked)
        except (BrokenPipeError, ConnectionResetError):
            self.does.left.set()

    def _stream(self, asked: dict[str, Any]) -> None:
        messages = asked["messages"]
        text = self.does.reply(messages)
        begun = messages[-1]["content"] if messages[-1]["role"] == "assistant" else ""
        if self.does.continues:
            assert text.startswith(begun), (begun, text)
            text = text[len(begun) :]
        words = [w for w in text.replace(" ", "\0 ").split("\0") if w]
        self._event({"choices": [{"delta": {"role": "assistant"}, "finish_reason": None}]})
        for i, word in enumerate(words[: asked["max_tokens"]]):
            if i == self.does.breaks_after:
                return
            if i == self.does.error_after:
                self._event({"error": {"message": "the GPU is gone"}})
                return
            while i == self.does.silent_after:
                time.sleep(0.02)
                self.wfile.write(b": nothing\n")  # the only way to notice that nobody listens
            self.does.words_sent += 1
            self._event({"choices": [{"delta": {"content": word}, "finish_reason": None}]})
        reason = "length" if len(words) > asked["max_tokens"] else "stop"
        self._event({"choices": [{"delta": {}, "finish_reason": reason}]})
        if self.does.usage:
            usage = {"prompt_tokens": 77, "completion_tokens": len(words),
                     "prompt_tokens_details": {"cached_tokens": 33}}  # fmt: skip
            self._event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, value: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())

    def _allowed(self) -> bool:
        self.does.keys.append(self.headers["Authorization"])
        if self.does.key and self.headers["Authorization"] != f"Bearer {self.does.key}":
            self._json(401, {"error": {"message": f"not {self.headers['Authorization']}"}})
            return False
        return True

    def _json(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""
