"""What is declared beats what is guessed, and nothing wrong is said where nothing is known."""

# ruff: noqa: E501 (markup and sentences are easier to compare on one line)

from __future__ import annotations

import pytest

from rag.ingest.extract import extract
from rag.ingest.metadata import parse_date
from rag.types import Document

TEXT = (
    "<p>Este artículo explica cómo se miden las respuestas de un sistema y por qué importa.</p>" * 2
)
URL = "https://blog.example/2019/01/02/one"


def page(
    head: str = "",
    body: str = f"<article><h1>One</h1>{TEXT}</article>",
    html: str = "",
    url: str = URL,
) -> Document:
    return extract(f"<html {html}><head>{head}</head><body>{body}</body></html>".encode(), url)


@pytest.mark.parametrize(
    ("head", "address"),
    [
        ('<link rel="canonical" href="/posts/one">', "https://blog.example/posts/one"),
        (
            '<link rel="canonical" href="https://first.example/one#top">',
            "https://first.example/one",
        ),
        ('<meta property="og:url" content="https://blog.example/one">', "https://blog.example/one"),
        # the front page as the canonical address of every page is a mistake
        ('<link rel="canonical" href="https://blog.example/">', URL),
        ('<link rel="canonical" href="">', URL),
        ("", URL),
    ],
)
def test_canonical_address(head: str, address: str) -> None:
    assert page(head).url == address


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        ("<title>Why caches lie | Notes</title>", "Why caches lie", "Why caches lie"),
        ("<title>Notes - Why caches lie</title>", "Why caches lie", "Why caches lie"),
        ("<title>Why caches lie — My Notes</title><meta property=og:site_name content='My Notes'>", "", "Why caches lie"),
        ("<title>Why caches lie · blog.example</title>", "", "Why caches lie"),
        ("<title>x</title><meta property=og:title content='Why caches lie - Notes'><meta property=og:site_name content=Notes>", "", "Why caches lie"),
        ("<title>C++ - the good parts</title>", "C++ - the good parts", "C++ - the good parts"),
        ("<title>Self-hosting: a year later</title>", "", "Self-hosting: a year later"),
        ("", "", "one"),
    ],
)  # fmt: skip
def test_title_without_the_site(head: str, heading: str, title: str) -> None:
    mark = f"<h1>{heading}</h1>" if heading else ""
    assert page(head, f"<article>{mark}{TEXT}</article>").title == title


def test_the_site_name_in_a_heading_is_no_title() -> None:
    body = f"<header><h1><a href=/>V8</a></h1></header><main><article><h1>Out of the web: a tale</h1>{TEXT}</article></main>"
    assert (
        page("<title>Out of the web: a tale · V8</title>", body).title == "Out of the web: a tale"
    )


@pytest.mark.parametrize(
    ("head", "html", "language"),
    [
        ("", 'lang="es"', "es"),
        ("", 'lang="es-AR"', "es"),
        ("", 'xml:lang="pt_BR"', "pt"),
        ('<meta http-equiv="content-language" content="es">', "", "es"),
        ('<meta property="og:locale" content="en_US">', "", "en"),
        ("", "", "es"),
    ],
)
def test_language_declared_else_detected(head: str, html: str, language: str) -> None:
    assert page(head, html=html).language == language


@pytest.mark.parametrize(
    ("head", "body", "day"),
    [
        ('<meta property="article:published_time" content="2023-05-06T23:00:00Z">', "", "2023-05-06"),
        ('<script type="application/ld+json">{"@type":"BlogPosting","datePublished":"2023-05-06"}</script>', "", "2023-05-06"),
        ('<script type="application/ld+json">{"@graph":[{"@type":"WebSite"},{"@type":["Article"],"datePublished":"2023-05-06"}]}</script>', "", "2023-05-06"),
        ('<meta name="dc.date" content="20230506">', "", "2023-05-06"),
        ("", '<time datetime="2023-05-06">yesterday</time>', "2023-05-06"),
        ("", '<p class="post-date">6 de mayo de 2023</p>', "2023-05-06"),
        ("", '<span class="byline">By me on May 6th, 2023</span>', "2023-05-06"),
        ("", "", "2019-01-02"),
    ],
)  # fmt: skip
def test_published_declared_before_guessed(head: str, body: str, day: str) -> None:
    assert page(head, f"<article><h1>One</h1>{body}{TEXT}</article>").published == day


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("3/4/2021", "es", "2021-04-03"),
        ("3/4/2021", "en", None),
        ("3/4/2021", None, None),
        ("25/12/2021", "en", "2021-12-25"),
        ("12/25/2021", "en", "2021-12-25"),
        ("4.4.2021", "en", "2021-04-04"),
        ("Dec. 3, 2021", "en", "2021-12-03"),
        ("3rd of December 2021", "en", "2021-12-03"),
        ("3 de diciembre del 2021", "es", "2021-12-03"),
        ("2021-13-45", "en", None),
        ("2999-01-01", "en", None),
        ("no date", "en", None),
    ],
)
def test_dates(text: str, language: str | None, day: str | None) -> None:
    assert parse_date(text, language) == day


@pytest.mark.parametrize(
    ("head", "body", "tags"),
    [
        ('<meta property="article:tag" content="Python"><meta property="article:tag" content="c#">', "", ("Python", "c#")),
        ("", '<p><a rel="tag" href="/tags/ddd">#ddd</a> <a rel="tag" href="/tags/cqrs">cqrs</a></p>', ("ddd", "cqrs")),
        ("", '<ul class="post-tags"><li><a href="/tags/machine-learning/">machine-learning</a></li></ul>', ("machine-learning",)),
        ('<meta name="keywords" content="faiss, index">', "", ("faiss", "index")),
        ("", '<aside><div class="tag-cloud"><a rel="tag" href="/tags/other">other</a></div></aside>', ()),
    ],
)  # fmt: skip
def test_tags_as_the_author_set_them(head: str, body: str, tags: tuple[str, ...]) -> None:
    assert page(head, f"<article><h1>One</h1>{TEXT}{body}</article>").tags == tags


def test_other_languages_of_the_same_text() -> None:
    head = (
        '<link rel="canonical" href="https://blog.example/one">'
        '<link rel="alternate" hreflang="en" href="https://blog.example/one">'
        '<link rel="alternate" hreflang="es" href="/es/uno">'
        '<link rel="alternate" hreflang="x-default" href="/">'
        '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    )
    assert page(head).alternates == ("https://blog.example/es/uno",)


def test_author() -> None:
    assert page('<meta name="author" content="Ada Byron">').author == "Ada Byron"
    assert page('<meta name="author" content="https://blog.example/ada">').author is None


def test_broken_linked_data_is_no_reason_to_fail() -> None:
    assert page('<script type="application/ld+json">{"@type": </script>').title == "One"
