"""What every request passes first: its id, its size, its shape, and whether there is room for it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag import logs
from rag.settings import Settings
from rag.web import texts, visit
from rag.web.calls import BadCall, Call, Endpoint, calls_a_tool, read_call
from rag.web.limits import Limits
from rag.web.metrics import Metrics

log = logging.getLogger(__name__)

BODY_SECONDS = 20.0
"""In which a request has to arrive whole."""

# What Gradio's clients need. The rest of it (uploads, files, proxies, editors) isn't for strangers.
_READABLE = re.compile(
    r"/config/?|/theme\.css|/robots\.txt|/favicon\.ico|/gradio_api/(?:info/?|openapi\.json"
    r"|app_id/?|startup-events|heartbeat/[\w-]{1,100}|queue/data|call/(?:v2/)?\w+/\w{1,100})"
)
_CALLABLE = r"/gradio_api/(?:queue/join|cancel|reset/?|call/(?:v2/)?(?:%s)/?)"
_AGENTS = re.compile(r"/gradio_api/mcp(?:/.*)?")
_OWN = re.compile(r"/|/healthz|/metrics|/page/.*|/source/.*")
_HOST = re.compile(rb"[A-Za-z0-9._-]*(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\](?::\d{1,5})?")
_STREAM = re.compile(r"/gradio_api/call/(?:v2/)?\w+/(\w+)")


class Door:
    """Middleware. What it lets in, Gradio can take; what it doesn't gets a sentence as JSON."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        blocks: gr.Blocks,
        metrics: Metrics,
        limits: Limits,
        tidy: Callable[[], None],
    ) -> None:
        self._app = app
        self._settings = settings
        self._queue = blocks._queue
        self._metrics = metrics
        self._limits = limits
        self._tidy = tidy
        self._endpoints = _endpoints(blocks)
        names = "|".join(endpoint.name for endpoint in self._endpoints.values())
        self._callable = re.compile(_CALLABLE % names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks WebSocket
            await send({"type": "websocket.close", "code": 1008})
            return
        here = visit.visit_of(_header(scope, b"x-request-id"))
        scope[visit.KEY] = here
        token = logs.request_id.set(here.request_id)
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                name = (b"x-request-id", here.request_id.encode())
                message = {**message, "headers": [*message.get("headers", ()), name]}
            await send(message)

        try:
            await self._enter(scope, receive, answer, here)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"][:200])
            if not begun:
                await _say(scope, answer, 500, texts.BROKEN, request=here.request_id)
        finally:
            logs.request_id.reset(token)

    async def _enter(self, scope: Scope, receive: Receive, send: Send, here: visit.Visit) -> None:
        path = _path(scope, self._settings.root_path)
        if not _HOST.fullmatch(_header(scope, b"host").encode("latin-1")):
            await self._refuse(scope, send, 400, texts.BAD_REQUEST, "host")
            return
        scope["headers"] = [pair for pair in scope["headers"] if _is_harmless(*pair)]
        posted = scope["method"] not in ("GET", "HEAD", "OPTIONS")
        agent = self._settings.mcp and _AGENTS.fullmatch(path)
        known = agent or _OWN.fullmatch(path) or (not posted and _READABLE.fullmatch(path))
        callable_ = self._callable.fullmatch(path)
        if not known and not (callable_ and (posted or scope["method"] == "OPTIONS")):
            await self._refuse(scope, send, 404, texts.NOT_HERE, "path")
            return
        if not posted:
            if self._is_unknown_stream(scope, path):
                await self._refuse(scope, send, 404, texts.NOT_HERE, "stream")
                return
            await self._app(scope, receive, send)
            return
        limit = self._settings.max_request_bytes
        try:
            body = await asyncio.wait_for(_body(receive, limit), BODY_SECONDS)
        except TimeoutError:
            await self._refuse(scope, send, 408, texts.REQUEST_TOO_SLOW, "slow")
            return
        if body is None:
            await self._refuse(scope, send, 413, texts.REQUEST_TOO_LARGE, "size", limit=limit)
            return
        headers = [(k, v) for k, v in scope["headers"] if k != b"content-length"]
        if callable_:
            try:
                call = read_call(path, body, self._endpoints)
            except BadCall:
                await self._refuse(scope, send, 422, texts.BAD_REQUEST, "shape")
                return
            if call.endpoint and not await self._has_room(scope, send, call, here):
                return
            body = json.dumps(call.body).encode()
            scope["query_string"] = b""
            headers = [(k, v) for k, v in headers if k != b"content-type"]
            headers.append((b"content-type", b"application/json"))
        elif (path == "/page/feedback" and not await self._may_ask(scope, send, here)) or (
            agent
            and calls_a_tool(body)
            and not await self._may_ask(scope, send, here, excuse=False)
        ):
            return
        scope["headers"] = [*headers, (b"content-length", str(len(body)).encode())]
        await self._app(scope, _replay(body, receive), send)

    async def _has_room(self, scope: Scope, send: Send, call: Call, here: visit.Visit) -> bool:
        """Whether a call may join the queue; refuses it otherwise."""
        self._tidy()
        asks = call.endpoint is not None and "question" in call.endpoint.arguments
        if asks and not await self._may_ask(scope, send, here):
            return False
        if len(self._queue) >= self._settings.max_waiting:
            await self._refuse(scope, send, 503, texts.QUEUE_FULL, "queue")
            return False
        return True

    async def _may_ask(
        self, scope: Scope, send: Send, here: visit.Visit, *, excuse: bool = True
    ) -> bool:
        """Counts a question or a thumb; refuses it when its client is far over the limit.

        Without `excuse` it is refused as soon as it is over.
        """
        here.limit = self._limits.per_minute
        here.wait, refused = self._limits.take(scope)
        refused = refused or bool(here.wait and not excuse)
        if refused:
            seconds = max(1, round(here.wait))
            await self._refuse(
                scope, send, 429, texts.TOO_MANY, "rate", limit=here.limit, seconds=seconds
            )
        return not refused

    def _is_unknown_stream(self, scope: Scope, path: str) -> bool:
        """Whether a stream is asked for that nobody opened; Gradio's own answer is a traceback."""
        match = _STREAM.fullmatch(path)
        if match:
            return match[1] not in self._queue.pending_messages_per_session
        if path != "/gradio_api/queue/data":
            return False
        query = parse_qs(scope["query_string"].decode("latin-1"))
        session = query.get("session_hash", [""])[0]
        return session not in self._queue.pending_messages_per_session

    async def _refuse(
        self,
        scope: Scope,
        send: Send,
        status: int,
        sentences: texts.Texts,
        reason: str,
        **values: object,
    ) -> None:
        self._metrics.turned_away(reason)
        await _say(scope, send, status, sentences, **values)


def _endpoints(blocks: gr.Blocks) -> dict[int, Endpoint]:
    """What can be called, by its number in the queue."""
    described = blocks.get_api_info()["named_endpoints"]
    return {
        index: Endpoint(
            str(fn.api_name),
            tuple(given["parameter_name"] for given in described[f"/{fn.api_name}"]["parameters"]),
        )
        for index, fn in blocks.fns.items()
    }


async def _say(
    scope: Scope, send: Send, status: int, sentences: texts.Texts, **values: object
) -> None:
    """A refusal as FastAPI words its own: `{"detail": sentence}`."""
    spoken = texts.preferred(_header(scope, b"accept-language"))
    detail = sentences[spoken].format(**values)
    body = json.dumps({"detail": detail}, ensure_ascii=False).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if "seconds" in values:
        headers.append((b"retry-after", str(values["seconds"]).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def _body(receive: Receive, limit: int) -> bytes | None:
    """The whole body; None once it is larger than `limit` bytes, whatever its length claimed."""
    body = bytearray()
    while True:
        message: dict[str, Any] = dict(await receive())
        body += message.get("body", b"")
        if len(body) > limit:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives the body once, then what comes after it: that the client has left."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _path(scope: Scope, root_path: str) -> str:
    path: str = scope["path"]
    if root_path and (path == root_path or path.startswith(f"{root_path}/")):
        path = path[len(root_path) :] or "/"
    return path


def _header(scope: Scope, name: bytes) -> str:
    return next((v.decode("latin-1") for k, v in scope["headers"] if k == name), "")


def _is_harmless(name: bytes, value: bytes) -> bool:
    """Gradio builds addresses from these headers, and breaks where they hold none."""
    if name == b"x-gradio-server":
        return False
    first = value.partition(b",")[0].strip()
    return name != b"x-forwarded-host" or bool(first and _HOST.fullmatch(first))
