"""Finding a site's pages: sitemaps as they are found in the wild, feeds, lists, saved sites."""

# ruff: noqa: E501 (markup and sentences are easier to compare on one line)

from __future__ import annotations

from pathlib import Path

import pytest

from rag.ingest.fetch import Fetcher, Limits, Page
from rag.ingest.site import read_feed, read_list, read_sitemap, same_site, unwanted
from rag.ingest.sources import Report, Source, collect
from rag.types import FootnoteError
from tests.ingest.server import Reply, Site, moved, packed, page

FAST = Limits(delay=0, timeout=1, attempts=1, backoff=0, allow_private=True)
XML = {"Content-Type": "application/xml"}
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
TEXT = "<p>This page says something of its own about the number {0}, which is {0} and no other.</p>"


def urlset(*addresses: str) -> bytes:
    return (
        f"<urlset {NS}>{''.join(f'<url><loc>{a}</loc></url>' for a in addresses)}</urlset>".encode()
    )


def index(*addresses: str) -> bytes:
    return (
        f"<sitemapindex {NS}>"
        + "".join(f"<sitemap><loc>{a}</loc></sitemap>" for a in addresses)
        + "</sitemapindex>"
    ).encode()


def post(number: int, title: str = "") -> str:
    return (
        f'<html lang="en"><head><title>{title or f"Post {number}"}</title></head><body><article>'
        f"<h1>{title or f'Post {number}'}</h1>{TEXT.format(number) * 1}<p>More on {number}, and more again.</p></article></body></html>"
    )


def sitemap(site: Site, path: str = "/sitemap.xml") -> list[str]:
    with Fetcher(FAST) as fetcher:

        def get(url: str) -> Page:
            return fetcher.get(url, types=None)

        return [url.removeprefix(site.url) for url in read_sitemap(site.url + path, get)]


def test_an_index_with_relative_absolute_and_repeated_addresses(site: Site) -> None:
    site.replies["/sitemap.xml"] = Reply(
        index("/a.xml", f"{site.url}/b.xml", "/a.xml", "/sitemap.xml"), headers=XML
    )
    site.replies["/a.xml"] = Reply(urlset("/1", " \n/2\n ", f"{site.url}/3#top"), headers=XML)
    site.replies["/b.xml"] = Reply(urlset("/3", "/4?x=1&amp;y=2"), headers=XML)
    assert sitemap(site) == ["/1", "/2", "/3", "/4?x=1&y=2"]
    assert site.count("/a.xml") == 1


@pytest.mark.parametrize("announced", [True, False])
def test_gzip_with_and_without_its_header(site: Site, announced: bool) -> None:
    site.replies["/sitemap.xml.gz"] = packed(
        urlset("/1"), "application/octet-stream", announced=announced
    )
    assert sitemap(site, "/sitemap.xml.gz") == ["/1"]


def test_a_redirected_sitemap(site: Site) -> None:
    site.replies["/sitemap.xml"] = moved("/maps/main.xml")
    site.replies["/maps/main.xml"] = Reply(urlset("one"), headers=XML)
    assert sitemap(site) == ["/maps/one"]


def test_missing_lastmod_images_and_no_namespace(site: Site) -> None:
    body = (
        b'<?xml version="1.0"?><urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
        b"<url><loc>/1</loc><image:image><image:loc>/cat.jpg</image:loc></image:image></url>"
        b"<url><lastmod>2020-01-01</lastmod></url><url><loc>/2</loc><lastmod>bad</lastmod></url></urlset>"
    )
    site.replies["/sitemap.xml"] = Reply(body, headers=XML)
    assert sitemap(site) == ["/1", "/2"]


def test_a_list_of_addresses_in_plain_text(site: Site) -> None:
    site.replies["/sitemap.txt"] = Reply(f"{site.url}/1\r\n{site.url}/2\r\n".encode())
    assert sitemap(site, "/sitemap.txt") == ["/1", "/2"]


def test_a_front_page_leads_to_the_sitemap(site: Site) -> None:
    site.replies["/"] = page("<!doctype html><p>Hello</p>")
    site.replies["/robots.txt"] = Reply(f"Sitemap: {site.url}/maps.xml\n".encode())
    site.replies["/maps.xml"] = Reply(urlset("/1"), headers=XML)
    assert sitemap(site, "/") == ["/1"]


