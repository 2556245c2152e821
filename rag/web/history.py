"""Reads the history that a client sent, whatever its shape."""

from __future__ import annotations

from typing import Any, Literal

from rag.types import Turn

MAX_MESSAGES = 200
MAX_MESSAGE_CHARS = 20_000


def read_history(value: Any) -> tuple[Turn, ...]:
    """The user's and assistant's messages in `value`, oldest first.

    Understands messages (`{"role", "content"}`, further keys ignored, content a string, a part
    `{"type": "text", "text"}` or a list of either) and pairs (`[question, answer]`). What is
    neither is left out; nothing is raised. The last 200 messages count.
    """
    if not isinstance(value, list | tuple):
        return ()
    turns: list[Turn] = []
    for item in value[-MAX_MESSAGES:]:
        if isinstance(item, dict):
            _add(turns, item.get("role"), item.get("content"))
        elif isinstance(item, list | tuple) and len(item) == 2:
            _add(turns, "user", item[0])
            _add(turns, "assistant", item[1])
    return tuple(turns)


def _add(turns: list[Turn], role: Any, content: Any) -> None:
    text = _text(content).strip()[:MAX_MESSAGE_CHARS]
    speaker: Literal["user", "assistant"] | None = (
        "user" if role == "user" else "assistant" if role == "assistant" else None
    )
    if speaker and text:
        turns.append(Turn(speaker, text))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _text(content.get("text"))
    if isinstance(content, list | tuple):
        # Parts of parts don't exist; looking no deeper keeps a hostile nesting harmless.
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""
