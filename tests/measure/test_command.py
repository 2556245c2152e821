"""`python -m rag evaluate` as it is called, with the real models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.measure.test_evaluate import lines, squad_file

ROOT = Path(__file__).parent.parent.parent


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rag", "evaluate", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)


@pytest.mark.models
def test_each_kind_of_file_gets_its_figures(tmp_path: Path) -> None:
    battery = lines(
        tmp_path / "battery.jsonl",
        {"question": "What is recall@k?", "language": "en", "answerable": True,
         "page": "/posts/recall-at-k-and-friends/", "kind": "definition"},
        {"question": "What is the best pizza dough?", "language": "en", "answerable": False},
    )  # fmt: skip
    talks = lines(
        tmp_path / "talks.jsonl",
        {"history": [{"role": "user", "content": "What is BM25?"},
                     {"role": "assistant", "content": "A ranking function."}],
         "question": "And who worked it out?", "page": "/posts/bm25-still-earns-its-keep/",
         "kind": "pronoun"},
    )  # fmt: skip
    out = tmp_path / "out.json"
    done = run(squad_file(tmp_path), battery, talks, "--answers", "2", "--out", out)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text(encoding="utf-8"))
    rows = {row["set"]: row for row in result["rows"]}
    assert rows["small.en.json → small.en.json"]["recall@3"]["value"] == 1
    assert rows["answers of small.en.json"]["ratio of the two"] is not None
    assert rows["battery.jsonl"]["answerable answered"]["value"] == 1
    assert rows["battery.jsonl"]["others refused"]["value"] == 1
    assert rows["talks.jsonl"]["right page in the first 3"]["value"] == 1
    assert len(result["answers"]) == 2 + 2 + 1
    assert all("answer" in entry or "found" in entry for entry in result["answers"])
    for name in rows:
        assert name in done.stdout


@pytest.mark.parametrize("name", ["missing.json", "missing.jsonl"])
def test_a_missing_file_is_one_line(name: str) -> None:
    done = run(name)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().splitlines()[-1].startswith(f"Cannot read {name}")
    assert "Traceback" not in done.stderr


def test_a_number_of_answers_below_zero_is_wrong_usage() -> None:
    done = run("x.json", "--answers", "-1")
    assert done.returncode == 2
    assert "--answers" in done.stderr
