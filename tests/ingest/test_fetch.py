"""Polite, bounded fetching against a real server."""

from __future__ import annotations

import gzip
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from rag.ingest.cache import PageCache
from rag.ingest.fetch import Fetcher, FetchError, Limits
from tests.ingest.server import Reply, Site, moved, page

FAST = Limits(delay=0, timeout=0.5, attempts=3, backoff=0.01, max_bytes=100_000, allow_private=True)


def reason(fetcher: Fetcher, url: str) -> str:
    with pytest.raises(FetchError) as caught:
        fetcher.get(url)
    return caught.value.reason


def test_the_client_gives_its_name(site: Site) -> None:
    site.replies["/a"] = page("<p>a</p>")
    with Fetcher(FAST) as fetcher:
        fetcher.get(f"{site.url}/a")
    assert all(agent.startswith("FootnoteBot/") for agent in site.agents)


def test_robots_txt_is_honoured_wildcards_too(site: Site) -> None:
    site.replies["/robots.txt"] = Reply(
        b"User-agent: *\nDisallow: /*.php$\nDisallow: /private\nAllow: /private/ok\n"
    )
    for path in ("/private/x", "/private/ok", "/x.php", "/x.php?y"):
        site.replies[path] = page("<p>x</p>")
    with Fetcher(FAST) as fetcher:
        assert reason(fetcher, f"{site.url}/private/x") == "robots.txt asks not to fetch it"
        assert reason(fetcher, f"{site.url}/x.php") == "robots.txt asks not to fetch it"
        fetcher.get(f"{site.url}/private/ok")
        fetcher.get(f"{site.url}/x.php?y")
    assert site.count("/private/x") == 0
    assert site.count("/robots.txt") == 1


def test_rules_for_this_client_come_before_the_general_ones(site: Site) -> None:
    site.replies["/robots.txt"] = Reply(
        b"User-agent: *\nDisallow:\n\nUser-agent: FootnoteBot\nDisallow: /\n"
    )
    with Fetcher(FAST) as fetcher:
        assert not fetcher.allowed(f"{site.url}/a")


def test_a_broken_robots_txt_forbids_and_a_missing_one_allows(site: Site) -> None:
    site.replies["/a"] = page("<p>a</p>")
    with Fetcher(FAST) as fetcher:
        fetcher.get(f"{site.url}/a")
    site.replies["/robots.txt"] = Reply(b"", 500)
    with Fetcher(FAST) as fetcher:
        assert reason(fetcher, f"{site.url}/a") == "robots.txt can't be read"


def test_the_delay_lies_between_requests(site: Site) -> None:
    pauses: list[float] = []
    site.replies["/robots.txt"] = Reply(b"User-agent: *\nCrawl-delay: 7\n")
    site.replies["/a"] = site.replies["/b"] = page("<p>a</p>")
    with Fetcher(Limits(delay=2, allow_private=True), sleep=pauses.append) as fetcher:
        fetcher.get(f"{site.url}/a")
        fetcher.get(f"{site.url}/b")
    assert len(pauses) == 1
    assert 6 < pauses[0] <= 7


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(site: Site, status: int) -> None:
    site.replies["/a"] = page("<p>a</p>", first=(status, status))
    with Fetcher(FAST) as fetcher:
        assert fetcher.get(f"{site.url}/a").body == b"<p>a</p>"
    assert site.count("/a") == 3


def test_attempts_end_and_waits_double(site: Site) -> None:
    pauses: list[float] = []
    site.replies["/a"] = Reply(b"", 500)
    limits = Limits(delay=0, attempts=3, backoff=1, allow_private=True)
    with Fetcher(limits, sleep=pauses.append) as fetcher:
        assert reason(fetcher, f"{site.url}/a") == "status 500"
    assert pauses == [1, 2]


def test_the_wait_that_a_server_asks_for_is_kept(site: Site) -> None:
    pauses: list[float] = []
    site.replies["/a"] = Reply(b"", 503, {"Retry-After": "5"})
    site.replies["/b"] = Reply(b"", 429, {"Retry-After": "86400"})
    limits = Limits(delay=0, attempts=2, backoff=1, allow_private=True)
    with Fetcher(limits, sleep=pauses.append) as fetcher:
        reason(fetcher, f"{site.url}/a")
        assert pauses == [5]
        reason(fetcher, f"{site.url}/b")
        assert pauses == [5]
    assert site.count("/b") == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_what_wont_pass_is_asked_once(site: Site, status: int) -> None:
    site.replies["/a"] = Reply(b"<p>no</p>", status, {"Content-Type": "text/html"})
    with Fetcher(FAST) as fetcher:
        assert reason(fetcher, f"{site.url}/a") == f"status {status}"
    assert site.count("/a") == 1


