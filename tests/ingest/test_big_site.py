"""A site of 500 pages with faults of every kind: the build ends, repeats cheaply and resumes."""

# ruff: noqa: E501 (markup and sentences are easier to compare on one line)

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from rag.ingest.fetch import Limits
from rag.ingest.sources import Report, Source, collect
from tests.ingest.server import Reply, Site, moved, page

LIMITS = Limits(delay=0, timeout=1.0, attempts=2, backoff=0.01, max_bytes=2_000_000)
WORDS = (
    "index query vector passage window token answer source sentence model cache measure recall "
    "threshold language corpus page section weight layer batch latency memory thread server"
).split()


def post(number: int, note: str = "") -> str:
    """A post of about 400 words of its own."""
    chance = random.Random(number)
    paragraphs = []
    for _ in range(8):
        sentences = [
            " ".join(chance.choices(WORDS, k=10)).capitalize() + f" {chance.randint(100, 999)}."
            for _ in range(5)
        ]
        paragraphs.append("<p>" + " ".join(sentences) + "</p>")
    return (
        f"<!doctype html><html lang=en><head><title>Post {number} | Notes</title></head><body>"
        f"<nav><a href=/>Home</a> <a href=/tags/>Tags</a></nav><main><article><h1>Post {number}</h1>"
        f"<p>{note}This is what post number {number} has to say at the start.</p>"
        f"<h2 id=part>Part</h2>{''.join(paragraphs)}</article></main><footer>Notes</footer></body></html>"
    )


def hang(handler: BaseHTTPRequestHandler) -> None:
    """Says nothing until the client has left."""
    time.sleep(3.0)


