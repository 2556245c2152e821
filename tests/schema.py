"""The answer object's promises, checked on an object as JSON."""

from __future__ import annotations

import re
from typing import Any

FIELDS: dict[str, type | tuple[type, ...]] = {
    "question": str, "search_query": str, "collection": str, "mode": str, "language": str,
    "outcome": str, "answer": str, "citations": (list, tuple), "nearest": (list, tuple),
    "route": (list, tuple), "withheld": int, "timings": dict,
}  # fmt: skip
CITATION: dict[str, type | tuple[type, ...]] = {
    "n": int, "title": str, "url": str, "section": (str, type(None)),
    "published": (str, type(None)), "quote": str, "score": float,
}  # fmt: skip
TIMINGS = (
    "retrieve_ms",
    "first_token_ms",
    "total_ms",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
)


def faults(answer: dict[str, Any], pages: dict[str, str]) -> list[str]:
    """What is wrong with an answer object. `pages` is the extracted text by page address."""
    wrong = [
        f"{k} is {answer.get(k)!r}" for k, t in FIELDS.items() if not isinstance(answer.get(k), t)
    ]
    if wrong:
        return wrong
    if answer["mode"] not in ("blog", "interview") or answer["language"] not in ("en", "es"):
        wrong.append(f"mode {answer['mode']}, language {answer['language']}")
    if answer["outcome"] not in ("answered", "refused", "greeting", "error"):
        wrong.append(f"outcome {answer['outcome']}")
    wrong += [f"timings.{k}" for k in TIMINGS if not isinstance(answer["timings"].get(k), int)]
    marked = [int(n) for n in re.findall(r"\[(\d+)\]", answer["answer"])]
    listed = [citation["n"] for citation in answer["citations"]]
    if list(dict.fromkeys(marked)) != listed:
        wrong.append(f"the text marks {marked}, the list has {listed}")
    if (answer["outcome"] == "answered") != bool(listed):
        wrong.append(f"{answer['outcome']} with {len(listed)} citations")
    for citation in answer["citations"]:
        wrong += [
            f"citation {citation.get('n')}: {k} is {citation.get(k)!r}"
            for k, t in CITATION.items()
            if not isinstance(citation.get(k), t)
        ]
        text = pages.get(citation["url"].partition("#")[0], "")
        for quote in (citation["quote"], *citation["quotes"]):
            if squeezed(quote) not in squeezed(text):
                wrong.append(f"not verbatim in {citation['url']}: {quote!r}")
    return wrong


def squeezed(text: str) -> str:
    """White space aside."""
    return " ".join(text.split())
