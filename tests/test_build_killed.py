"""A build that is killed leaves the last good collection, and the next run finishes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag.answer.load import load_encoder
from rag.search import store
from rag.settings import Settings

pytestmark = pytest.mark.models
ROOT = Path(__file__).parent.parent


def site(folder: Path, word: str) -> None:
    """Six pages about made-up harbours, each with `word` in it."""
    folder.mkdir(exist_ok=True)
    for i in range(6):
        told = " ".join(
            f"The {word} harbour number {i} has quay {n}, dug in {1800 + n}." for n in range(12)
        )
        html = f"<html lang=en><title>Harbour {i}</title><main><h1>Harbour {i}</h1><p>{told}</p></main>"
        (folder / f"{i}.html").write_text(html)


def build(folder: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "build_index.py", "--html", str(folder), "--name", "harbours",
               "--out", str(out)]  # fmt: skip
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_killed_at_any_moment_the_last_good_one_stays_and_the_next_run_finishes(
    tmp_path: Path, settings: Settings
) -> None:
    encoder = load_encoder(settings)
    out = tmp_path / "out"
    site(tmp_path / "site", "old")
    started = time.monotonic()
    assert build(tmp_path / "site", out).wait(300) == 0
    whole = time.monotonic() - started
    site(tmp_path / "site", "new")
    moments = random.Random(7)
    for share in (0.5, 0.9, 0.97, moments.random(), moments.random()):
        process = build(tmp_path / "site", out)
        time.sleep(whole * share)
        process.send_signal(signal.SIGKILL)
        process.wait()
        read = store.load(out / "harbours", encoder.fingerprint, encoder.dimension)
        assert len(read.chunks) == read.manifest.chunks
    done = build(tmp_path / "site", out)
    _, stderr = done.communicate(timeout=300)
    assert done.returncode == 0, stderr
    read = store.load(out / "harbours", encoder.fingerprint, encoder.dimension)
    assert any("new harbour" in chunk.text for chunk in read.chunks)
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["harbours"]
