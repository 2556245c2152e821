"""What a language model's server sends, and in a sentence what is wrong when it sends no answer."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx

from rag.types import Unavailable

_LONGEST_REASON = 200


async def server_sent(
    response: httpx.Response, address: str, seconds: float
) -> AsyncIterator[dict[str, Any]]:
    """The JSON events of a stream, to its `[DONE]` (https://html.spec.whatwg.org, 9.2).

    Raises Unavailable when it breaks off, holds anything else, or tells of an error, and
    httpx.ReadTimeout when no event comes for `seconds`: comments alone keep a connection alive.
    """
    finished = False
    heard = time.monotonic()
    async for line in response.aiter_lines():
        field, _, value = line.partition(":")
        if field != "data":
            if time.monotonic() - heard > seconds:
                raise httpx.ReadTimeout("no event")
            continue
        heard = time.monotonic()
        if value.strip() == "[DONE]":
            return
        try:
            sent = json.loads(value)
        except ValueError as error:
            raise Unavailable(f"{_server(address)} sent an event that is no JSON.") from error
        if not isinstance(sent, dict) or sent.get("error"):
            raise Unavailable(f"{_server(address)} broke off: {_reason(sent)}.")
        finished = finished or any(c.get("finish_reason") for c in sent.get("choices") or [])
        yield sent
    if not finished:
        raise Unavailable(f"{_server(address)} broke off in the middle of an answer.")


def refuse_status(response: httpx.Response, address: str) -> None:
    """Raises Unavailable, caused by an httpx.HTTPStatusError, unless the status is a success."""
    try:
        response.raise_for_status()
    except httpx.HTTPStatusError as error:
        raise Unavailable(_about_status(error.response, address)) from error


def explained(error: httpx.HTTPError, address: str) -> str:
    """What happened on the way to the server, and what to do."""
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
        why = f"can't be reached ({str(error) or 'no answer'})"
        return f"{_server(address)} {why}; start it, or correct RAG_LLM."
    if isinstance(error, httpx.TimeoutException):
        return f"{_server(address)} fell silent; RAG_LLM_TIMEOUT says for how long it may."
    return f"{_server(address)} broke off ({str(error) or type(error).__name__})."


def _about_status(response: httpx.Response, address: str) -> str:
    status = response.status_code
    if status in (401, 403):  # the text may hold the key
        return f"{_server(address)} refuses the key ({status}); set RAG_LLM_API_KEY."
    try:
        reason = _reason(response.json())
    except ValueError:
        reason = response.reason_phrase
    return f"{_server(address)} answers {status}: {reason}."


def _reason(sent: Any) -> str:
    """The server's own words, in one line and cut."""
    error = sent.get("error", sent) if isinstance(sent, dict) else sent
    words = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(words).split())[:_LONGEST_REASON].rstrip(". ")


def _server(address: str) -> str:
    return f"The language model's server at {address}"
