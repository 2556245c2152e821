"""Where the server listens; apart from it, so that a port in use is said before anything is loaded."""

from __future__ import annotations

import socket

from rag.settings import Settings
from rag.types import FootnoteError


def bind(settings: Settings) -> socket.socket:
    """Takes the address without listening on it yet: clients are refused until `serve` runs.

    Raises FootnoteError when the port is in use or the host isn't one of this machine.
    """
    host, port = settings.host.strip("[]"), settings.port
    where = f"{settings.host}:{port}"
    try:
        if port > 65535:
            raise OverflowError(port)  # getaddrinfo would take it modulo 65536
        family, kind, protocol, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise FootnoteError(
            f"The server can't use {where}: no such host or port. Set HOST and PORT, or use "
            "--host and --port; 127.0.0.1 is this machine, 0.0.0.0 every network it is in."
        ) from error
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(target)
    except OSError as error:
        listener.close()
        raise unusable(where, error) from error
    return listener


def unusable(where: str, error: OSError) -> FootnoteError:
    """What to say of an address that the system refuses."""
    return FootnoteError(
        f"The server can't use {where}: {error.strerror or error}. Choose another address with "
        "HOST and PORT, or --host and --port."
    )
