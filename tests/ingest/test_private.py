"""What a page, a sitemap or a redirect names can't make the builder ask its own network."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from rag.ingest.connections import is_public
from rag.ingest.fetch import Fetcher, FetchError, Limits
from rag.ingest.sources import Report, Source, collect
from rag.types import FootnoteError
from tests.ingest.server import Reply, Site, moved, page, serving

FAST = Limits(delay=0, timeout=0.5, attempts=2, backoff=0.01)
ARTICLE = "<title>A</title><article><h1>A</h1>" + "<p>Words about a thing, and more of it.</p>" * 20


@pytest.fixture
def inner() -> Iterator[Site]:
    """A server of the own network that nobody named."""
    with serving() as other:
        other.replies["/secret"] = page(ARTICLE)
        yield other


def reason(fetcher: Fetcher, url: str) -> str:
    with pytest.raises(FetchError) as caught:
        fetcher.get(url)
    return caught.value.reason


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("::ffff:93.184.216.34", True),
        ("127.0.0.1", False), ("127.9.9.9", False), ("0.0.0.0", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False),
        ("100.64.0.1", False), ("224.0.0.1", False), ("255.255.255.255", False),
        ("::1", False), ("::", False), ("fe80::1%eth0", False), ("fc00::1", False),
        ("::ffff:127.0.0.1", False), ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False),
        ("not an address", False),
    ],
)  # fmt: skip
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_a_redirect_into_the_own_network_is_not_followed(site: Site, inner: Site) -> None:
    site.replies["/a"] = moved(f"{inner.url}/secret")
    with Fetcher(FAST, typed=[site.url]) as fetcher:
        assert "private network" in reason(fetcher, f"{site.url}/a")
    assert inner.seen == []


def test_a_redirect_within_the_typed_site_is(site: Site) -> None:
    site.replies["/a"] = moved(f"{site.url}/b")
    site.replies["/b"] = page(ARTICLE)
    with Fetcher(FAST, typed=[f"{site.url}/sitemap.xml"]) as fetcher:
        assert fetcher.get(f"{site.url}/a").url == f"{site.url}/b"


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1", "127.1", "[::1]"])
def test_other_spellings_of_this_machine_are_refused_before_anything_is_sent(
    inner: Site, host: str
) -> None:
    port = inner.server_address[1]
    with Fetcher(FAST) as fetcher:
        why = reason(fetcher, f"http://{host}:{port}/secret")
    assert "private network" in why or (host == "[::1]" and "no connection" in why)
    assert inner.seen == []


def test_a_name_that_changes_its_meaning_is_judged_by_where_it_connects(
    inner: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    resolve = socket.getaddrinfo

    def rebinding(host: Any, port: Any, *rest: Any, **named: Any) -> Any:
        asked.append(host)
        return resolve("127.0.0.1" if host == "rebind.example" else host, port, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with Fetcher(FAST) as fetcher:
        why = reason(fetcher, f"http://rebind.example:{inner.server_address[1]}/secret")
    assert "127.0.0.1" in why
    assert "rebind.example" in asked
    assert inner.seen == []


def test_robots_txt_cant_lead_there_either(site: Site, inner: Site) -> None:
    site.replies["/robots.txt"] = moved(f"{inner.url}/secret")
    site.replies["/a"] = page(ARTICLE)
    with Fetcher(FAST, typed=[site.url]) as fetcher:
        fetcher.get(f"{site.url}/a")
    assert inner.seen == []


def test_what_a_feed_names_is_left_out_and_the_reason_is_told(site: Site, inner: Site) -> None:
    entries = "".join(
        f"<item><title>x</title><link>{url}</link></item>"
        for url in (f"{site.url}/own", f"{inner.url}/secret", "http://169.254.169.254/latest/")
    )
    site.replies["/feed"] = Reply(
        f'<rss version="2.0"><channel>{entries}</channel></rss>'.encode(),
        headers={"Content-Type": "application/rss+xml"},
    )
    site.replies["/own"] = page(ARTICLE)
    report = Report()
    source = Source("feed", f"{site.url}/feed")
    assert len(list(collect(source, report, delay=0, limits=FAST))) == 1
    assert inner.seen == []
    assert len([why for why in report.skipped.values() if "private network" in why]) == 2


def test_a_flag_allows_it(site: Site, inner: Site) -> None:
    site.replies["/a"] = moved(f"{inner.url}/secret")
    with Fetcher(Limits(delay=0, allow_private=True)) as fetcher:
        assert fetcher.get(f"{site.url}/a").url == f"{inner.url}/secret"


def _drip(handler: BaseHTTPRequestHandler) -> None:
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Endless: ")
        for _ in range(300):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)
    handler.close_connection = True


def test_headers_that_never_end_are_cut_off(site: Site) -> None:
    site.replies["/a"] = Reply(act=_drip)
    started = time.monotonic()
    with Fetcher(FAST, typed=[site.url]) as fetcher:
        assert reason(fetcher, f"{site.url}/a") == "no end in time"
    assert time.monotonic() - started < 5


def _entity(n: int) -> str:
    inside = f"&e{n - 1};" * 10 if n else "http://127.0.0.1/"
    return f'<!ENTITY e{n} "{inside}">'


BOMB = "<!DOCTYPE x [" + "".join(map(_entity, range(9)))


@pytest.mark.parametrize("entity", ["&e8;", "&file;"])
def test_entities_in_a_sitemap_expand_to_nothing(site: Site, tmp_path: Path, entity: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("http://secret.example/")
    site.replies["/sitemap.xml"] = Reply(
        f'{BOMB}<!ENTITY file SYSTEM "{secret.as_uri()}">]>'
        f"<urlset><url><loc>{entity}</loc></url>"
        f"<url><loc>{site.url}/own</loc></url></urlset>".encode(),
        headers={"Content-Type": "application/xml"},
    )
    site.replies["/own"] = page(ARTICLE)
    report = Report()
    started = time.monotonic()
    with contextlib.suppress(FootnoteError):
        list(collect(Source("sitemap", f"{site.url}/sitemap.xml"), report, delay=0, limits=FAST))
    assert time.monotonic() - started < 5
    assert not any("secret" in address for address in report.skipped)
