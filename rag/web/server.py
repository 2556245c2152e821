"""The server: the page, its health, formulas and feedback, with Gradio's API mounted beside."""

from __future__ import annotations

import logging
import secrets
import socket
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from gradio.networking import setup_tunnel
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from rag.settings import Settings
from rag.types import FootnoteError
from rag.web import texts
from rag.web.address import bind, unusable
from rag.web.api import build_blocks, endpoint_index
from rag.web.asking import Asking
from rag.web.door import Door
from rag.web.feedback import Feedback, check_feedback_file, save_feedback
from rag.web.formula import formula_tree
from rag.web.health import Health
from rag.web.limits import Limits
from rag.web.mcp import prepare_mcp
from rag.web.metrics import Metrics
from rag.web.protocol import Answerer
from rag.web.upkeep import Upkeep

log = logging.getLogger(__name__)

FindFile = Callable[[str], Path | None]

CONNECTIONS = 512
"""At once; further ones are turned away."""

STATIC = Path(__file__).parent / "static"

# The page needs nothing from elsewhere, and this makes the browser hold it to that.
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}

# A source is somebody's page: it is shown, but runs nothing and isn't of this origin.
SOURCE_HEADERS = {
    "Content-Security-Policy": (
        "sandbox allow-popups allow-top-navigation-by-user-activation; default-src 'none'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class Server(uvicorn.Server):
    """Uvicorn, which at its end lets answers end, and cuts other streams without a traceback each."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Uvicorn's, after the application has told its readers (see `create_app`)."""
        if close := getattr(getattr(self.config.app, "state", None), "close", None):
            await close()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


class PathPrefix:
    """Tells the routes below which path prefix a proxy shows, whether it strips it or not."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self.app = app
        self.root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on; the routes leave `root_path` out of a path that has it."""
        await self.app({**scope, "root_path": self.root_path}, receive, send)


def serve(
    answerer: Answerer,
    settings: Settings,
    *,
    share: bool = False,
    about: Mapping[str, str] | None = None,
    published: Mapping[str, FindFile] | None = None,
    listener: socket.socket | None = None,
) -> None:
    """Serves until the process is told to end. Call it when the model has generated a token.

    `about` is shown in the About panel, label → text. `published` maps the public address of a
    site whose pages lie on this machine ("https://blog.example") to what finds the file behind a
    path of it; footnotes then open those files, which may run nothing. `listener` is what `bind`
    returned, for a caller who wants to know that the port is free before loading models.

    Raises FootnoteError when the address can't be used, the feedback file can't be written, or no
    public link is to be had.
    """
    # Gradio uses a name that Starlette has given up; that is nothing the log's reader can change.
    warnings.filterwarnings("ignore", message="'HTTP_422", module="gradio")
    listener = listener or bind(settings)
    host, port = listener.getsockname()[:2]
    app = create_app(answerer, replace(settings, port=port), about=about, published=published)
    config = server_config(app)
    try:
        # Two processes can be bound to one port until one of them listens.
        listener.listen(config.backlog)
    except OSError as error:
        raise unusable(f"{host}:{port}", error) from error
    if share:
        log.info("Public link: %s", _public_link(port))
    log.info("Footnote is ready at %s", _address(host, port))
    try:
        Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        log.info("Stopped.")


def server_config(app: FastAPI) -> uvicorn.Config:
    """How the application is served."""
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        timeout_graceful_shutdown=2,
        proxy_headers=False,  # whose word counts for the client's address is a setting
        server_header=False,
        limit_concurrency=CONNECTIONS,
    )


def create_app(
    answerer: Answerer,
    settings: Settings,
    *,
    about: Mapping[str, str] | None = None,
    published: Mapping[str, FindFile] | None = None,
) -> FastAPI:
    """The whole application, without a server around it.

    `app.state.close` is to be awaited before the server ends: it lets answers under way end and
    tells the readers who wait.
    """
    metrics = Metrics([info.name for info in answerer.collections()])
    health = Health(answerer.check, silence=settings.llm_timeout)
    asking = Asking(answerer, settings, metrics, health)
    blocks = build_blocks(asking, answerer, settings)
    metrics.watch(waiting=lambda: len(blocks._queue), running=lambda: asking.running)
    app = FastAPI(
        title="Footnote",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        exception_handlers={RequestValidationError: _unreadable},
    )
    app.state.blocks = blocks
    app.state.close = lambda: asking.close(lambda: len(blocks._queue))
    app.add_middleware(
        Door,
        settings=settings,
        blocks=blocks,
        metrics=metrics,
        limits=Limits(settings),
        tidy=Upkeep(blocks).tidy,
    )
    app.add_middleware(PathPrefix, root_path=settings.root_path)
    if settings.feedback_file:
        check_feedback_file(settings.feedback_file)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=PAGE_HEADERS)

    @app.get("/healthz")
    async def healthz(response: Response) -> dict[str, Any]:
        fault = "it is being stopped" if asking.closing else await health.fault()
        if fault:
            response.status_code = 503
            return {"status": "failing", "reason": fault}
        names = [info.name for info in answerer.collections()]
        return {"status": "ready", "collections": names}

    @app.get("/metrics")
    def figures() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    sites = list(published or {})
    find = list((published or {}).values())

    @app.get("/source/{site}/{path:path}")
    def source(site: int, path: str) -> FileResponse:
        file = find[site](path) if 0 <= site < len(find) else None
        if file is None:
            raise HTTPException(404)
        return FileResponse(file, headers=SOURCE_HEADERS)

    @app.get("/page/setup")
    def setup() -> dict[str, Any]:
        return {
            "ask": endpoint_index(blocks, "ask"),
            "collections": [info.as_json() for info in answerer.collections()],
            "about": dict(about or {}),
            "max_question_chars": settings.max_question_chars,
            "history_turns": settings.history_turns,
            "published": sites,
            "feedback": settings.feedback_file is not None,
        }

    @app.get("/page/formula")
    def formula(latex: str, display: bool = False) -> list[Any]:
        tree = formula_tree(latex, display=display)
        if tree is None:
            raise HTTPException(422, "This formula can't be shown; show its source.")
        return tree

    if path := settings.feedback_file:

        @app.post("/page/feedback", status_code=204)
        def feedback(sent: Feedback, request: Request) -> None:
            try:
                save_feedback(path, sent)
            except OSError as error:
                log.error("Feedback can't be written to %s: %s", path, error.strerror)
                spoken = texts.preferred(request.headers.get("accept-language", ""))
                raise HTTPException(507, texts.THUMB_NOT_KEPT[spoken]) from None

    files = {file.name: file for file in STATIC.iterdir()}

    @app.get("/page/{name}")
    def page_file(name: str) -> FileResponse:
        if name not in files:
            raise HTTPException(404)
        return FileResponse(files[name], headers=PAGE_HEADERS)

    gr.mount_gradio_app(
        app,
        blocks,
        path="/",
        root_path=settings.root_path or None,
        footer_links=[],
        show_error=False,
        max_file_size=1,  # nothing here takes an upload
        enable_monitoring=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=settings.mcp,
    )
    if settings.mcp:
        address = _address(settings.host.strip("[]"), settings.port)
        prepare_mcp(blocks, address, settings.client_header)
    # Mounted, Gradio leaves this unset, and sends a waiting client no heartbeats.
    blocks.is_running = True
    # Gradio fills this in when /info is first asked for, and calls by argument name (/call/v2)
    # fail until then.
    mounted = next(route for route in app.routes if isinstance(route, Mount) and not route.path)
    mounted.app.api_info = blocks.get_api_info()  # type: ignore[attr-defined]
    return app


async def _unreadable(request: Request, error: Exception) -> JSONResponse:
    """FastAPI's own repeats what was sent, and breaks where that is no JSON or no UTF-8."""
    spoken = texts.preferred(request.headers.get("accept-language", ""))
    return JSONResponse({"detail": texts.UNREADABLE[spoken]}, status_code=422)


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


def _public_link(port: int) -> str:
    try:
        return setup_tunnel("127.0.0.1", port, secrets.token_urlsafe(32), None, None)
    except Exception as error:  # Gradio's have no class in common
        why = str(error).partition("\n")[0].rstrip(". ") or type(error).__name__
        raise FootnoteError(
            f"No public link could be made ({why}). It takes a way out to Gradio's relay, and a home "
            "folder that can be written; start without --share, or show the app through a proxy."
        ) from error
