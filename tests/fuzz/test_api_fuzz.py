"""The API under random calls: a sentence or an answer object each time, and the server lives on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pydantic_core
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.settings import Settings
from rag.types import Turn
from rag.web.calls import BadCall, Endpoint, read_call
from rag.web.formula import formula_tree
from rag.web.history import read_history
from rag.web.limits import client_of
from tests.fuzz.shapes import CALLS, HISTORIES, JSON, TEXTS
from tests.schema import faults
from tests.web.conftest import Site
from tests.web.scripted import ScriptedAnswerer

ASK = Endpoint("ask", ("question", "collection", "history"))
ENDPOINTS = {0: ASK, 1: Endpoint("collections", ())}
PATHS = st.sampled_from(
    ["call/ask", "call/v2/ask", "call/collections", "queue/join", "cancel", "reset", "upload",
     "run/ask", "component_server", "call/v2/collections", "call/x", "stream/x"]
)  # fmt: skip
BODIES = st.one_of(CALLS.map(lambda value: json.dumps(value).encode()), st.binary(max_size=200))
HEADERS = st.dictionaries(
    st.sampled_from(["X-Forwarded-For", "X-Forwarded-Host", "X-Gradio-Server", "X-Request-ID",
                     "Accept-Language", "Content-Type", "Host", "Cookie", "Range", "Origin"]),
    st.one_of(
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
        st.sampled_from(["a b", "<script>", "127.0.0.1", "es-ES", "bytes=0-", "null", "[::1]:80"]),
    ),
    max_size=3,
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    answerer = ScriptedAnswerer(pace=0)
    thumbs = tmp_path_factory.mktemp("fuzz") / "thumbs.jsonl"
    site = Site(answerer, Settings(port=0, max_waiting=10_000, feedback_file=thumbs))
    yield site
    site.stop()


@pytest.fixture(scope="module")
def http(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=30) as client:
        yield client
        assert client.get("/healthz").status_code in (200, 503)
        assert client.post("/gradio_api/call/ask", json={"data": ["hello"]}).status_code == 200


def judged(response: httpx.Response) -> httpx.Response:
    assert response.status_code < 500, (response.status_code, response.text)
    assert "Traceback" not in response.text
    return response


@given(path=PATHS, body=BODIES, headers=HEADERS)
@example(path="call/ask", body=b'{"data": ["\\ud800", null, [{"role": "user"}]]}', headers={})
def test_any_call_is_an_answer_or_a_sentence(
    http: httpx.Client, path: str, body: bytes, headers: dict[str, str]
) -> None:
    sent = judged(http.post(f"/gradio_api/{path}", content=body, headers=headers))
    if sent.status_code != 200 or not path.startswith("call/") or "ask" not in path:
        return
    stream = judged(http.get(f"/gradio_api/call/ask/{sent.json()['event_id']}"))
    lines = stream.text.splitlines()
    assert lines[-3] == "event: complete", lines
    answer = json.loads(lines[-2].removeprefix("data: "))[0]
    assert [w for w in faults(answer, {}) if "verbatim" not in w and "marks" not in w] == []


THUMBS = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {"verdict": st.one_of(st.sampled_from(["up", "down"]), JSON), "question": TEXTS,
         "answer": TEXTS, "collection": st.one_of(TEXTS, JSON)},
        optional={"comment": st.one_of(TEXTS, JSON)},
    ),
)  # fmt: skip


@given(body=st.one_of(THUMBS.map(lambda value: json.dumps(value).encode()), BODIES),
       headers=HEADERS)  # fmt: skip
def test_any_thumb_is_kept_whole_or_refused(
    site: Site, http: httpx.Client, body: bytes, headers: dict[str, str]
) -> None:
    kept = site.settings.feedback_file
    assert kept
    kept.write_bytes(b"")
    sent = judged(http.post("/page/feedback", content=body, headers=headers))
    if sent.status_code == 204:
        assert json.loads(kept.read_bytes())["verdict"] in ("up", "down")
    else:
        assert isinstance(sent.json()["detail"], str)
        assert kept.read_bytes() == b""


@given(path=st.one_of(TEXTS, st.sampled_from(["page/", "source/0/", "gradio_api/", ""])),
       more=TEXTS, query=st.dictionaries(st.sampled_from(["q", "collection", "latex", "display",
       "session_hash"]), TEXTS, max_size=3), headers=HEADERS)  # fmt: skip
def test_any_address_is_a_page_or_not_found(
    http: httpx.Client, path: str, more: str, query: dict[str, str], headers: dict[str, str]
) -> None:
    address = f"/{path}{more}".encode("utf-8", "replace").decode()
    params = {key: value.encode("utf-8", "replace").decode() for key, value in query.items()}
    try:
        response = http.get(address, params=params, headers=headers, follow_redirects=False)
    except httpx.InvalidURL:
        return
    judged(response)
    assert "root:x:" not in response.text


@given(path=PATHS, body=BODIES)
def test_gradio_only_sees_what_was_written_for_it(path: str, body: bytes) -> None:
    try:
        call = read_call(f"/gradio_api/{path}", body, ENDPOINTS)
    except BadCall:
        return
    json.dumps(call.body).encode("utf-8")
    assert len(call.body.get("data", [])) <= 3
    if call.endpoint != ASK:
        return
    data = call.body.get("data") or [call.body.get(key) for key in ("question", "collection")]
    assert all(not isinstance(value, dict | list) for value in data[:2])
    history = data[2] if len(data) > 2 else call.body.get("history", [])
    for message in history:
        assert set(message) == {"role", "content"}
        assert isinstance(message["content"], str)


@given(value=HISTORIES)
def test_any_history_is_read_to_turns(value: Any) -> None:
    for turn in read_history(value):
        assert isinstance(turn, Turn)
        assert turn.role in ("user", "assistant")
        assert turn.content


@given(hops=st.integers(1, 3), value=st.one_of(TEXTS, st.just("1.2.3.4, 5.6.7.8")))
def test_any_forwarding_header_names_a_client(hops: int, value: str) -> None:
    scope = {
        "client": ("127.0.0.1", 1),
        "headers": [(b"x-forwarded-for", value.encode("utf-8", "replace"))],
    }
    assert client_of(scope, "X-Forwarded-For", hops)


LATEX = st.lists(
    st.one_of(
        st.sampled_from(r"\frac \sqrt \begin{matrix} \end{matrix} { } ^ _ & \\ \left( \right) "
                        r"\text{<b>} \color{red} \href{javascript:x}{y} \sum \int x 1 + \mathbb R "
                        r"\begin \end \left \right $ % # ~ \limits \over \binom".split()),
        TEXTS,
    ),
    max_size=12,
).map(" ".join)  # fmt: skip


@st.composite
def nested(draw: st.DrawFn) -> str:
    """Something in itself, often."""
    shell = draw(
        st.sampled_from(["{%s}", r"\sqrt{%s}", "x^{%s}", r"\left(%s\right)", r"\text{%s}"])
    )
    latex = draw(LATEX)
    for _ in range(draw(st.integers(1, 300))):
        latex = shell.replace("%s", latex)
    return latex


@given(latex=st.one_of(LATEX, nested()), display=st.booleans())
def test_any_formula_is_a_tree_of_known_elements_or_nothing(latex: str, display: bool) -> None:
    asked = latex.encode("utf-8", "replace").decode()  # as a query string brings it
    tree = formula_tree(asked, display=display)
    pydantic_core.to_json(tree)  # as it is sent
    assert tree is None or tree[0] == "math"
    assert "javascript:" not in json.dumps(attributes(tree))


def attributes(node: Any) -> list[Any]:
    """Every attribute of a tree."""
    if not isinstance(node, list):
        return []
    return [node[1], *(one for child in node[2] for one in attributes(child))]


@given(value=JSON)
def test_a_question_of_any_shape_is_asked_as_text_or_not_at_all(value: Any) -> None:
    body = json.dumps({"data": [value]}).encode()
    question = read_call("/gradio_api/call/ask", body, ENDPOINTS).body["data"][0]
    if isinstance(value, str):
        assert question.encode() == value.encode("utf-8", "replace")
    else:
        assert not isinstance(question, str)
