"""A local server that plays the part of the model hub that downloads need."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HubServer:
    """Serves folders as repositories: their description, and their files with ranges.

    `delay` seconds pass before each `piece` bytes of a file, `corrupt` is a file of which one byte
    is changed on the way, `sent` counts the bytes of files, `asked` lists the paths.
    """

    def __init__(self, repositories: dict[str, Path]) -> None:
        self.repositories = repositories
        self.delay = 0.0
        self.piece = 4096
        self.corrupt: str | None = None
        self.sent = 0
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None: ...

            def do_HEAD(self) -> None:
                hub.answer(self, body=False)

            def do_GET(self) -> None:
                hub.answer(self, body=True)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> HubServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, *, body: bool) -> None:
        path = request.path.partition("?")[0]
        self.asked.append(path)
        for name, folder in self.repositories.items():
            if path in {f"/api/models/{name}", f"/api/models/{name}/revision/main"}:
                content = json.dumps(_describe(name, folder)).encode()
                _send(request, 200, {"Content-Type": "application/json"}, content if body else b"")
                return
            prefix = f"/{name}/resolve/{COMMIT}/"
            if path.startswith(prefix) and (folder / path.removeprefix(prefix)).is_file():
                self._file(request, folder / path.removeprefix(prefix), body)
                return
        _send(request, 404, {"X-Error-Code": "RepoNotFound"}, b"")

    def _file(self, request: BaseHTTPRequestHandler, path: Path, body: bool) -> None:
        content = path.read_bytes()
        if path.name == self.corrupt:
            content = content[:-1] + bytes([content[-1] ^ 1])
        size = len(content)
        headers = {
            "ETag": f'"{hashlib.sha256(path.read_bytes()).hexdigest()}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        start = 0
        asked = request.headers.get("Range")
        if asked:
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        request.send_response(206 if asked else 200)
        for key, value in headers.items():
            request.send_header(key, value)
        request.send_header("Content-Length", str(size - start))
        request.end_headers()
        if not body:
            return
        for i in range(start, size, self.piece):
            time.sleep(self.delay)
            piece = content[i : i + self.piece]
            try:
                request.wfile.write(piece)
            except OSError:  # the client was killed
                return
            self.sent += len(piece)


def _describe(name: str, folder: Path) -> dict[str, object]:
    siblings = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        entry: dict[str, object] = {
            "rfilename": str(path.relative_to(folder)),
            "size": len(content),
            "blobId": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(),
        }
        if path.suffix in {".safetensors", ".onnx"}:
            sha256 = hashlib.sha256(content).hexdigest()
            entry["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 130}
        siblings.append(entry)
    return {
        "id": name,
        "sha": COMMIT,
        "siblings": siblings,
        "cardData": {"license": "mit"},
        "tags": [],
        "private": False,
        "downloads": 0,
        "likes": 0,
    }


def _send(
    request: BaseHTTPRequestHandler, status: int, headers: dict[str, str], content: bytes
) -> None:
    request.send_response(status)
    for key, value in headers.items():
        request.send_header(key, value)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)
