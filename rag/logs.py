"""The log: lines for people, or one JSON object a line for machines. Each knows its request.

What readers ask isn't logged, unless a setting says so.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar

from pythonjsonlogger.json import JsonFormatter

from rag.settings import LogFormat

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being served, empty outside of one."""

_TEXT = "%(asctime)s %(levelname)s %(message)s%(request)s"
_FIELDS = ["asctime", "levelname", "name", "message", "request_id"]


def set_up(form: LogFormat) -> None:
    """Sends all log records to stderr in the given form."""
    handler = logging.StreamHandler()
    handler.addFilter(_add_request)
    handler.setFormatter(
        JsonFormatter(
            _FIELDS, rename_fields={"asctime": "time", "levelname": "level", "name": "logger"}
        )
        if form == "json"
        else logging.Formatter(_TEXT)
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # Each request that a library makes or gets would be a line, with the address that was asked.
    for name in ("httpx", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _add_request(record: logging.LogRecord) -> bool:
    known = getattr(record, "request_id", "") or request_id.get()
    record.request_id = known
    record.request = f" [{known}]" if known else ""
    return True
