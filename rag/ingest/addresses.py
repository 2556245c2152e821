"""Addresses as pages write them, which is not always as they should."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit


def is_valid(url: str) -> bool:
    """Whether the address can be taken apart at all."""
    try:
        parts = urlsplit(url)
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def resolve(base: str, href: str) -> str | None:
    """The absolute address of a link without its fragment; None when it is malformed."""
    try:
        address = urljoin(base, href.strip()).partition("#")[0]
    except ValueError:
        return None
    return address if is_valid(address) else None


def path_of(href: str) -> str:
    """The path of a link; empty when it is malformed."""
    return urlsplit(href).path if is_valid(href) else ""
