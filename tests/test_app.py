"""`python app.py` as a user starts it, with the real models, and its page in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from gradio_client import Client
from playwright.sync_api import expect, sync_playwright

from tests.schema import faults

pytestmark = [pytest.mark.models, pytest.mark.browser]
ROOT = Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def health(url: str) -> int:
    """The status of /healthz; 0 while nothing listens."""
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5) as response:
            assert json.load(response)["status"] == "ready"
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    """The app's address, once it says that it is ready: within 15 seconds of its start."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen([sys.executable, "app.py", "--port", str(port)], cwd=ROOT)
    started = time.monotonic()
    while (status := health(url)) != 200:
        assert status in (0, 503)
        assert process.poll() is None, "app.py ended"
        assert time.monotonic() - started < 60
        time.sleep(0.2)
    assert time.monotonic() - started < 15
    yield url
    process.terminate()
    assert process.wait(15) in (0, -signal.SIGTERM)  # uvicorn ends as it was told to


def test_the_api_answers_refuses_and_greets(app: str) -> None:
    client = Client(app, verbose=False)
    answer = client.predict("What is recall@k?", api_name="/ask")
    assert answer["outcome"] == "answered"
    assert answer["citations"]
    assert [f for f in faults(answer, {}) if "verbatim" not in f] == []
    refused = client.predict("What is the best pizza dough?", api_name="/ask")
    assert (refused["outcome"], refused["timings"]["prompt_tokens"]) == ("refused", 0)
    assert client.predict("hola", api_name="/ask")["outcome"] == "greeting"
    names = [info["name"] for info in client.predict(api_name="/collections")]
    assert names[0] == "blog"
    assert "ada-lovelace" in names


def test_the_api_streams_partial_objects(app: str) -> None:
    client = Client(app, verbose=False)
    partials = list(client.submit("What is recall@k?", api_name="/ask"))
    assert partials[-1]["stage"] == "done"
    assert any(p["draft"] for p in partials)
    assert all(p["stage"] != "done" for p in partials[:-1])


def test_a_reader_asks_and_follows_a_footnote_to_its_page(app: str) -> None:
    foreign: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.on("request", lambda r: None if r.url.startswith(app) else foreign.append(r.url))
        errors: list[str] = []
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.goto(f"{app}/?q=What is recall@k%3F")
        field = page.locator("#composer textarea")
        expect(field).to_have_value("What is recall@k?")
        field.press("Enter")
        page.locator("article .actions").wait_for(timeout=30_000)
        page.locator(".marker").first.click()
        card = page.locator("#margin .card.open")
        expect(card.locator("mark").first).to_be_visible()
        with page.context.expect_page() as opened:
            card.locator("a[target=_blank]").first.click()
        opened.value.wait_for_load_state()
        assert "Recall@k" in opened.value.title()
        browser.close()
    assert errors == []
    assert foreign == []


def test_a_port_in_use_is_one_line_and_status_1(app: str) -> None:
    command = [sys.executable, "app.py", "--port", app.rpartition(":")[2]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "in use" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a container's first process")
@pytest.mark.parametrize("first", [False, True])
def test_a_term_signal_before_it_is_ready_ends_it(first: bool) -> None:
    apart = ["unshare", "--pid", "--fork", "--kill-child"] if first else []
    command = [*apart, sys.executable, "app.py", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2.5)  # it loads
        app = psutil.Process(process.pid)
        (app.children()[0] if first else app).terminate()
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "ready" not in errors
    assert "Traceback" not in errors
