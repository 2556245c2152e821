"""Gradio's own MCP server, made fit for programs: JSON results, and no trust in a caller's headers."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import gradio as gr
import httpx

Headers = Mapping[str, str]
_FORWARDED = frozenset({"x-forwarded-for", "forwarded", "x-real-ip", "accept-language"})


class Call:
    """A tool's call on its way through the queue, over a connection of its own."""

    def __init__(self, http: httpx.AsyncClient, path: str, arguments: list[Any], headers: Headers):
        self._http = http
        self._path = path
        self._arguments = arguments
        self._headers = headers

    async def result(self) -> list[Any]:
        """What the tool gives, once it is there. Raises RuntimeError with the sentence that says why
        it gives nothing."""
        sent = await self._http.post(
            self._path, json={"data": self._arguments}, headers=self._headers
        )
        if sent.is_error:
            raise RuntimeError(_told(sent.text))
        stream = f"{self._path}/{sent.json()['event_id']}"
        event, data = "", ""
        async with self._http.stream("GET", stream, headers=self._headers) as lines:
            async for line in lines.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    event = value
                elif name == "data" and event in ("complete", "error"):
                    data = value
                    break
        if event != "complete":
            raise RuntimeError(_told(data))
        found: list[Any] = json.loads(data)
        return found


class Loopback:
    """Stands in for gradio_client, in which all calls share one stream of events.

    A call that began while that stream was being closed was cancelled with it, and one that was
    answered at once ended the thread that reads it.
    """

    def __init__(self, address: str, forwarded: frozenset[str]) -> None:
        """`forwarded` are the caller's headers that go on: who it is, and its language."""
        self._http = httpx.AsyncClient(base_url=address, timeout=None, trust_env=False)
        self._forwarded = forwarded

    def submit(self, *arguments: Any, api_name: str, headers: Headers) -> Call:
        """A call of an endpoint."""
        kept = {k: v for k, v in headers.items() if k.lower() in self._forwarded}
        return Call(self._http, f"/gradio_api/call{api_name}", list(arguments), kept)


def _told(body: str) -> str:
    """The sentence in an error's body."""
    try:
        said = json.loads(body)
    except ValueError:
        return body
    if isinstance(said, dict):
        said = said.get("error") or said.get("detail")
    return str(said or "It could not be done; see the log of the app.")


def prepare_mcp(blocks: gr.Blocks, address: str, client_header: str | None) -> None:
    """Adapts the MCP server of a mounted application that listens at `address`.

    A tool's call goes through the queue, which the server reaches over HTTP: at the address that
    the first caller's Host header names, unless it is told its own. And it gives results as
    Python's repr, which no program reads. `client_header` names the header that tells who calls.
    """
    from mcp.types import TextContent

    logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells of every request
    server: Any = blocks.mcp_server_obj
    loopback = Loopback(address, _FORWARDED | {(client_header or "").lower()})

    def as_json(data: list[Any], root_url: str) -> list[TextContent]:
        return [TextContent(type="text", text=json.dumps(d, ensure_ascii=False)) for d in data]

    async def wait(job: Call, progress_token: str | int | None = None) -> list[Any]:
        return await job.result()

    server.postprocess_output_data = as_json
    server._get_or_create_client = lambda: loopback
    server._execute_tool_without_progress = wait
    server._execute_tool_with_progress = wait
