"""The app as a reader meets it: from the start of its process until it serves, and its memory."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from rag.settings import Settings
from rag.types import FootnoteError

_APP = Path(__file__).parents[2] / "app.py"
_PATIENCE_S = 300


@dataclass(frozen=True)
class Served:
    """What was seen of the app's process."""

    ready_s: list[float]
    """Of each start: from the process's start, imports included, to the first 200 of /healthz."""
    rss_mb: float
    """Resident memory after the questions, in MiB."""


def serve_and_ask(
    settings: Settings,
    questions: Sequence[str],
    progress: Callable[[str, int, int], None],
    starts: int = 3,
) -> Served:
    """Starts the app `starts` times, and asks the last one the questions, one after another.

    Raises FootnoteError when the app ends instead of getting ready.
    """
    ready = []
    for start in range(starts):
        port = _free_port()
        command = [sys.executable, str(_APP), "--host", "127.0.0.1", "--port", str(port)]
        command += ["--collection", settings.collection]
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_until_ready(process, port, began)
            ready.append(time.perf_counter() - began)
            progress("starts", start + 1, starts)
            if start == starts - 1:
                _ask(port, settings.collection, questions, progress)
                memory = psutil.Process(process.pid).memory_info().rss / 2**20
        finally:
            process.terminate()
            process.wait()
    return Served(ready, memory)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, began: float) -> None:
    while time.perf_counter() - began < _PATIENCE_S:
        if process.poll() is not None:
            raise FootnoteError(
                f"{_APP.name} ended with status {process.returncode}; run it alone."
            )
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as response:
                if response.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.02)
    raise FootnoteError(f"{_APP.name} was not ready after {_PATIENCE_S} s; run it alone.")


def _ask(
    port: int,
    collection: str,
    questions: Sequence[str],
    progress: Callable[[str, int, int], None],
) -> None:
    from gradio_client import Client

    client = Client(f"http://127.0.0.1:{port}/", verbose=False)
    for done, question in enumerate(questions, 1):
        client.predict(question, collection, api_name="/ask")
        progress("served questions", done, len(questions))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
