"""Reads the bodies of API calls, whatever a client sends, and writes them anew for Gradio.

Gradio's server trusts its own client: a wrong index is a traceback there, and a dictionary that
looks like one of its files is fetched or moved. It only sees what is written here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from rag.web.history import read_history

MAX_KEY_CHARS = 100
ARGUMENTS = {"ask": ("question", "collection", "history"), "collections": ()}
"""The endpoints and the names of their arguments."""
_CALL = re.compile(r"/gradio_api/call/(v2/)?([a-z]+)/?")


class BadCall(Exception):
    """A body that no client of ours sends."""


@dataclass(frozen=True)
class Call:
    """A body as Gradio will see it, and which endpoint it asks for; None for none."""

    body: dict[str, Any]
    endpoint: str | None


def read_call(path: str, body: bytes, endpoints: dict[int, str]) -> Call:
    """The call that a POST to `path` makes. `endpoints` gives names by their number in the queue.

    Raises BadCall.
    """
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        raise BadCall from None
    if not isinstance(sent, dict):
        raise BadCall
    if path.startswith("/gradio_api/queue/join"):
        return _joined(sent, endpoints)
    if match := _CALL.fullmatch(path):
        return _called(sent, match[2], by_name=bool(match[1]))
    keys = ("session_hash", "event_id")
    found = {key: _key(sent.get(key)) for key in keys if key in sent}
    if path.startswith("/gradio_api/cancel"):
        return Call({**found, "fn_index": _endpoint_number(sent, endpoints)}, None)
    return Call(found, None)


def _joined(sent: dict[str, Any], endpoints: dict[int, str]) -> Call:
    number = _endpoint_number(sent, endpoints)
    name = endpoints[number]
    session = _key(sent.get("session_hash"))
    data = _arguments(sent.get("data"), name)
    return Call({"data": data, "fn_index": number, "session_hash": session}, name)


def _called(sent: dict[str, Any], name: str, *, by_name: bool) -> Call:
    if name not in ARGUMENTS:
        raise BadCall
    if not by_name:
        return Call({"data": _arguments(sent.get("data"), name)}, name)
    if set(sent) - set(ARGUMENTS[name]) or (name == "ask" and "question" not in sent):
        raise BadCall
    values = _arguments([sent.get(key) for key in ARGUMENTS[name]], name)
    named = zip(ARGUMENTS[name], values, strict=True)
    return Call({key: value for key, value in named if key in sent}, name)


def _arguments(data: Any, name: str) -> list[Any]:
    if not isinstance(data, list) or len(data) > len(ARGUMENTS[name]):
        raise BadCall
    if name != "ask":
        return []
    if not data:
        raise BadCall
    question, *rest = data
    clean: list[Any] = [_plain(question)]
    if rest:
        clean.append(_plain(rest[0]))
    if len(rest) > 1:
        turns = read_history(rest[1])
        clean.append([{"role": t.role, "content": text_of(t.content)} for t in turns])
    return clean


def _plain(value: Any) -> Any:
    """A text or another single value; what has parts becomes False, which is neither."""
    if isinstance(value, str):
        return text_of(value)
    return value if value is None or isinstance(value, int) else False


def text_of(text: str) -> str:
    """The text with a question mark for half a surrogate pair, which no encoding can carry."""
    return text.encode("utf-8", "replace").decode()


def _endpoint_number(sent: dict[str, Any], endpoints: dict[int, str]) -> int:
    number = sent.get("fn_index")
    if type(number) is not int or number not in endpoints:
        raise BadCall
    return number


def _key(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_KEY_CHARS:
        raise BadCall
    return text_of(value)
