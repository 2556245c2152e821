"""The API as programs use it: Gradio's client, and plain HTTP."""

from __future__ import annotations

import json
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client

from rag.types import Turn
from tests.web.conftest import Site, until


@pytest.fixture
def client(site: Site, tmp_path: Path) -> Client:
    return Client(site.url, verbose=False, download_files=tmp_path)


def test_a_question_alone_is_enough(site: Site, client: Client) -> None:
    answer = client.predict("Why int8?", api_name="/ask")
    assert answer["outcome"] == "answered"
    assert answer["stage"] == "done"
    assert answer["citations"][0]["n"] == 2
    assert site.answerer.asked == [("Why int8?", None, ())]


def test_collection_and_history_arrive(site: Site, client: Client) -> None:
    history = [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}], "metadata": None},
        {"role": "assistant", "content": "So."},
    ]
    client.predict("hello", "people", history, api_name="/ask")
    turns = (Turn("user", "Why?"), Turn("assistant", "So."))
    assert site.answerer.asked == [("hello", "people", turns)]


def test_partial_answers_stream_and_grow(client: Client) -> None:
    partials = list(client.submit("How is the gate calibrated?", api_name="/ask"))
    stages = list(dict.fromkeys(partial["stage"] for partial in partials))
    assert stages == ["searching", "reading", "writing", "done"]
    texts = [partial["answer"] for partial in partials]
    assert all(b.startswith(a) for a, b in pairwise(texts))
    assert len(set(texts)) > 5


def test_collections_say_what_can_be_asked(client: Client) -> None:
    blog, people = client.predict(api_name="/collections")
    assert (blog["name"], people["name"]) == ("blog", "people")
    assert blog["suggestions"]["es"][0] == "¿De qué trata este blog?"


@pytest.mark.parametrize(
    "arguments",
    [(None,), (5,), ("",), (" \n",), ([],), ({"a": 1},), ("x", 7), ("x", ["blog"]), ("x", "nope")],
)
def test_wrong_arguments_get_a_sentence(client: Client, arguments: tuple[Any, ...]) -> None:
    answer = client.predict(*arguments, api_name="/ask")
    assert answer["outcome"] == "error"
    assert answer["answer"].endswith(".")


@pytest.mark.parametrize("history", ["text", 7, {"a": 1}, [1, None, {"role": 3}], [[["x"]]]])
def test_a_wrong_history_is_ignored(client: Client, history: Any) -> None:
    assert client.predict("hello", None, history, api_name="/ask")["outcome"] == "greeting"


def test_a_fault_is_a_sentence_and_the_next_question_works(client: Client) -> None:
    broken = client.predict("explode", api_name="/ask")
    assert broken["outcome"] == "error"
    assert "scripted" not in broken["answer"]
    assert client.predict("hello", api_name="/ask")["outcome"] == "greeting"


@pytest.mark.parametrize(
    ("path", "body"),
    [("call/ask", {"data": ["hello"]}), ("call/ask", {"data": ["hello", None, None]}),
     ("call/v2/ask", {"question": "hello"}), ("call/v2/ask", {"question": "hello", "history": []})],
)  # fmt: skip
def test_plain_http_works_with_the_question_alone(site: Site, path: str, body: dict) -> None:
    event = httpx.post(f"{site.url}/gradio_api/{path}", json=body).json()["event_id"]
    lines = httpx.get(f"{site.url}/gradio_api/call/ask/{event}").text.splitlines()
    assert lines[-3] == "event: complete"
    assert json.loads(lines[-2].removeprefix("data: "))[0]["outcome"] == "greeting"


@pytest.mark.parametrize("question", ["a very long answer", "a silent one"])
def test_a_client_that_leaves_ends_the_work(site: Site, question: str) -> None:
    sent = httpx.post(f"{site.url}/gradio_api/call/ask", json={"data": [question]})
    event = sent.json()["event_id"]
    with httpx.stream("GET", f"{site.url}/gradio_api/call/ask/{event}") as stream:
        for line in stream.iter_lines():
            if "reading" in line:
                break
    left = time.monotonic()
    until(lambda: site.answerer.stopped == [question])
    assert time.monotonic() - left < 2
    assert site.answerer.finished == []


@pytest.mark.parametrize("question", ["a very long answer", "a silent one"])
def test_a_cancelled_job_ends_the_work(site: Site, client: Client, question: str) -> None:
    job = client.submit(question, api_name="/ask")
    until(lambda: site.answerer.running == 1)
    job.cancel()
    until(lambda: site.answerer.stopped == [question])
    assert client.predict("hello", api_name="/ask")["outcome"] == "greeting"


def test_readers_take_turns_in_the_order_of_their_coming(site: Site) -> None:
    answers: dict[int, dict] = {}

    def reader(number: int) -> None:
        client = Client(site.url, verbose=False)
        answers[number] = client.predict(f"question {number}", api_name="/ask")

    threads = []
    for number in range(4):
        threads.append(threading.Thread(target=reader, args=(number,)))
        threads[-1].start()
        time.sleep(0.5)
    for thread in threads:
        thread.join(60)
    assert [question for question, _, _ in site.answerer.asked] == [
        f"question {number}" for number in range(4)
    ]
    assert site.answerer.most_running == 1
    assert all(answers[n]["question"] == f"question {n}" for n in range(4))


def test_one_who_leaves_the_queue_is_never_asked(site: Site, client: Client) -> None:
    first = client.submit("a silent one", api_name="/ask")
    until(lambda: site.answerer.running == 1)
    waiting = Client(site.url, verbose=False).submit("waiting", api_name="/ask")
    time.sleep(0.5)
    waiting.cancel()
    first.cancel()
    until(lambda: site.answerer.running == 0)
    client.predict("hello", api_name="/ask")
    assert [question for question, _, _ in site.answerer.asked] == ["a silent one", "hello"]
