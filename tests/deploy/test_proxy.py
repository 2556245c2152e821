"""The documented nginx block, run by nginx: the page, its assets, health and an answer's stream."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rag.settings import Settings
from tests.web.conftest import Site, free_port, until
from tests.web.scripted import ScriptedAnswerer

__all__ = ["free_port"]
DOCS = (Path(__file__).parents[2] / "docs/deploy.md").read_text("utf-8")
pytestmark = pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")


@pytest.fixture(params=["left", "stripped"])
def proxy(request: pytest.FixtureRequest, tmp_path: Path, free_port: int) -> Iterator[str]:
    """The app's address behind nginx, which leaves the path or strips it."""
    site = Site(ScriptedAnswerer(), Settings(port=0, root_path="/footnote"))
    found = re.search(r"```nginx\n(.*?)```", DOCS, re.DOTALL)
    assert found
    to = site.url + ("/" if request.param == "stripped" else "")
    block = found[1].replace("http://127.0.0.1:7860", to)
    (tmp_path / "nginx.conf").write_text(
        f"""daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}
        http {{ access_log off; client_body_temp_path {tmp_path}/body; proxy_temp_path {tmp_path}/proxy;
        fastcgi_temp_path {tmp_path}/f; uwsgi_temp_path {tmp_path}/u; scgi_temp_path {tmp_path}/s;
        server {{ listen 127.0.0.1:{free_port}; {block} }} }}"""
    )
    nginx = subprocess.Popen(["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")])
    address = f"http://127.0.0.1:{free_port}/footnote/"
    try:
        until(lambda: nginx.poll() is not None or _answers(address))
        yield address
    finally:
        nginx.terminate()
        nginx.wait(10)
        site.stop()


def test_the_page_its_assets_and_an_answer_come_through(proxy: str) -> None:
    client = httpx.Client(base_url=proxy)
    page = client.get("").text
    for asset in re.findall(r'(?:src|href)="([^"#]+)"', page):
        assert client.get(asset).status_code == 200, asset
    assert client.get("healthz").json()["status"] == "ready"
    event = client.post("gradio_api/call/ask", json={"data": ["hello"]}).json()["event_id"]
    assert "Ask me about" in client.get(f"gradio_api/call/ask/{event}").text


def test_an_answer_streams_through(proxy: str) -> None:
    client = httpx.Client(base_url=proxy, timeout=30)
    sent = client.post("gradio_api/call/ask", json={"data": ["What is an ONNX graph?"]})
    chunks: list[bytes] = []
    with client.stream("GET", f"gradio_api/call/ask/{sent.json()['event_id']}") as stream:
        chunks.extend(stream.iter_raw())
    assert len(chunks) > 2  # not held back until the end


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}healthz").is_success
    except httpx.HTTPError:
        return False
