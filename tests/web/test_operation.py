"""What an operator sees: figures, logs, bounded memory, and an end that tells the readers."""

from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client

from rag import logs
from rag.settings import Settings
from rag.types import FootnoteError
from rag.web import upkeep
from tests.web.conftest import Site, answer_of, call, until

ROOT = Path(__file__).parents[2]


def figures(site: Site) -> dict[str, float]:
    text = httpx.get(f"{site.url}/metrics").text
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def test_metrics_count_questions_outcomes_stages_queue_and_memory(site: Site) -> None:
    for question in ("Why int8?", "pizza", "hello", "explode"):
        answer_of(site, call(site, question))
    answer_of(site, call(site, "x", 'evil"} 1\n'))
    httpx.get(f"{site.url}/file=/etc/passwd")
    found = figures(site)
    for outcome in ("answered", "refused", "greeting", "error"):
        assert found[f'footnote_questions_total{{collection="blog",outcome="{outcome}"}}'] == 1
    assert found['footnote_questions_total{collection="other",outcome="error"}'] == 1
    assert found['footnote_stage_seconds_count{stage="queue"}'] == 5
    assert found['footnote_stage_seconds_sum{stage="total"}'] > 1
    assert found['footnote_turned_away_total{reason="path"}'] == 1
    assert found["footnote_waiting"] == 0
    assert found["process_resident_memory_bytes"] > 10_000_000


