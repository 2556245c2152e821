"""The address, health, and what the server hands out."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from rag.settings import Settings
from rag.types import FootnoteError
from rag.web.server import STATIC, bind, serve
from tests.web.conftest import Site, until
from tests.web.scripted import ScriptedAnswerer

ROOT = Path(__file__).parents[2]


def test_health_names_the_collections(site: Site) -> None:
    answer = httpx.get(f"{site.url}/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "collections": ["blog", "people"]}


def test_a_port_in_use_is_one_clear_line(free_port: int) -> None:
    with (
        socket.create_server(("127.0.0.1", free_port)),
        pytest.raises(FootnoteError, match=rf"127\.0\.0\.1:{free_port}.*in use.*--port") as caught,
    ):
        serve(ScriptedAnswerer(), Settings(port=free_port))
    assert "\n" not in str(caught.value)


def test_two_that_start_at_once_do_not_share_a_port(free_port: int) -> None:
    first, second = bind(Settings(port=free_port)), bind(Settings(port=free_port))
    with first, second:
        first.listen()
        with pytest.raises(FootnoteError, match="in use"):
            serve(ScriptedAnswerer(), Settings(port=free_port), listener=second)


@pytest.mark.parametrize(
    "settings",
    [Settings(host="no-such-host.invalid"), Settings(host="192.0.2.1"), Settings(host="a" * 300),
     Settings(port=70_000)],
)  # fmt: skip
def test_an_impossible_address_is_one_clear_line(settings: Settings) -> None:
    with pytest.raises(FootnoteError, match="can't use") as caught:
        bind(settings)
    assert "\n" not in str(caught.value)


def test_nothing_answers_before_it_serves(free_port: int) -> None:
    with bind(Settings(port=free_port)), pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", free_port), timeout=2)


SCRIPT = """
import sys
from rag.settings import Settings
from rag.web.server import serve
from tests.web.scripted import ScriptedAnswerer
serve(ScriptedAnswerer(), Settings(port=int(sys.argv[1])))
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_promptly_in_mid_answer_and_without_a_traceback(
    free_port: int, end: signal.Signals
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(free_port)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        url = f"http://127.0.0.1:{free_port}"
        until(lambda: answers(f"{url}/healthz"), 60)
        sent = httpx.post(f"{url}/gradio_api/call/ask", json={"data": ["a silent one"]})
        event = sent.json()["event_id"]
        with httpx.stream("GET", f"{url}/gradio_api/call/ask/{event}") as stream:
            next(stream.iter_lines())
            process.send_signal(end)
            _, errors = process.communicate(timeout=10)
    assert "Traceback" not in errors


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def test_the_page_may_load_nothing_from_elsewhere(site: Site) -> None:
    answer = httpx.get(f"{site.url}/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for path in STATIC.iterdir():
        # An XML namespace is a name, not an address.
        text = path.read_text().replace("http://www.w3.org/", "")
        assert not re.search(r"https?://\w", text), path


def test_its_own_addresses_are_relative() -> None:
    html = (STATIC / "index.html").read_text()
    for address in re.findall(r'(?:src|href)="([^"]+)"', html):
        assert not address.startswith("/")
        assert address.startswith("#") or (STATIC / address.removeprefix("page/")).exists()


@pytest.mark.parametrize("address", ["/", "/app/"])
def test_a_path_prefix_works_with_a_proxy_that_strips_it_and_one_that_does_not(
    tmp_path: Path, address: str
) -> None:
    site = Site(ScriptedAnswerer(), Settings(port=0, root_path="/app"))
    try:
        client = httpx.Client(base_url=site.url + address)
        assert client.get("").text.startswith("<!doctype html>")
        for path in ("healthz", "page/setup", "page/main.js", "config", "gradio_api/info"):
            assert client.get(path).status_code == 200, path
        sent = client.post("gradio_api/call/ask", json={"data": ["hello"]})
        event = sent.json()["event_id"]
        assert "Ask me about" in client.get(f"gradio_api/call/ask/{event}").text
    finally:
        site.stop()


def test_where_no_public_link_is_to_be_had_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    monkeypatch.setattr("gradio.networking.GRADIO_API_SERVER", "http://127.0.0.1:9/")
    with pytest.raises(FootnoteError, match=r"No public link .*start without --share") as error:
        serve(ScriptedAnswerer(), Settings(port=free_port), share=True)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("forwarded", [{}, {"X-Forwarded-Host": "demo.example"}])
def test_behind_an_https_front_addresses_are_https(
    site_with: Callable[..., Site], forwarded: dict[str, str]
) -> None:
    site = site_with(root_path="/app")
    headers = {"Host": "demo.example", "X-Forwarded-Proto": "https", **forwarded}
    config = httpx.get(f"{site.url}/config", headers=headers).json()
    assert config["root"] == "https://demo.example/app"


def test_uploads_are_refused(site: Site) -> None:
    answer = httpx.post(f"{site.url}/gradio_api/upload", files={"files": ("a.txt", b"text" * 100)})
    assert answer.status_code >= 400


def test_a_formula_is_converted_or_refused(site: Site) -> None:
    address = f"{site.url}/page/formula"
    assert httpx.get(address, params={"latex": r"\frac{a}{b}"}).json()[0] == "math"
    assert httpx.get(address, params={"latex": r"\frac{"}).status_code == 422
