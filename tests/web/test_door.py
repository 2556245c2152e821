"""Whatever a stranger sends, the answer is a sentence or nothing, never a file or a traceback."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rag.settings import Settings
from rag.types import Turn
from tests.ingest.server import serving
from tests.web.conftest import Site, answer_of, call
from tests.web.scripted import ScriptedAnswerer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all: nothing that is sent here may change it."""
    feedback = tmp_path_factory.mktemp("feedback") / "feedback.jsonl"
    site = Site(ScriptedAnswerer(), Settings(port=0, feedback_file=feedback))
    yield site
    site.stop()


@pytest.fixture
def site(server: Site) -> Site:
    server.answerer.asked.clear()
    return server


@pytest.mark.parametrize(
    "path",
    [
        "/file=/etc/passwd", "/gradio_api/file=/etc/passwd", "/gradio_api/file=app.py",
        "/gradio_api/file=../../etc/passwd", "/gradio_api/file=%2e%2e/%2e%2e/etc/passwd",
        "/gradio_api/file/etc/passwd", "/gradio_api/file=http://127.0.0.1:22/",
        "/gradio_api/proxy=http://127.0.0.1/", "/static/../../etc/passwd", "/static/img/logo.svg",
        "/assets/..%2f..%2fetc/passwd", "/gradio_api/custom_component/x/client/component/y.js",
        "/svelte/..%2f..%2fx", "/monitoring", "/gradio_api/vibe-code", "/gradio_api/deep_link",
        "/gradio_api/stream/a/b/c/playlist.m3u8", "/page/../../app.py", "/page/..%2fserver.py",
        "/source/0/..%2f..%2f..%2fapp.py", "/source/0/%00", "/source/99/x", "/source/-1/x",
        "/gradio_api/upload_progress?upload_id=x", "/docs", "/openapi.json", "/%ff%fe", "/a" * 2000,
    ],
)  # fmt: skip
def test_no_file_and_no_inner_page_is_handed_out(site: Site, path: str) -> None:
    answer = httpx.get(f"{site.url}{path}")
    assert answer.status_code in (400, 404, 405, 422)
    assert "root:" not in answer.text
    assert "Traceback" not in answer.text
    assert "import " not in answer.text


@pytest.mark.parametrize(
    "path",
    ["run/ask", "api/ask", "upload", "component_server", "process_recording", "vibe-edit",
     "vibe-code", "stream/x", "call/nothing", "call/v2/nothing", "queue/join/x"],
)  # fmt: skip
def test_what_skips_the_queue_or_writes_is_shut(site: Site, path: str) -> None:
    answer = httpx.post(f"{site.url}/gradio_api/{path}", json={"data": ["hello"]})
    assert answer.status_code == 404
    assert site.answerer.asked == []