def test_a_broken_part_doesnt_spoil_the_rest(site: Site) -> None:
    site.replies["/sitemap.xml"] = Reply(index("/gone.xml", "/a.xml", "/cut.xml"), headers=XML)
    site.replies["/a.xml"] = Reply(urlset("/1"), headers=XML)
    site.replies["/cut.xml"] = Reply(urlset("/2", "/3")[:-30], headers=XML)
    assert sitemap(site)[:2] == ["/1", "/2"]


def test_entities_arent_resolved(site: Site, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("/secret-page")
    site.replies["/sitemap.xml"] = Reply(
        f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'.encode() + urlset("/1", "&s;"),
        headers=XML,
    )
    assert "/secret-page" not in sitemap(site)


def test_what_is_no_sitemap_is_refused(site: Site) -> None:
    site.replies["/sitemap.xml"] = Reply(b"<rss><channel></channel></rss>", headers=XML)
    with pytest.raises(FootnoteError, match="no sitemap"):
        sitemap(site)


def test_one_site_may_have_several_hosts() -> None:
    assert same_site("https://www.example.com/a", "https://example.com/sitemap.xml")
    assert same_site("https://blog.example.com/a", "https://www.example.com/sitemap.xml")
    assert not same_site("https://example.org/a", "https://example.com/sitemap.xml")
    assert not same_site("https://one.co.uk/a", "https://two.co.uk/a")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/posts/tags-in-git", None),
        ("/posts/page-speed", None),
        ("/2024/05/category-theory", None),
        ("/topics/search/how-bm25-works", None),
        ("/archives/1234", None),
        ("/2024/05/06/a-post", None),
        ("/tag/python", "a list of pages"),
        ("/2024/05/", "a list of pages"),
        ("/blog/archive/2024", "a list of pages"),
        ("/blog/tags/python/", "a list of pages"),
        ("/tags/", "a list of pages"),
        ("/category/news/local/", "a list of pages"),
        ("/es/etiquetas/red", "a list of pages"),
        ("/author/ana/", "a list of pages"),
        ("/blog/page/2/", "a list of pages"),
        ("/?paged=3", "a list of pages"),
        ("/feed.rss", "no page"),
        ("/img/a.PNG", "no page"),
    ],
)
def test_listing_addresses_are_known(path: str, reason: str | None) -> None:
    assert unwanted(f"https://example.com{path}", (), ()) == reason


@pytest.mark.parametrize(
    ("include", "exclude", "reason"),
    [
        (("/posts/*",), (), None),
        (("/posts/",), (), None),
        (("https://example.com/posts/*",), (), None),
        (("/notes/*",), (), "not included"),
        (("/posts/*",), ("*draft*",), "excluded"),
        ((), ("/posts/",), "excluded"),
    ],
)
def test_patterns_decide_what_is_wanted(
    include: tuple[str, ...], exclude: tuple[str, ...], reason: str | None
) -> None:
    assert unwanted("https://example.com/posts/a-draft", include, exclude) == reason


def test_forty_posts_among_five_thousand_addresses(site: Site) -> None:
    posts = [f"/posts/{n}" for n in range(40)]
    others = [f"/shop/item-{n}" for n in range(4960)]
    site.replies["/sitemap.xml"] = Reply(urlset(*others, *posts), headers=XML)
    for n, path in enumerate(posts):
        site.replies[path] = page(post(n))
    report = Report()
    source = Source("sitemap", f"{site.url}/sitemap.xml", include=("/posts/*",))
    assert len(list(collect(source, report, delay=0))) == 40
    assert report.found == 5000
    assert len(report.skipped) == 4960
    assert len(site.seen) == 42


RSS = """<rss version="2.0"><channel><title>T</title><link>{0}/</link>
<item><title>One</title><link>{0}/1</link></item><item><title>Two</title><link>/2</link></item>
<item><title>None</title></item><item><title>One again</title><link>{0}/1#c</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="{0}/"><title>T</title>
<entry><title>One</title><link rel="self" href="/x.xml"/><link href="1"/></entry>
<entry><title>Two</title><link rel="alternate" href="/2"/></entry></feed>"""


