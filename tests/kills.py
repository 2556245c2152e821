"""Kill -9 under load: `python -m tests.kills --times 50`.

Starts the app, lets clients ask, kills it at a random moment, starts it again; then compares every
file of the collections and of the models with what it was. Prints the figures as JSON. Ends with
status 1 when a restart took 10 seconds or more, a file changed, or an answer after it was wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import statistics
import sys
import tempfile
import threading
from pathlib import Path

import httpx

from rag.settings import Settings
from tests.launched import App
from tests.load import Reader, Tally

WITHIN = 10.0


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    settings = Settings.from_environment()
    folders = [settings.artifacts_dir, settings.models_dir]
    before = digests(folders)
    app = App(Path(tempfile.mkdtemp()) / "app.log")
    app.start()
    ready: list[float] = []
    tally = Tally()
    for number in range(options.times):
        over = threading.Event()
        threads = [
            threading.Thread(target=load, args=(app.url, number * 100 + n, over))
            for n in range(options.clients)
        ]
        for thread in threads:
            thread.start()
        over.wait(chance.uniform(0.2, 5))
        app.kill()
        over.set()
        for thread in threads:
            thread.join()
        ready.append(app.start())
        Reader(app.url, tally, number).ask()
    app.end()
    broken = sorted(name for name, sum in digests(folders).items() if before.get(name) != sum)
    figures = {
        "kills": options.times,
        "ready_s": {"median": round(statistics.median(ready), 1), "most": round(max(ready), 1)},
        "answers_after": dict(tally.done),
        "faults": tally.faults,
        "files": len(before),
        "files_changed": broken,
    }
    print(json.dumps(figures, indent=1))
    return 1 if max(ready) >= WITHIN or broken or tally.faults else 0


def load(url: str, seed: int, over: threading.Event) -> None:
    """Asks until the server is gone; what breaks then is what this is about."""
    reader = Reader(url, Tally(), seed)
    while not over.is_set():
        try:
            reader.step()
        except (httpx.HTTPError, ValueError):  # gone, or in the middle of a line of JSON
            over.wait(0.1)


def digests(folders: list[Path]) -> dict[str, str]:
    """SHA-256 of every file, lock files aside."""
    files = [p for folder in folders for p in sorted(folder.rglob("*")) if p.is_file()]
    return {
        str(path): hashlib.file_digest(path.open("rb"), "sha256").hexdigest()
        for path in files
        if path.suffix != ".lock"
    }


if __name__ == "__main__":
    sys.exit(main())