def test_metrics_are_in_prometheus_text_format(site: Site) -> None:
    answer = httpx.get(f"{site.url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert "# TYPE footnote_questions_total counter" in answer.text


def test_who_waits_and_who_is_answered_show(site: Site) -> None:
    call(site, "a silent one")
    until(lambda: site.answerer.running == 1)
    call(site, "waiting")
    until(lambda: figures(site)["footnote_waiting"] == 1)
    assert figures(site)["footnote_running"] == 1


def logged(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [record for record in caplog.records if getattr(record, "event", "") == "question"]


def test_a_question_is_one_log_line_with_its_request_and_without_its_text(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(logs._add_request)
    answer_of(site, call(site, "Why int8 xyzzy?", headers={"X-Request-ID": "given-id"}))
    answer_of(site, call(site, "explode xyzzy"))
    first, second = logged(caplog)
    assert (first.request_id, first.outcome, first.collection) == ("given-id", "answered", "blog")
    assert first.total_ms == 1800
    assert (len(second.request_id), second.outcome) == (16, "error")
    assert "xyzzy" not in caplog.text
    assert "xyzzy" not in str([vars(record) for record in caplog.records])
    assert "scripted fault" in caplog.text


def test_a_setting_logs_the_question(
    site_with: Callable[..., Site], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    site = site_with(log_questions=True)
    answer_of(site, call(site, "hello"))
    assert logged(caplog)[0].question == "hello"


def test_a_reader_who_left_is_logged_as_that(
    site: Site, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    job = client.submit("a silent one", api_name="/ask")
    until(lambda: site.answerer.running == 1)
    job.cancel()
    until(lambda: logged(caplog))
    assert logged(caplog)[0].outcome == "left"


@pytest.fixture
def client(site: Site, tmp_path: Path) -> Client:
    return Client(site.url, verbose=False, download_files=tmp_path)


LOGGING = """
import logging, sys
from rag import logs
logs.set_up(sys.argv[1])
logs.request_id.set("abc")
logging.getLogger("rag.test").info("It's\\nready", extra={"event": "start", "n": 3})
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("rag.test").exception("broke")
"""


def test_json_logs_are_one_object_a_line_tracebacks_too() -> None:
    command = [sys.executable, "-c", LOGGING, "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    first, second = map(json.loads, done.stderr.splitlines())
    assert first["message"] == "It's\nready"
    assert (first["level"], first["request_id"], first["n"]) == ("INFO", "abc", 3)
    assert re.match(r"\d{4}-\d\d-\d\d", first["time"])
    assert "ZeroDivisionError" in second["exc_info"]


def test_text_logs_name_the_request() -> None:
    command = [sys.executable, "-c", LOGGING, "text"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ready [abc]" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("RAG_LOG_FORMAT", "xml"), ("RAG_LOG_QUESTIONS", "maybe"), ("RAG_QUESTIONS_PER_MINUTE", "-1"),
     ("RAG_MAX_WAITING", "0"), ("RAG_PROXY_HOPS", "x"), ("RAG_MAX_REQUEST_BYTES", "1"),
     ("RAG_CLIENT_HEADER", "X Forwarded")],
)  # fmt: skip
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(FootnoteError, match=name):
        Settings.from_environment({name: value})


def test_what_gradio_remembers_is_bounded(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "KEEP_MOST", 10)
    for number in range(60):  # half of them never fetch their answer
        sent = call(site, "hello")
        if number % 2:
            answer_of(site, sent)
    until(lambda: len(site.answerer.finished) == 60, 30)
    answer_of(site, call(site, "hello"))
    queue = site.app.state.blocks._queue
    app = queue.server_app
    kept = {
        "events": queue.event_ids_to_events, "analytics": queue.event_analytics,
        "tasks": queue._asyncio_tasks, "sessions": queue.pending_event_ids_session,
        "messages": queue.pending_messages_per_session, "states": app.state_holder.session_data,
        "times": app.state_holder.time_last_used, "resets": app.iterators_to_reset,
        "diffs": site.app.state.blocks.pending_diff_streams, "iterators": app.iterators,
    }  # fmt: skip
    sizes = {name: len(of) for name, of in kept.items()}
    assert max(sizes.values()) <= 13, sizes


def test_who_only_listens_leaves_nothing_behind(site: Site) -> None:
    answer_of(site, call(site, "hello"))
    queue = site.app.state.blocks._queue

    def kept() -> tuple[int, int]:
        holder = queue.server_app.state_holder
        return len(holder.session_data), len(queue.pending_messages_per_session)

    before, threads = kept(), threading.active_count()
    for number in range(50):
        address = f"{site.url}/gradio_api/heartbeat/listener{number}"
        with httpx.stream("GET", address) as stream:
            next(stream.iter_lines())
    answer_of(site, call(site, "hello"))
    assert all(now <= then + 1 for now, then in zip(kept(), before, strict=True))
    assert threading.active_count() <= threads + 5


def test_an_answer_is_kept_until_it_is_fetched(site: Site) -> None:
    early = call(site, "Why int8?")
    until(lambda: len(site.answerer.finished) == 1)
    for _ in range(5):
        answer_of(site, call(site, "hello"))
    assert answer_of(site, early)["outcome"] == "answered"


def test_a_log_on_a_full_disk_keeps_no_answer_back(free_port: int) -> None:
    url = f"http://127.0.0.1:{free_port}"
    with Path("/dev/full").open("w") as full, subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(free_port), "0.01"], cwd=ROOT, stdout=full, stderr=full
    ) as process:  # fmt: skip
        try:
            until(lambda: listens(url), 60)
            for question, outcome in (("explode", "error"), ("Why int8?", "answered")):
                sent = httpx.post(f"{url}/gradio_api/call/ask", json={"data": [question]}).json()
                stream = httpx.get(f"{url}/gradio_api/call/ask/{sent['event_id']}", timeout=30)
                last = json.loads(stream.text.splitlines()[-2].removeprefix("data: "))[0]
                assert last["outcome"] == outcome
        finally:
            process.terminate()


SCRIPT = """
import sys
from rag.settings import Settings
from rag.web.server import serve
from tests.web.scripted import ScriptedAnswerer
serve(ScriptedAnswerer(float(sys.argv[2])), Settings(port=int(sys.argv[1])))
"""


def ask_and_end(port: int, pace: str, questions: list[str]) -> tuple[list[Any], float, str]:
    """Asks at once, sends SIGTERM in mid-answer; the last objects, seconds to the end, stderr."""
    command = [sys.executable, "-c", SCRIPT, str(port), pace]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: listens(url), 60)
            last: list[Any] = [None] * len(questions)
            first = threading.Event()

            def reader(number: int) -> None:
                sent = httpx.post(
                    f"{url}/gradio_api/call/ask", json={"data": [questions[number]]}
                ).json()
                address = f"{url}/gradio_api/call/ask/{sent['event_id']}"
                with httpx.stream("GET", address, timeout=30) as stream:
                    for line in stream.iter_lines():
                        if line.startswith("data: [{"):
                            last[number] = json.loads(line.removeprefix("data: "))[0]
                            if last[number]["stage"] == "writing" or "silent" in questions[number]:
                                first.set()

            threads = [threading.Thread(target=reader, args=(n,)) for n in range(len(questions))]
            for thread in threads:
                thread.start()
                time.sleep(0.3)
            assert first.wait(30)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=20)
            seconds = time.monotonic() - began
            for thread in threads:
                thread.join(10)
            return last, seconds, errors
        finally:
            process.kill()


def listens(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_a_term_signal_lets_an_answer_end_and_tells_who_waits(free_port: int) -> None:
    questions = ["How is the gate calibrated?", "Why int8?"]
    (first, second), seconds, errors = ask_and_end(free_port, "0.05", questions)
    assert (first["stage"], first["outcome"]) == ("done", "answered")
    assert second["answer"] == "This server is being restarted. Ask again in a moment."
    assert seconds < 10
    assert "Traceback" not in errors


def test_a_term_signal_keeps_what_was_written_and_says_that_it_was_cut(free_port: int) -> None:
    (only,), seconds, errors = ask_and_end(free_port, "0.1", ["a long answer"])
    assert (only["stage"], only["outcome"], only["draft"]) == ("done", "answered", "")
    assert only["citations"]
    assert only["answer"].endswith("This server is being restarted. Ask again in a moment.")
    assert seconds < 10
    assert "Traceback" not in errors


def test_a_term_signal_cuts_an_answer_that_does_not_end_and_says_so(free_port: int) -> None:
    (only,), seconds, errors = ask_and_end(free_port, "0.05", ["a silent one"])
    assert (only["stage"], only["outcome"]) == ("done", "error")
    assert "being restarted" in only["answer"]
    assert seconds < 10
    assert "Traceback" not in errors
