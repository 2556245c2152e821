"""A small web server on this machine that answers as a test tells it to, faults included."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What an address gives. `etag` also answers If-None-Match with 304."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    etag: bool = False
    first: tuple[int, ...] = ()
    """Statuses of the first requests, before the reply itself."""
    act: Callable[[BaseHTTPRequestHandler], None] | None = None
    """Takes over the connection."""


def page(text: str, **changes: Any) -> Reply:
    """An HTML page that supports conditional requests."""
    headers = {"Content-Type": "text/html; charset=utf-8"}
    return Reply(text.encode(), headers=headers, etag=True, **changes)


def moved(location: str, status: int = 301) -> Reply:
    """A redirect."""
    return Reply(status=status, headers={"Location": location})


def packed(body: bytes, content_type: str, *, announced: bool) -> Reply:
    """Gzip, with or without a Content-Encoding header."""
    headers = {"Content-Type": content_type}
    if announced:
        headers["Content-Encoding"] = "gzip"
    return Reply(gzip.compress(body), headers=headers)


class Site(ThreadingHTTPServer):
    """Replies by path (with query); other paths are 404. `seen` lists (path, status) as served."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: dict[str, Reply] = {}
        self.seen: list[tuple[str, int]] = []
        self.agents: set[str] = set()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address without a slash at the end."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(asked == path for asked, _ in self.seen)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet; the kernel would otherwise hold the body back for 40 ms.
    wbufsize = 65536
    server: Site

    def do_GET(self) -> None:
        self.server.agents.add(self.headers.get("User-Agent", ""))
        reply = self.server.replies.get(self.path, Reply(b"no such page", 404))
        with self.server.lock:
            before = self.server.count(self.path)
        if before < len(reply.first):
            self._send(Reply(b"try later", reply.first[before]))
        elif reply.act:
            self.server.seen.append((self.path, 200))
            reply.act(self)
        elif reply.etag and self.headers.get("If-None-Match") == _etag(reply):
            self._send(Reply(b"", 304))
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        self.server.seen.append((self.path, reply.status))
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.etag:
            self.send_header("ETag", _etag(reply))
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _etag(reply: Reply) -> str:
    return f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"'


@contextlib.contextmanager
def serving() -> Iterator[Site]:
    """A running site; it stops when the block ends."""
    site = Site()
    thread = threading.Thread(target=site.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join()
