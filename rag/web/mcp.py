"""Gradio's own MCP server, made fit for programs: JSON results, and no trust in a caller's headers."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any

import gradio as gr


class PendingEvents(set[str]):
    """Ids of events under way that may end before they are known to have begun.

    gradio_client notes an event's id once the server has said it, and takes it away when the event
    ends, in another thread. An answer that is there at once ended first: the KeyError ended the
    thread that all calls share, and the others under way failed with it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ended = set[str]()
        self._lock = threading.Lock()

    def add(self, event: str) -> None:
        """An event has begun, and may have ended."""
        with self._lock:
            if event in self._ended:
                self._ended.discard(event)
            else:
                super().add(event)

    def remove(self, event: str) -> None:
        """An event has ended, and may not be known to have begun."""
        with self._lock:
            if event in self:
                super().remove(event)
            else:
                self._ended.add(event)


def prepare_mcp(blocks: gr.Blocks, address: str) -> None:
    """Adapts the MCP server of a mounted application that listens at `address`.

    A tool's call goes through the queue, which the server reaches over HTTP: at the address that
    the first caller's Host header names, unless it is told its own. And it gives results as
    Python's repr, which no program reads.
    """
    from mcp.types import TextContent

    logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells of every request
    server: Any = blocks.mcp_server_obj
    server._local_url = address

    def as_json(data: list[Any], root_url: str) -> list[TextContent]:
        return [TextContent(type="text", text=json.dumps(d, ensure_ascii=False)) for d in data]

    server.postprocess_output_data = as_json
    make_client = server._get_or_create_client

    def client() -> Any:
        made = make_client()
        if not isinstance(made.pending_event_ids, PendingEvents):
            made.pending_event_ids = PendingEvents()
        return made

    server._get_or_create_client = client
