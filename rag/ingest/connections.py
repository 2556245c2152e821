"""Where a fetch may connect to, and how long it may hold on to a connection.

What a stranger's page, sitemap or redirect names must not make this machine ask its own network.
The check looks at the address that was really connected to, before anything is sent: what a name
meant a moment earlier says nothing (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx

Origin = tuple[str, int]
"""Host and port."""


class PrivateAddress(Exception):
    """A name led to an address that isn't on the public internet; its text is that address."""


class Connections:
    """A request hook for an `httpx.Client` (`event_hooks={"request": [connections.watch]}`).

    Hosts of the addresses in `typed` may be private, at the port given and at 80 and 443: the user
    named them. With `allow_private`
    all may. A proxy that the environment names connects in this machine's place; what it may reach
    is for it to say, except for private addresses that are spelt out.
    """

    def __init__(self, typed: Iterable[str], *, allow_private: bool = False) -> None:
        named = [origin for address in typed if (origin := _origin(address))]
        self._typed = {(host, port) for host, given in named for port in (given, 80, 443)}
        self._allow_private = allow_private
        self._streams: dict[Origin, Any] = {}
        self.hung_up = False
        """Whether the last request was cut off by its deadline."""

    def watch(self, request: httpx.Request) -> None:
        """Raises PrivateAddress for a private address that is spelt out."""
        origin = _origin(str(request.url))
        free = self._allow_private or origin in self._typed
        if not free and origin and not is_public(origin[0], unknown=True):
            raise PrivateAddress(origin[0])
        connecting: list[str] = []
        trace = partial(self._trace, origin, free, connecting)
        request.extensions = {**request.extensions, "trace": trace}

    @contextmanager
    def deadline(self, address: str, seconds: float) -> Iterator[None]:
        """Hangs up after `seconds`: a server that sends a byte now and then never times out."""
        self.hung_up = False
        timer = threading.Timer(seconds, self._hang_up, (address,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _trace(
        self, origin: Origin | None, free: bool, connecting: list[str], event: str, info: Any
    ) -> None:
        """Called by httpcore at every step of a request."""
        if event == "connection.connect_tcp.started":
            connecting[:] = [info["host"]]
        elif event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            stream = info["return_value"]
            if origin:
                self._streams[origin] = stream
            through_proxy = origin is None or connecting != [origin[0]]
            if free or through_proxy or event != "connection.connect_tcp.complete":
                return
            peer = str(stream.get_extra_info("server_addr")[0])
            if not is_public(peer):
                stream.close()
                raise PrivateAddress(peer)

    def _hang_up(self, address: str) -> None:
        self.hung_up = True
        origin = _origin(address)
        stream = self._streams.get(origin) if origin else None
        if stream is not None:
            try:
                # Of the socket below TLS: the thread that reads is in the middle of the latter.
                socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)
            except OSError:
                return  # it was closed at this very moment


def is_public(host: str, *, unknown: bool = False) -> bool:
    """Whether an IP address is on the public internet; `unknown` is the answer for names."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0].strip("[]"))
    except ValueError:
        return unknown
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            address = ipaddress.ip_address(int(address) & 0xFFFFFFFF)
        else:
            inner = address.ipv4_mapped or address.sixtofour
            address = inner or (address.teredo[1] if address.teredo else address)
    return address.is_global and not address.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def _origin(address: str) -> Origin | None:
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None
    return (parts.hostname.lower(), port) if parts.hostname else None
