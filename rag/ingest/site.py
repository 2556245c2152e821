"""Finds the addresses of a site's pages: sitemaps, feeds, lists, and which of them are wanted."""

from __future__ import annotations

import fnmatch
import io
import zlib
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import feedparser
from courlan import extract_domain
from lxml import etree

from rag.ingest.addresses import resolve
from rag.ingest.fetch import FetchError, Page
from rag.ingest.refuse import is_listing_address
from rag.types import FootnoteError

Get = Callable[[str], Page]
"""Fetches an address whatever its type; raises FetchError."""

_MOST_SITEMAPS = 2000
_MOST_UNPACKED = 60_000_000
"""Bytes of one sitemap; the protocol allows 50 MB."""
_NOT_PAGES = (
    ".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".ico", ".css", ".js", ".json", ".pdf", ".zip",
    ".gz", ".mp3", ".mp4", ".webm", ".woff", ".woff2", ".rss", ".atom",
)  # fmt: skip


def read_sitemap(
    url: str, get: Get, trouble: Callable[[str, str], None] = lambda url, reason: None
) -> Iterator[str]:
    """The addresses of all pages in a sitemap (sitemaps.org protocol 0.9), each once.

    Follows sitemap indexes, takes gzip whether announced or not, resolves relative addresses, and
    reads lists of addresses in plain text. Given a site's front page, it looks for the sitemap in
    robots.txt and at `/sitemap.xml`. Sitemaps that can't be read go to `trouble`.
    Raises FootnoteError when the first one can't be.
    """
    first = get(url)
    if _is_html(first):
        first = _discovered(first.url, get)
    pending = [first.url]
    seen_maps = {first.url, url}
    seen: set[str] = set()
    page: Page | None = first
    while pending:
        address = pending.pop(0)
        if page is None:
            try:
                page = get(address)
            except FetchError as error:
                trouble(address, error.reason)
                continue
        pages, maps, readable = _locations(page)
        if not readable:
            if address == first.url:
                raise FootnoteError(
                    f"{url} is no sitemap; give the address of the site's sitemap.xml, "
                    "or use --feed or --urls."
                )
            trouble(address, "no sitemap")
        page = None
        for found in maps:
            if found not in seen_maps and len(seen_maps) < _MOST_SITEMAPS:
                seen_maps.add(found)
                pending.append(found)
        for found in pages:
            if found not in seen:
                seen.add(found)
                yield found


def read_feed(url: str, get: Get) -> list[str]:
    """The addresses of a feed's entries (RSS, Atom), newest as the feed orders them.

    Raises FootnoteError when it is no feed.
    """
    page = get(url)
    parsed = feedparser.parse(
        io.BytesIO(page.body),
        response_headers={"content-type": page.content_type, "content-location": page.url},
        resolve_relative_uris=True,
        sanitize_html=False,
    )
    if not parsed.get("version"):
        raise FootnoteError(f"{url} is no RSS or Atom feed; give the feed's own address.")
    links = [resolve(page.url, str(entry["link"])) for entry in parsed.entries if entry.get("link")]
    return list(dict.fromkeys(link for link in links if link))


def read_list(text: str) -> list[str]:
    """Addresses from a text file: one a line, `#` begins a remark, the rest of the line is ignored."""
    found = []
    for line in text.lstrip("\ufeff").splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            found.append(words[0])
    return list(dict.fromkeys(found))


def same_site(url: str, other: str) -> bool:
    """Whether both addresses belong to one registered domain, or to one host where there is none."""
    hosts = [(urlsplit(address).hostname or "").removeprefix("www.") for address in (url, other)]
    if hosts[0] == hosts[1]:
        return True
    domains = [extract_domain(address, fast=True) for address in (url, other)]
    return domains[0] is not None and domains[0] == domains[1]


def unwanted(url: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> str | None:
    """Why an address isn't wanted, or None. Being included by a pattern beats looking like a list.

    A pattern with `*` or `?` must match the whole path or address; any other must occur in it.
    """
    if any(_matches(url, pattern) for pattern in exclude):
        return "excluded"
    if include:
        return None if any(_matches(url, pattern) for pattern in include) else "not included"
    if urlsplit(url).path.lower().endswith(_NOT_PAGES):
        return "no page"
    if is_listing_address(url):
        return "a list of pages"
    return None


def _matches(url: str, pattern: str) -> bool:
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    if "*" in pattern or "?" in pattern:
        return any(fnmatch.fnmatchcase(text, pattern) for text in (path, url))
    return pattern in url


def _is_html(page: Page) -> bool:
    head = page.body[:1000].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    return head.startswith((b"<!doctype html", b"<html")) and b"<urlset" not in head


def _discovered(url: str, get: Get) -> Page:
    """The sitemap of the site that an address belongs to."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    candidates = []
    try:
        robots = get(f"{root}/robots.txt").body.decode("utf-8", "replace")
    except FetchError:
        robots = ""
    for line in robots.splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() == "sitemap" and value.strip() and (named := resolve(root, value)):
            candidates.append(named)
    candidates += [f"{root}/sitemap.xml", f"{root}/sitemap_index.xml", f"{root}/sitemap-index.xml"]
    for candidate in candidates:
        try:
            page = get(candidate)
        except FetchError:
            continue
        if not _is_html(page):
            return page
    raise FootnoteError(
        f"{url}: the site names no sitemap; give its address, or use --feed or --urls."
    )


def _locations(page: Page) -> tuple[list[str], list[str], bool]:
    """Pages and further sitemaps that a sitemap names, and whether it is one at all."""
    body = page.body
    if body[:2] == b"\x1f\x8b":
        try:
            body = zlib.decompressobj(47).decompress(body, _MOST_UNPACKED)
        except zlib.error:
            return [], [], False
    head = body[:200].lstrip(b"\xef\xbb\xbf \r\n\t")
    if not head.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        lines = body.decode("utf-8", "replace").split()
        listed = [line for line in lines if line.startswith(("http://", "https://"))]
        return listed, [], bool(listed)
    pages: list[str] = []
    maps: list[str] = []
    readable = False
    # No entities and no network: a sitemap is data from a stranger.
    parser = etree.iterparse(
        io.BytesIO(body),
        events=("start", "end"),
        recover=True,
        resolve_entities=False,
        no_network=True,
    )
    try:
        for event, element in parser:
            name = etree.QName(element).localname.lower() if isinstance(element.tag, str) else ""
            if event == "start":
                readable = readable or name in {"urlset", "sitemapindex"}
                continue
            parent = element.getparent()
            if name == "loc" and element.text and parent is not None:
                address = resolve(page.url, element.text)
                if address is None:
                    continue
                kind = etree.QName(parent).localname.lower()
                if kind == "sitemap":
                    maps.append(address)
                elif kind == "url":
                    pages.append(address)
            elif name in {"url", "sitemap"}:
                element.clear()
    except (etree.XMLSyntaxError, ValueError):
        readable = readable and bool(pages or maps)
    return pages, maps, readable
