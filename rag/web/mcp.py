"""Gradio's own MCP server, made fit for programs: JSON results, and no trust in a caller's headers."""

from __future__ import annotations

import json
import logging
from typing import Any

import gradio as gr


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
