"""Keeps the readers' thumbs in a local file, one JSON object a line."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from rag.types import FootnoteError

MAX_FILE_BYTES = 50_000_000
"""Strangers must not fill the disk."""


class Feedback(BaseModel):
    """What a reader thought of one answer."""

    verdict: Literal["up", "down"]
    comment: str = Field(default="", max_length=2000)
    question: str = Field(max_length=10_000)
    answer: str = Field(max_length=100_000)
    collection: str = Field(max_length=200)


def save_feedback(path: Path, feedback: Feedback) -> None:
    """Appends one line; a single write keeps lines whole when several readers send at once.

    Raises OSError when the file can't be written or has reached its size; it is then as it was.
    """
    if path.exists() and path.stat().st_size > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, f"it has reached {MAX_FILE_BYTES / 1e6:.0f} MB")
    record = {"time": datetime.now(UTC).isoformat(timespec="seconds"), **feedback.model_dump()}
    line = (json.dumps(record, ensure_ascii=False) + "\n").encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        before = os.fstat(descriptor).st_size
        if os.write(descriptor, line) < len(line):  # what a disk does that fills up
            os.ftruncate(descriptor, before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def check_feedback_file(path: Path) -> None:
    """Raises FootnoteError when feedback couldn't be saved, so that it shows before the start."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
    except OSError as error:
        raise FootnoteError(
            f"Feedback can't be written to {path}: {error.strerror}. "
            "Set RAG_FEEDBACK_FILE to a file that can be, or unset it."
        ) from error
