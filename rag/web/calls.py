"""Reads the bodies of API calls, whatever a client sends, and writes them anew for Gradio.

Gradio's server trusts its own client: a wrong index is a traceback there, and a dictionary that
looks like one of its files is fetched or moved. It only sees what is written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag.web.history import read_history

MAX_KEY_CHARS = 100
_CALL = re.compile(r"/gradio_api/call/(v2/)?(\w+)/?")


class BadCall(Exception):
    """A body that no client of ours sends."""


@dataclass(frozen=True)
class Endpoint:
    """What can be called: its name, and those of its arguments; the first must be given."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A body as Gradio will see it, and which endpoint it asks for; None for none."""

    body: dict[str, Any]
    endpoint: Endpoint | None


def read_call(path: str, body: bytes, endpoints: Mapping[int, Endpoint]) -> Call:
    """The call that a POST to `path` makes. `endpoints` are by their number in the queue.

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
        named = {endpoint.name: endpoint for endpoint in endpoints.values()}
        if match[2] not in named:
            raise BadCall
        return _called(sent, named[match[2]], by_name=bool(match[1]))
    keys = ("session_hash", "event_id")
    found = {key: _key(sent.get(key)) for key in keys if key in sent}
    if path.startswith("/gradio_api/cancel"):
        return Call({**found, "fn_index": _endpoint_number(sent, endpoints)}, None)
    return Call(found, None)


def calls_a_tool(body: bytes) -> bool:
    """Whether a message of the Model Context Protocol, or one of several, calls a tool."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return False
    messages = sent if isinstance(sent, list) else [sent]
    return any(isinstance(one, dict) and one.get("method") == "tools/call" for one in messages)


def _joined(sent: dict[str, Any], endpoints: Mapping[int, Endpoint]) -> Call:
    number = _endpoint_number(sent, endpoints)
    endpoint = endpoints[number]
    session = _key(sent.get("session_hash"))
    data = _arguments(sent.get("data"), endpoint)
    return Call({"data": data, "fn_index": number, "session_hash": session}, endpoint)


def _called(sent: dict[str, Any], endpoint: Endpoint, *, by_name: bool) -> Call:
    if not by_name:
        return Call({"data": _arguments(sent.get("data"), endpoint)}, endpoint)
    names = endpoint.arguments
    if set(sent) - set(names) or not set(names[:1]) <= set(sent):
        raise BadCall
    return Call({name: _argument(name, value) for name, value in sent.items()}, endpoint)


def _arguments(data: Any, endpoint: Endpoint) -> list[Any]:
    names = endpoint.arguments
    if not isinstance(data, list) or not min(1, len(names)) <= len(data) <= len(names):
        raise BadCall
    return [_argument(name, value) for name, value in zip(names, data, strict=False)]


def _argument(name: str, value: Any) -> Any:
    if name != "history":
        return _plain(value)
    turns = read_history(value)
    return [{"role": turn.role, "content": text_of(turn.content)} for turn in turns]


def _plain(value: Any) -> Any:
    """A text or another single value; what has parts becomes False, which is neither."""
    if isinstance(value, str):
        return text_of(value)
    return value if value is None or isinstance(value, int) else False


def text_of(text: str) -> str:
    """The text with a question mark for half a surrogate pair, which no encoding can carry."""
    return text.encode("utf-8", "replace").decode()


def _endpoint_number(sent: dict[str, Any], endpoints: Mapping[int, Endpoint]) -> int:
    number = sent.get("fn_index")
    if type(number) is not int or number not in endpoints:
        raise BadCall
    return number


def _key(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_KEY_CHARS:
        raise BadCall
    return text_of(value)