def trickle(handler: BaseHTTPRequestHandler) -> None:
    """Sends a byte now and then, without end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def break_off(handler: BaseHTTPRequestHandler) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b"<p>half")
    handler.wfile.flush()
    handler.close_connection = True


HTML = {"Content-Type": "text/html"}
BOMB = Reply(
    __import__("gzip").compress(b" " * 50_000_000), headers={**HTML, "Content-Encoding": "gzip"}
)
FAULTS: dict[str, tuple[Reply, str]] = {
    "/posts/gone": (Reply(b"", 404), "status 404"),
    "/posts/removed": (Reply(b"", 410), "status 410"),
    "/posts/secret": (Reply(b"", 403), "status 403"),
    "/posts/broken": (Reply(b"", 500), "status 500"),
    "/posts/busy": (Reply(b"", 503), "status 503"),
    "/posts/later": (Reply(b"", 429, {"Retry-After": "3600"}), "status 429"),
    "/posts/hangs": (Reply(act=hang), "no answer in time"),
    "/posts/trickles": (Reply(act=trickle), "no end in time"),
    "/posts/breaks": (Reply(act=break_off), "the connection broke off"),
    "/posts/image": (Reply(b"GIF89a", headers={"Content-Type": "image/gif"}), "is image/gif, not a page"),
    "/posts/data": (Reply(b"{}", headers={"Content-Type": "application/json"}), "is application/json, not a page"),
    "/posts/paper": (Reply(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}), "is application/pdf, not a page"),
    "/posts/circle": (moved("/posts/circle2"), "a redirect loop"),
    "/posts/circle2": (moved("/posts/circle"), "a redirect loop"),
    "/posts/itself": (moved("/posts/itself"), "a redirect loop"),
    "/posts/nowhere": (Reply(b"", 302), "status 302 without an address"),
    "/posts/mail": (moved("mailto:me@example.org"), "not a valid address"),
    "/posts/huge": (Reply(b"<p>" + b"x " * 25_000_000, headers=HTML), "larger than 2 MB"),
    "/posts/bomb": (BOMB, "larger than 2 MB"),
    "/posts/garbled": (Reply(b"not gzip", headers={**HTML, "Content-Encoding": "gzip"}), "its compression is broken"),
    "/posts/strange": (Reply(b"x", headers={**HTML, "Content-Encoding": "zz"}), "packed in an unknown way (zz)"),
    "/posts/empty": (Reply(b"", headers=HTML), "empty"),
    "/posts/blank": (page("<html><body> </body></html>"), "no text"),
    "/posts/frame": (page("<html><body><script>go()</script><p>Hi</p></body></html>"), "only 1 words of text"),
    "/posts/program.html": (Reply(b"\x7fELF\0\0\1\2" * 500, headers=HTML), "binary, not a page"),
    "/posts/soft": (page("<title>Page not found</title><h1>404</h1><p>Sorry, we couldn't find what you asked for here.</p>"), "an error page"),
    "/posts/copy": (page(post(7)), "the same text as"),
    "/private/post": (page(post(9001)), "robots.txt asks not to fetch it"),
    "/tags/python": (page(post(9002)), "a list of pages"),
    "http://elsewhere.invalid/post": (Reply(), "on another site"),
}  # fmt: skip


def build_site(site: Site, posts: int = 500) -> None:
    """Fills the site: posts, 30 faults, one page that fails once, one that moved."""
    for number in range(posts):
        site.replies[f"/posts/{number}"] = page(post(number))
    site.replies["/posts/3"].first = (500,)
    site.replies["/posts/4"] = moved("/posts/four")
    site.replies["/posts/four"] = page(post(4))
    for path, (reply, _) in FAULTS.items():
        site.replies[path] = reply
    site.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /private/\n")
    addresses = [f"/posts/{number}" for number in range(posts)]
    # Faults are spread over the build, not heaped at its end.
    for place, path in enumerate(FAULTS):
        addresses.insert(place * 16, path)
    entries = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    site.replies["/sitemap.xml"] = Reply(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode(),
        headers={"Content-Type": "application/xml"},
    )


def run(site: Site, cache: Path) -> tuple[Report, set[str]]:
    report = Report()
    source = Source("sitemap", f"{site.url}/sitemap.xml")
    titles = {d.title for d in collect(source, report, delay=0, cache_dir=cache, limits=LIMITS)}
    return report, titles


def test_five_hundred_pages_with_thirty_faults(site: Site, tmp_path: Path) -> None:
    assert len(FAULTS) == 30
    build_site(site)
    started = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report, titles = run(site, tmp_path)
    first_seconds = time.monotonic() - started
    # Kilobytes: far less than the 50 MB pages, or 500 documents, would take.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000
    assert report.found == 530
    assert report.indexed == 500
    assert titles == {f"Post {number}" for number in range(500)}
    for path, (_, reason) in FAULTS.items():
        address = path if path.startswith("http") else site.url + path
        assert report.skipped[address].startswith(reason), path
    assert len(report.skipped) == 30

    # The second build asks, fetches what changed, and takes over the rest.
    for number in (10, 20, 30):
        site.replies[f"/posts/{number}"] = page(post(number, "New. "))
    site.seen.clear()
    started = time.monotonic()
    again, _ = run(site, tmp_path)
    second_seconds = time.monotonic() - started
    assert again.indexed == 500
    assert again.unchanged == 497
    bodies = [path for path, status in site.seen if status == 200 and path[7:].isdigit()]
    assert sorted(bodies) == ["/posts/10", "/posts/20", "/posts/30"]
    print(f"first {first_seconds:.1f} s, second {second_seconds:.1f} s")


SCRIPT = """
import sys
from pathlib import Path
from rag.ingest.sources import Report, Source, collect
from tests.ingest.test_big_site import LIMITS
for document in collect(Source("sitemap", sys.argv[1]), Report(), delay=0, cache_dir=Path(sys.argv[2]), limits=LIMITS):
    print(document.title, flush=True)
"""


@pytest.mark.parametrize("kills", [2])
def test_killed_half_way_it_resumes(site: Site, tmp_path: Path, kills: int) -> None:
    for number in range(60):
        site.replies[f"/posts/{number}"] = page(post(number))
    entries = "".join(f"<url><loc>/posts/{number}</loc></url>" for number in range(60))
    site.replies["/sitemap.xml"] = Reply(f"<urlset>{entries}</urlset>".encode())
    for _ in range(kills):
        command = [sys.executable, "-c", SCRIPT, f"{site.url}/sitemap.xml", str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for _line, _ in zip(process.stdout, range(25), strict=False):
                pass
            process.kill()
    report, titles = run(site, tmp_path)
    assert titles == {f"Post {number}" for number in range(60)}
    # What the killed runs had isn't even asked for again.
    assert report.unchanged >= 25
    assert all(site.count(f"/posts/{number}") == 1 for number in range(25))
    report, _ = run(site, tmp_path)
    assert all(site.count(f"/posts/{number}") == 2 for number in range(25))
    assert report.unchanged == 60
