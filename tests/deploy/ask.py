"""Asks the running app over HTTP, as a program would; fails unless it answers and refuses rightly."""

from __future__ import annotations

import json
import os
import socket
import urllib.request
from typing import Any

BASE = f"http://127.0.0.1:{os.environ['PORT']}"


def ask(question: str) -> Any:
    """The last answer object of a question's stream."""
    body = json.dumps({"data": [question]}).encode()
    request = urllib.request.Request(f"{BASE}/gradio_api/call/ask", body)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as response:
        event = json.load(response)["event_id"]
    with urllib.request.urlopen(f"{BASE}/gradio_api/call/ask/{event}", timeout=120) as stream:
        lines = [line for line in stream.read().decode().splitlines() if line.startswith("data:")]
    return json.loads([line for line in lines if "outcome" in line][-1].removeprefix("data: "))[0]


try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
    raise SystemExit("there is a network")
except OSError as error:
    print(f"no network: {error}")
print(urllib.request.urlopen(f"{BASE}/healthz").read().decode())
for question, outcome in (
    ("What is dynamic quantisation?", "answered"),
    ("¿Qué es un entorno virtual?", "answered"),
    ("What is the best pizza dough?", "refused"),
):
    answer = ask(question)
    print(answer["outcome"], "|", answer["answer"], "|", answer["timings"]["total_ms"], "ms")
    if answer["outcome"] != outcome:
        raise SystemExit(f"{question!r} was {answer['outcome']}, not {outcome}")