BODIES: list[tuple[str, Any]] = [
    ("queue/join", {"data": ["x"], "fn_index": 99, "session_hash": "a"}),
    ("queue/join", {"data": ["x"], "fn_index": -1, "session_hash": "a"}),
    ("queue/join", {"data": ["x"], "fn_index": True, "session_hash": "a"}),
    ("queue/join", {"data": ["x"], "fn_index": 0}),
    ("queue/join", {"data": ["x"], "fn_index": 0, "session_hash": "a" * 500}),
    ("queue/join", {"data": ["x"], "fn_index": 0, "session_hash": {}}),
    ("queue/join", {"data": {"0": "x"}, "fn_index": 0, "session_hash": "a"}),
    ("queue/join", {"data": [1, 2, 3, 4], "fn_index": 0, "session_hash": "a"}),
    ("call/ask", {"data": []}), ("call/ask", {"data": None}), ("call/ask", []),
    ("call/ask", None), ("call/ask", "x"), ("call/v2/ask", {}), ("call/v2/ask", {"q": 1}),
    ("call/v2/ask", {"question": "x", "more": 1}), ("call/collections", {"data": [1]}),
    ("cancel", {"session_hash": "a", "fn_index": 77, "event_id": "x"}), ("cancel", {}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_a_body_of_another_shape_is_a_sentence(
    site: Site, caplog: pytest.LogCaptureFixture, path: str, body: Any
) -> None:
    answer = httpx.post(f"{site.url}/gradio_api/{path}", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("This request can't be read.")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 200_000, b'{"data":' * 100_000, b"NaN",
     b'{"data": ' + b"9" * 5000 + b"}", b'{"data": ["x"]}\x00'],
)  # fmt: skip
def test_a_body_that_is_no_json_is_a_sentence(site: Site, body: bytes) -> None:
    assert httpx.post(f"{site.url}/gradio_api/call/ask", content=body).status_code == 422


@pytest.mark.parametrize(
    "question", [{"path": "/etc/passwd"}, [["x"]], True, 7, 1e999, None, "", " ", "\u2028"]
)
def test_a_question_that_is_none_is_a_sentence(site: Site, question: Any) -> None:
    body = json.dumps({"data": [question]})
    answer = answer_of(site, httpx.post(f"{site.url}/gradio_api/call/ask", content=body))
    assert answer["outcome"] == "error"
    assert answer["answer"].startswith("There was no question")


def test_half_a_surrogate_pair_and_odd_characters_are_text(site: Site) -> None:
    body = b'{"data": ["hello \\ud800 \\u0000 \\u202e", null, [["\\udfff", "x"]]]}'
    answer = answer_of(site, httpx.post(f"{site.url}/gradio_api/call/ask", content=body))
    assert answer["question"] == "hello ? \0 \u202e"
    assert site.answerer.asked[0][2] == (Turn("user", "?"), Turn("assistant", "x"))


def test_what_looks_like_a_file_is_neither_fetched_nor_opened(site: Site) -> None:
    with serving() as other:
        file = {
            "path": f"{other.url}/x", "url": f"{other.url}/x", "orig_name": "x",
            "meta": {"_type": "gradio.FileData"},
        }  # fmt: skip
        history = [{"role": "user", "content": [file, {"type": "text", "text": "Why?"}]}, file]
        answer = answer_of(site, call(site, "hello", None, history))
        assert answer["outcome"] == "greeting"
        assert answer_of(site, call(site, file))["outcome"] == "error"
        assert answer_of(site, call(site, "hello", file))["outcome"] == "error"
        assert other.seen == []


def raw(site: Site, text: bytes) -> bytes:
    """What the server says to bytes as they are."""
    with socket.create_connection(("127.0.0.1", site.settings.port), timeout=10) as connection:
        connection.sendall(text)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "headers",
    [
        b"Host: a b\r\n", b"Host: <script>\r\n", b"Host: \xff\r\n", b"Host: x:999999\r\n",
        b"Host: x\r\nX-Forwarded-Host: a b<script>\r\n", b"Host: x\r\nX-Gradio-Server: ://\r\n",
        b"Host: x\r\nX-Forwarded-Host: \r\n", b"Host: x\r\nCookie: " + b"x=" * 8000 + b"\r\n",
        b"Host: x\r\nAccept-Language: " + b"\xff" * 100 + b"\r\n",
        b"Host: x\r\nContent-Length: -5\r\n", b"Host: x\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\n", b"Host: x\r\nTransfer-Encoding: nonsense\r\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", [b"/", b"/config", b"/gradio_api/info", b"/healthz"])
def test_headers_of_any_kind_break_nothing(site: Site, headers: bytes, path: bytes) -> None:
    answer = raw(site, b"GET " + path + b" HTTP/1.1\r\n" + headers + b"Connection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 ")
    assert not answer.startswith(b"HTTP/1.1 5")
    assert b"Traceback" not in answer


def test_a_forwarded_host_that_is_none_breaks_no_answer(site: Site) -> None:
    headers = {"X-Forwarded-Host": "a b<script>", "X-Gradio-Server": "://"}
    assert answer_of(site, call(site, "hello", headers=headers))["outcome"] == "greeting"


@pytest.mark.parametrize("query", ["?q=" + "x" * 5000, "?q=%ff%00", "?collection[]=x&q&q&=", "?%"])
def test_query_strings_of_any_kind_give_the_page(site: Site, query: str) -> None:
    assert httpx.get(f"{site.url}/{query}").status_code == 200


def test_a_stream_that_nobody_opened_is_not_found(site: Site) -> None:
    for path in ("call/ask/abc", "queue/data?session_hash=abc", "queue/data"):
        assert httpx.get(f"{site.url}/gradio_api/{path}").status_code == 404


def test_every_answer_carries_its_request_id_and_a_proxys_is_kept(site: Site) -> None:
    made = httpx.get(f"{site.url}/healthz").headers["x-request-id"]
    assert len(made) == 16
    for given, kept in (("abc-1.2", True), ("a b", False), ("x" * 100, False), ("<i>", False)):
        answer = httpx.get(f"{site.url}/nothing", headers={"X-Request-ID": given})
        assert (answer.headers["x-request-id"] == given) is kept


def test_a_fault_of_ours_is_a_sentence_with_the_logs_word_for_it(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(site.answerer, "collections", broken)
    answer = httpx.get(f"{site.url}/page/setup")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_feedback_to_a_full_disk_is_a_sentence(site: Site) -> None:
    file = site.settings.feedback_file
    assert file
    file.unlink()
    file.symlink_to("/dev/full")
    thumb = {"verdict": "up", "question": "q", "answer": "a", "collection": "blog"}
    answer = httpx.post(f"{site.url}/page/feedback", json=thumb)
    assert answer.status_code == 507
    assert "disk may be full" in answer.json()["detail"]
