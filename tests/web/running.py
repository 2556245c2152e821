"""`python app.py` as a process, with the real models, that a test may stop, freeze and start again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]


class RunningApp:
    """Listens on a port of its own, and on the same one when it is started again."""

    def __init__(self, **environment: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {**os.environ, **environment}
        self.start()

    def start(self) -> None:
        """Returns once it says that it is ready."""
        command = [sys.executable, "app.py", "--port", str(self.port)]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self._environment)
        end = time.monotonic() + 300
        while not self._is_ready():
            assert self.process.poll() is None, "app.py ended"
            assert time.monotonic() < end, "app.py isn't ready"
            time.sleep(0.2)

    def kill(self) -> None:
        """As a power cut."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> None:
        """As it is told to end, even where a failed test left it frozen."""
        self.thaw()
        self.process.terminate()
        self.process.wait(20)

    def freeze(self) -> None:
        """It does nothing more until `thaw` or `kill`."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        self.process.send_signal(signal.SIGCONT)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.HTTPError, OSError):
            return False
