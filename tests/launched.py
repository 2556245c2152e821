"""The app as a child process, for the runs that load it and kill it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

ROOT = Path(__file__).parent.parent


class Memory(NamedTuple):
    """Megabytes."""

    resident: float
    """All that lies in memory: also the pages of mapped files, which the system may take back."""
    own: float
    """Without those: what nobody else can free."""


class App:
    """`python app.py` as a child process on a port of its own."""

    def __init__(self, log: Path) -> None:
        self.log = log
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, within: float = 120) -> float:
        """Seconds until it says that it is ready."""
        began = time.monotonic()
        command = [sys.executable, "app.py", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stderr=log, stdout=log)
        # One client: making one costs processor time that the app needs now.
        with httpx.Client(timeout=5) as client:
            while time.monotonic() - began < within and self.process.poll() is None:
                try:
                    if client.get(f"{self.url}/healthz").status_code == 200:
                        return time.monotonic() - began
                except httpx.TransportError:
                    time.sleep(0.05)
        self.kill()
        raise SystemExit(f"app.py is not ready after {within:.0f} s; see {self.log}")

    def memory(self) -> Memory:
        """What the process holds now."""
        assert self.process
        held = psutil.Process(self.process.pid).memory_info()
        return Memory(held.rss / 1e6, (held.rss - held.shared) / 1e6)

    def kill(self) -> None:
        """kill -9."""
        assert self.process
        self.process.kill()
        self.process.wait()

    def end(self) -> float:
        """SIGTERM; seconds until it has ended."""
        assert self.process
        began = time.monotonic()
        self.process.terminate()
        self.process.wait(30)
        return time.monotonic() - began
