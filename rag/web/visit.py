"""What the server notes of one request, for the log, the limits and the figures."""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass, field

KEY = "footnote.visit"
"""Under which a request's scope carries it."""
_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass
class Visit:
    """One request."""

    request_id: str = field(default_factory=lambda: secrets.token_hex(8))
    arrived: float = field(default_factory=time.perf_counter)
    wait: float = 0.0
    """Seconds until its client may ask again; 0 when it is within the limit."""
    limit: int = 0
    """Questions a minute that its client may ask."""


def visit_of(header: str) -> Visit:
    """With the id that a proxy gave it in `X-Request-ID`, where that is one."""
    return Visit(header) if _GIVEN.fullmatch(header) else Visit()