def test_redirects_give_the_final_address(site: Site) -> None:
    site.replies["/a"] = moved("b?x=1#part", 302)
    site.replies["/b?x=1"] = moved(f"{site.url}/c", 308)
    site.replies["/c"] = page("<p>c</p>")
    with Fetcher(FAST) as fetcher:
        got = fetcher.get(f"{site.url}/a")
    assert (got.url, got.requested) == (f"{site.url}/c", f"{site.url}/a")


def test_endless_redirects_end(site: Site) -> None:
    for n in range(30):
        site.replies[f"/{n}"] = moved(f"/{n + 1}")
    with Fetcher(FAST) as fetcher:
        assert reason(fetcher, f"{site.url}/0") == "too many redirects"


def test_other_schemes_are_no_web_addresses(tmp_path: Path) -> None:
    with Fetcher(FAST) as fetcher:
        for address in (
            "file:///etc/passwd",
            "ftp://host/x",
            "javascript:alert(1)",
            "nonsense",
            "",
        ):
            assert "not a web address" in reason(fetcher, address)


def test_no_server_is_said_in_words() -> None:
    with Fetcher(FAST) as fetcher:
        assert reason(fetcher, "http://127.0.0.1:9/x") == "no connection to the server"


def _endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b"x" * 10_000)


def _liar(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", "10")
    handler.end_headers()
    handler.wfile.write(b"x" * 200_000)
    handler.close_connection = True


def test_a_stream_without_end_is_cut_off(site: Site) -> None:
    site.replies["/a"] = Reply(act=_endless)
    with Fetcher(FAST) as fetcher:
        assert reason(fetcher, f"{site.url}/a") == "larger than 0.1 MB"


def test_a_length_that_lies_cant_let_more_in(site: Site) -> None:
    site.replies["/a"] = Reply(act=_liar)
    with Fetcher(FAST) as fetcher:
        assert len(fetcher.get(f"{site.url}/a").body) <= 10


def test_gzip_is_unpacked_and_bombs_arent(site: Site) -> None:
    html = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    site.replies["/a"] = Reply(gzip.compress(b"<p>small</p>"), headers=html)
    site.replies["/b"] = Reply(gzip.compress(b"0" * 30_000_000), headers=html)
    with Fetcher(FAST) as fetcher:
        assert fetcher.get(f"{site.url}/a").body == b"<p>small</p>"
        assert reason(fetcher, f"{site.url}/b") == "larger than 0.1 MB"


def test_only_what_changed_is_sent_again(site: Site, tmp_path: Path) -> None:
    site.replies["/a"] = page("<p>first</p>")
    site.replies["/plain"] = Reply(b"<p>no etag</p>", headers={"Content-Type": "text/html"})
    site.replies["/moved"] = moved("/a")
    addresses = [f"{site.url}{path}" for path in ("/a", "/plain", "/moved")]

    def run() -> list[tuple[bytes, bool]]:
        with Fetcher(FAST, PageCache(tmp_path)) as fetcher:
            return [(p.body, p.unchanged) for p in map(fetcher.get, addresses)]

    assert [unchanged for _, unchanged in run()] == [False, False, False]
    site.seen.clear()
    assert run() == [(b"<p>first</p>", True), (b"<p>no etag</p>", True), (b"<p>first</p>", True)]
    assert [status for path, status in site.seen if path == "/a"] == [304, 304]
    site.replies["/a"] = page("<p>second</p>")
    assert run()[0] == (b"<p>second</p>", False)
    assert run()[0] == (b"<p>second</p>", True)


def test_pages_of_an_unfinished_run_arent_asked_for_again(site: Site, tmp_path: Path) -> None:
    site.replies["/a"] = page("<p>a</p>")
    began = time.time()
    for _ in range(2):
        with Fetcher(FAST, PageCache(tmp_path), fresh_since=began) as fetcher:
            fetcher.get(f"{site.url}/a")
    assert site.count("/a") == 1


def test_a_damaged_cache_is_repaired(site: Site, tmp_path: Path) -> None:
    site.replies["/a"] = page("<p>a</p>")
    for _ in range(2):
        with Fetcher(FAST, PageCache(tmp_path)) as fetcher:
            assert fetcher.get(f"{site.url}/a").body == b"<p>a</p>"
        for path in tmp_path.rglob("*.body"):
            path.write_bytes(b"broken")
    assert [status for path, status in site.seen if path == "/a"] == [200, 200]


def test_a_mirror_serves_pages_under_their_own_address(site: Site) -> None:
    site.replies["/posts/a"] = moved("/posts/a/")
    site.replies["/posts/a/"] = page("<p>a</p>")
    mirror = ("https://blog.example/", f"{site.url}/")
    with Fetcher(FAST, mirror=mirror) as fetcher:
        assert fetcher.get("https://blog.example/posts/a").url == "https://blog.example/posts/a/"
