"""Who asks, and how often in a minute."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import Scope

from rag.settings import Settings

QUESTIONS_PER_MINUTE = 30
"""From elsewhere, unless a setting says otherwise. This machine's own questions aren't counted."""
_MOST_CLIENTS = 10_000
_FORWARDED = {b"x-forwarded-for", b"forwarded", b"x-real-ip"}


class RateLimiter:
    """So many calls a minute for each client, in bursts of that many (a token bucket).

    Remembers the `most` clients that came last, so that its memory is bounded; its clock only runs
    forward, so that a jump of the wall clock changes nothing.
    """

    def __init__(
        self,
        per_minute: int,
        clock: Callable[[], float] = time.monotonic,
        most: int = _MOST_CLIENTS,
    ) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._most = most
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What each may still spend, and when that was."""

    def take(self, client: str) -> float:
        """0 when the call is within the limit, else the seconds until one will be."""
        now = self._clock()
        left, then = self._clients.pop(client, (float(self.per_minute), now))
        left = min(self.per_minute, left + (now - then) * self.per_minute / 60)
        allowed = left >= 1
        self._clients[client] = (left - 1 if allowed else left, now)
        if len(self._clients) > self._most:
            self._clients.popitem(last=False)
        return 0.0 if allowed else (1 - left) * 60 / self.per_minute

    def __len__(self) -> int:
        return len(self._clients)


class Limits:
    """The limit on questions, and behind it the one on what is turned away with an answer object.

    A client over the first gets a sentence as an answer; one that goes on all the same, as often
    again, is refused at the door, where it costs next to nothing and takes no place in the queue.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        given = settings.questions_per_minute
        self.per_minute = QUESTIONS_PER_MINUTE if given is None else given
        self._own_machine_is_free = given is None
        self._questions = RateLimiter(max(1, self.per_minute), clock)
        self._excuses = RateLimiter(max(1, self.per_minute), clock)

    def take(self, scope: Scope) -> tuple[float, bool]:
        """Seconds until this client may ask again, 0 for now; and whether it is to be refused."""
        if not self.per_minute or (self._own_machine_is_free and self._is_own_machine(scope)):
            return 0.0, False
        client = client_of(scope, self._settings.client_header, self._settings.proxy_hops)
        wait = self._questions.take(client)
        return wait, bool(wait and self._excuses.take(client))

    def _is_own_machine(self, scope: Scope) -> bool:
        """Whether a request begins on this machine, and doesn't only come from a proxy on it."""
        if self._settings.client_header or any(n in _FORWARDED for n, _ in scope["headers"]):
            return False
        address = _address(_peer(scope))
        return address is not None and address.is_loopback


def client_of(scope: Scope, header: str | None, hops: int = 1) -> str:
    """By what a client is counted: its address, of IPv6 the /64 network that one household gets.

    `header` is the one that the nearest proxy sets; each of `hops` proxies adds an address at its
    end, so what a client wrote there itself is never looked at. Without it, or where it holds no
    address, it is the other end of the connection.
    """
    name = (header or "").lower().encode()
    values = [value.decode("latin-1") for key, value in scope["headers"] if header and key == name]
    entries = [entry.strip() for entry in ",".join(values).split(",")]
    address = _address(entries[-hops]) if len(entries) >= hops else None
    address = address or _address(_peer(scope))
    if address is None:
        return _peer(scope)
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address, with or without brackets and port."""
    bare = text.partition("]")[0].removeprefix("[")
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