@pytest.mark.parametrize("feed", [RSS, ATOM])
def test_feeds(site: Site, feed: str) -> None:
    site.replies["/feed"] = Reply(feed.format(site.url).encode(), headers=XML)
    with Fetcher(FAST) as fetcher:
        found = read_feed(f"{site.url}/feed", lambda url: fetcher.get(url, types=None))
    assert found == [f"{site.url}/1", f"{site.url}/2"]


def test_what_is_no_feed_is_refused(site: Site) -> None:
    site.replies["/feed"] = page("<p>nothing</p>")
    with pytest.raises(FootnoteError, match="no RSS or Atom feed"):
        list(collect(Source("feed", f"{site.url}/feed"), Report(), delay=0))


def test_a_list_of_addresses_with_remarks() -> None:
    text = "\ufeff# posts\nhttps://a.example/1  # the first\n\nhttps://a.example/2\nhttps://a.example/1\n"
    assert read_list(text) == ["https://a.example/1", "https://a.example/2"]


def test_pages_of_a_list(site: Site, tmp_path: Path) -> None:
    site.replies["/1"] = page(post(1))
    path = tmp_path / "urls.txt"
    path.write_text(f"{site.url}/1\n{site.url}/missing\nno-address\n")
    report = Report()
    documents = list(collect(Source("urls", str(path)), report, delay=0))
    assert [d.title for d in documents] == ["Post 1"]
    assert report.skipped[f"{site.url}/missing"] == "status 404"
    assert "not a web address" in report.skipped["no-address"]


def test_a_saved_site(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text(
        post(1).replace("<title>", '<link rel="canonical" href="https://blog.example/b/"><title>')
    )
    (tmp_path / "a.htm").write_text(
        "<!-- saved from url=(0024)https://blog.example/a -->" + post(2)
    )
    (tmp_path / "c.html").write_text(post(3))
    (tmp_path / "copy.html").write_text(post(3))
    (tmp_path / "junk.html").write_bytes(b"\x89PNG\0\0\0" * 100)
    (tmp_path / "notes.txt").write_text("not a page")
    report = Report()
    documents = list(collect(Source("html", str(tmp_path)), report))
    assert [d.url for d in documents] == [
        "https://blog.example/a", (tmp_path / "c.html").as_uri(), "https://blog.example/b/",
    ]  # fmt: skip
    assert report.found == 5
    assert sorted(r.split(" file:")[0] for r in report.skipped.values()) == [
        "binary, not a page",
        "the same text as",
    ]


def test_the_limit_counts_pages_indexed(site: Site) -> None:
    site.replies["/sitemap.xml"] = Reply(urlset("/x", *(f"/{n}" for n in range(9))), headers=XML)
    for n in range(9):
        site.replies[f"/{n}"] = page(post(n))
    report = Report()
    assert (
        len(list(collect(Source("sitemap", f"{site.url}/sitemap.xml"), report, limit=3, delay=0)))
        == 3
    )
    assert site.count("/3") == 0


def test_a_source_that_gives_nothing_is_an_error(site: Site, tmp_path: Path) -> None:
    site.replies["/sitemap.xml"] = Reply(urlset("/x"), headers=XML)
    with pytest.raises(FootnoteError, match="status 404"):
        list(collect(Source("sitemap", f"{site.url}/sitemap.xml"), Report(), delay=0))
    for source in (Source("html", str(tmp_path / "no")), Source("urls", str(tmp_path / "no"))):
        with pytest.raises(FootnoteError):
            list(collect(source, Report()))


def test_the_report_names_every_fault(site: Site) -> None:
    site.replies["/sitemap.xml"] = Reply(urlset("/0", "/gone", "/tags/x"), headers=XML)
    site.replies["/0"] = page(post(0))
    report = Report()
    list(collect(Source("sitemap", f"{site.url}/sitemap.xml"), report, delay=0))
    text = "\n".join(report.lines())
    assert "3 pages found, 1 indexed" in text
    assert f"{site.url}/gone" in text
    assert "skipped 1: status 404" in text
