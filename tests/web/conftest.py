"""A running server with scripted answers, and a browser that looks at it."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from rag.settings import Settings
from rag.web.server import FindFile, Server, bind, create_app, server_config
from tests.web.scripted import ScriptedAnswerer

HERE = Path(__file__).parent


class Site:
    """The application behind a real socket, in a thread."""

    def __init__(self, answerer: ScriptedAnswerer, settings: Settings) -> None:
        self.answerer = answerer
        self.settings = settings
        self.published: dict[str, FindFile] = {}
        self.start()

    def start(self) -> None:
        """Listens; a second start takes the same port again."""
        listener = bind(self.settings)
        port = listener.getsockname()[1]
        self.settings = replace(self.settings, port=port)
        self.url = f"http://127.0.0.1:{port}"
        about = {"Language model": "scripted (MIT)"}
        self.app = create_app(self.answerer, self.settings, about=about, published=self.published)
        self.server = Server(server_config(self.app))
        self.thread = threading.Thread(target=self.server.run, args=([listener],), daemon=True)
        self.thread.start()
        until(lambda: self.server.started)

    def stop(self) -> None:
        """Ends as a process that is told to."""
        self.server.should_exit = True
        self.thread.join(10)


def until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Waits for a condition; fails when it doesn't come true in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A server of its own for each test."""
    settings = Settings(host="127.0.0.1", port=0, feedback_file=tmp_path / "feedback.jsonl")
    site = Site(ScriptedAnswerer(), settings)
    yield site
    site.stop()


@pytest.fixture
def site_with() -> Iterator[Callable[..., Site]]:
    """Starts servers with settings of their own: `site_with(max_waiting=1)`."""
    sites: list[Site] = []

    def start(answerer: ScriptedAnswerer | None = None, **settings: Any) -> Site:
        sites.append(Site(answerer or ScriptedAnswerer(), Settings(port=0, **settings)))
        return sites[-1]

    yield start
    for site in sites:
        site.stop()


def call(site: Site, *data: object, **options: Any) -> httpx.Response:
    """A bare HTTP call of `/ask`, as curl makes it; the answer is behind the event's id."""
    return httpx.post(f"{site.url}/gradio_api/call/ask", json={"data": list(data)}, **options)


def answer_of(site: Site, response: httpx.Response) -> dict[str, Any]:
    """The answer object that a bare call leads to."""
    assert response.status_code == 200, response.text
    event = response.json()["event_id"]
    lines = httpx.get(f"{site.url}/gradio_api/call/ask/{event}", timeout=30).text.splitlines()
    assert lines[-3] == "event: complete", lines[-5:]
    return json.loads(lines[-2].removeprefix("data: "))[0]


@pytest.fixture
def free_port() -> int:
    """A port that nothing uses at the moment."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, headless.

    Closed with its module: as long as Playwright runs, no other test can run an event loop.
    """
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("chromium isn't installed (apt-get install chromium)")
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Opens a page in a fresh profile; a console error or a foreign request fails the test.

    `visit(path="/", width=1280, dark=False, locale="en-GB", context=None, may_fail=False)`
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_page(
        path: str = "/",
        width: int = 1280,
        dark: bool = False,
        locale: str = "en-GB",
        context: BrowserContext | None = None,
        may_fail: bool = False,
    ) -> Page:
        if context is None:
            context = browser.new_context(
                viewport={"width": width, "height": 860 if width > 600 else 844},
                color_scheme="dark" if dark else "light",
                locale=locale,
                has_touch=width < 600,
                is_mobile=width < 600,
                reduced_motion="reduce",
                permissions=["clipboard-read", "clipboard-write"],
            )
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        if not may_fail:
            page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda r: (
                None
                if r.url.startswith((site.url, "blob:", "data:"))
                else faults.append(f"foreign request: {r.url}")
            ),
        )
        page.goto(site.url + path)
        page.wait_for_selector("#conversation > *")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, pinned in package.json."""
    script = HERE / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        npm = shutil.which("npm")
        if not npm:
            pytest.skip("axe-core needs node and npm, and they aren't installed")
        subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=HERE, check=True)
    return script.read_text()


def ask(page: Page, question: str, *, wait: bool = True) -> None:
    """Types a question, sends it, and waits for the whole answer."""
    page.fill("#question", question)
    page.press("#question", "Enter")
    if wait:  # pressing Enter has put the stop button there already
        page.wait_for_selector("#send")
