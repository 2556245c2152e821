"""A build that is killed leaves the last good collection, and the next run finishes."""

from __future__ import annotations

import os
import random
import resource
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


def build(
    folder: Path, out: Path, *, limit: int | None = None, pages: Path | None = None
) -> subprocess.Popen[bytes]:
    """A build as a process of its own; no file that it writes may be larger than `limit` bytes."""

    def confine() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "build_index.py", "--html", str(folder), "--name", "harbours",
               "--out", str(out)]  # fmt: skip
    env = {**os.environ, **({"RAG_PAGES_DIR": str(pages)} if pages else {})}
    return subprocess.Popen(
        command, cwd=ROOT, env=env, preexec_fn=confine,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


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


@pytest.mark.parametrize("limit", [20_000, 120_000])
def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(
    tmp_path: Path, limit: int
) -> None:
    out = tmp_path / "out"
    site(tmp_path / "site", "old")
    process = build(tmp_path / "site", out, limit=limit, pages=tmp_path / "pages")
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1
    last = stderr.decode().strip().splitlines()[-1]
    assert "free some" in last.lower(), last
    assert b"Traceback" not in stderr
    assert store.names(out) == []


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    site(tmp_path / "site", "old")
    process = build(tmp_path / "site", tmp_path / "file" / "out")
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "Cannot write the collection" in stderr.decode().strip().splitlines()[-1]
    assert b"Traceback" not in stderr
