"""A soak: `python -m tests.soak --minutes 30 --clients 8`.

Starts the app with the built models and the demo blog, lets the clients ask, stop, vanish and send
rubbish, and prints the figures as JSON. Ends with status 1 after any fault of the server's, a
traceback in its log, or when the memory at the end, with or without the pages of mapped files, is
more than 5 % over that of minute five (or of a sixth of the time).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx

from tests.launched import App, Memory
from tests.load import Reader, Tally


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    log = Path(tempfile.mkdtemp()) / "app.log"
    app, tally = App(log), Tally()
    ready = app.start()
    end = time.monotonic() + options.minutes * 60

    def reader(number: int) -> None:
        one = Reader(app.url, tally, options.seed * 1000 + number)
        while time.monotonic() < end:
            try:
                one.step()
            except httpx.HTTPError as error:
                tally.fault(f"{type(error).__name__}: {error}")
                time.sleep(1)

    threads = [threading.Thread(target=reader, args=(n,)) for n in range(options.clients)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    settled = min(300.0, options.minutes * 10)
    memory: list[tuple[float, Memory]] = []
    while time.monotonic() < end:
        time.sleep(min(10.0, max(0.1, end - time.monotonic())))
        memory.append((time.monotonic() - began, app.memory()))
    for thread in threads:
        thread.join()
    held = {part: megabytes(memory, settled, part) for part in Memory._fields}
    growth = max(one["growth"] for one in held.values())
    text = log.read_text(errors="replace")
    figures = {
        "minutes": options.minutes,
        "clients": options.clients,
        "ready_s": round(ready, 1),
        "done": dict(sorted(tally.done.items())),
        "faults": len(tally.faults),
        "tracebacks_in_log": text.count("Traceback"),
        "memory_mb": held,
        "term_s": round(app.end(), 1),
        "log": str(log),
    }
    print(json.dumps(figures, indent=1))
    for fault in tally.faults[:20]:
        print(fault, file=sys.stderr)
    return 1 if tally.faults or growth > 0.05 or figures["tracebacks_in_log"] else 0


def megabytes(memory: list[tuple[float, Memory]], settled: float, part: str) -> dict[str, Any]:
    """One part of the memory when it had settled, at the end, and between; each the mean of 30 s."""
    values = [getattr(now, part) for _, now in memory]
    first = next((i for i, (at, _) in enumerate(memory) if at >= settled), len(memory) - 1)
    early, late = fmean(values[first : first + 3]), fmean(values[-3:])
    every = max(1, len(values) // 10)
    return {
        "settled": round(early),
        "end": round(late),
        "most": round(max(values)),
        "growth": round(late / early - 1, 4),
        "course": [round(value) for value in values[::every]],
    }


if __name__ == "__main__":
    sys.exit(main())
