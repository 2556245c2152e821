"""Thumbs are kept in the file that a setting names, and nowhere without one."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from rag.settings import Settings
from rag.types import FootnoteError
from rag.web.server import create_app
from tests.web.conftest import Site
from tests.web.scripted import ScriptedAnswerer

THUMB = {"verdict": "up", "comment": "clear\nindeed", "question": "¿Qué?", "answer": "Eso. [1]",
         "collection": "blog"}  # fmt: skip


def test_each_thumb_is_a_line(site: Site) -> None:
    path = site.settings.feedback_file
    assert path is not None
    for verdict in ("up", "down"):
        sent = httpx.post(f"{site.url}/page/feedback", json={**THUMB, "verdict": verdict})
        assert sent.status_code == 204
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["verdict"] for record in records] == ["up", "down"]
    assert records[0]["comment"] == "clear\nindeed"
    assert records[0]["question"] == "¿Qué?"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {**THUMB, "verdict": "sideways"},
        {**THUMB, "comment": "x" * 3000},
        {**THUMB, "answer": 3},
    ],
)
def test_what_is_no_thumb_is_not_kept(site: Site, wrong: dict) -> None:
    assert httpx.post(f"{site.url}/page/feedback", json=wrong).status_code == 422
    assert site.settings.feedback_file is not None
    assert site.settings.feedback_file.read_text() == ""


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "x"])
@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"[" * 100_000, b'{"verdict": NaN}', b'{"verdict": 1e999}', b'{"\\ud800": 1}',
     b'{"verdict": "up", "question": "secret \\ud800", "answer": "a", "collection": "b"}',
     b'{"verdict": ' + b"9" * 5000 + b"}", b'{"verdict": ' + b"[" * 900 + b"]" * 900 + b"}"],
)  # fmt: skip
def test_a_thumb_that_cannot_be_read_is_a_sentence_and_not_repeated(
    site: Site, caplog: pytest.LogCaptureFixture, body: bytes, kind: str
) -> None:
    headers = {"Content-Type": kind}
    answer = httpx.post(f"{site.url}/page/feedback", content=body, headers=headers)
    assert answer.status_code in (400, 422), answer.text
    assert isinstance(answer.json()["detail"], str)
    assert "secret" not in answer.text + caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


FILLING = """
import resource, sys
from pathlib import Path
from rag.web.feedback import Feedback, save_feedback
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
thumb = Feedback(verdict="up", question="x" * 50, answer="a", collection="blog")
for _ in range(9):
    save_feedback(Path(sys.argv[1]), thumb)
"""


def test_a_disk_that_fills_up_keeps_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    command = [sys.executable, "-c", FILLING, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert "OSError" in done.stderr
    lines = path.read_text().splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["up"] * len(lines)
    assert lines


def test_without_a_setting_there_is_no_such_address() -> None:
    client = TestClient(create_app(ScriptedAnswerer(), Settings()))
    assert client.get("/page/setup").json()["feedback"] is False
    assert client.post("/page/feedback", json=THUMB).status_code in (404, 405)


def test_a_file_that_cannot_be_written_shows_before_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = replace(Settings(), feedback_file=tmp_path / "file" / "feedback.jsonl")
    with pytest.raises(FootnoteError, match="RAG_FEEDBACK_FILE"):
        create_app(ScriptedAnswerer(), settings)
