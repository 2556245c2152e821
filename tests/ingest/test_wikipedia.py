"""One article in MediaWiki's three markups, and the way to it."""

# ruff: noqa: E501 (markup and sentences are easier to compare on one line)

from __future__ import annotations

import pytest

from rag.ingest.chunk import chunk
from rag.ingest.extract import extract
from rag.ingest.sources import Report, Source, collect
from rag.ingest.wikipage import article_address
from rag.types import Document, FootnoteError
from tests.ingest.server import Reply, Site, moved, page

LEAD = (
    '<div role="note" class="hatnote">For the ship, see <a href="/wiki/Ship">Ship</a>.</div>'
    '<table class="infobox vcard"><caption>Ana Prieto</caption>'
    '<tr><th colspan="2"><div>Ana Prieto</div></th></tr>'
    '<tr><td colspan="2"><img src="a.jpg"></td></tr>'
    '<tr><th scope="row">Born</th><td>3 May 1871<span style="display:none"> (1871-05-03)</span><br>Cádiz</td></tr>'
    '<tr><th scope="row">Fields</th><td><ul><li>Botany</li><li>Chemistry</li></ul></td></tr></table>'
    '<p><b>Ana Prieto</b> was a botanist.<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup>'
    " She drew ferns.</p>"
)
TOC = (
    '<div id="toc" class="toc"><h2>Contents</h2><ul><li><a href="#Life">1 Life</a></li></ul></div>'
)
TABLE = (
    '<table class="wikitable"><tr><th>Year</th><th>Book</th></tr><tr><td>1899</td><td>Ferns</td></tr>'
    "<tr><td>1904</td><td>Mosses</td></tr></table>"
)
CLOSING = (
    '<div class="reflist"><ol class="references"><li>JUNK source</li></ol></div>',
    '<ul><li><a href="/wiki/JUNK">JUNK</a></li></ul>',
    '<ul><li><a class="external" href="https://x.example">JUNK</a></li></ul>'
    '<div class="navbox" role="navigation"><table><tr><th>JUNK</th></tr></table></div>',
)
SECTIONS: list[tuple[int, str, str, str]] = [
    (2, "Life", "Life", ""),
    (3, "Childhood", "Childhood", "<p>She grew up by the sea.</p>"),
    (3, "Years_in_Paris", "Years in <i>Paris</i>", "<p>She studied there.</p>"),
    (2, "Work", "Work", f"<p>Her books:</p>{TABLE}"),
    (3, "Students", "Students", "<ul><li>Rosa Gil</li><li>Juan Mora</li></ul>"),
    (2, "See_also", "See also", CLOSING[1]),
    (2, "References", "References", CLOSING[0]),
    (2, "External_links", "External links", CLOSING[2]),
]
EDIT = '<span class="mw-editsection">[<a href="/w/index.php?action=edit">edit</a>]</span>'


def old_markup() -> str:
    parts = [
        f'<h{level}><span class="mw-headline" id="{anchor}">{text}</span>{EDIT}</h{level}>{body}'
        for level, anchor, text, body in SECTIONS
    ]
    return (
        '<html lang="en"><head><title>Ana Prieto - Wikipedia</title><meta name="generator" content="MediaWiki 1.30">'
        '</head><body><h1 id="firstHeading">Ana Prieto</h1><div id="mw-content-text">'
        f"{LEAD}{TOC}{''.join(parts)}</div><div id='catlinks'>Categories: JUNK</div></body></html>"
    )


def new_markup() -> str:
    parts = [
        f'<div class="mw-heading mw-heading{level}"><h{level} id="{anchor}">{text}</h{level}>{EDIT}</div>{body}'
        for level, anchor, text, body in SECTIONS
    ]
    return (
        '<html lang="en"><head><title>Ana Prieto - Wikipedia</title></head><body><main>'
        '<h1 id="firstHeading" class="firstHeading"><span class="mw-page-title-main">Ana Prieto</span></h1>'
        f'<div id="mw-content-text"><div class="mw-content-ltr mw-parser-output" lang="en">{LEAD}'
        f'<meta property="mw:PageProp/toc">{"".join(parts)}</div></div></main></body></html>'
    )


def rest_markup() -> str:
    out = [f'<section data-mw-section-id="0">{LEAD}</section>']
    depth = 0
    for number, (level, anchor, text, body) in enumerate(SECTIONS, start=1):
        while depth >= level - 1:
            out.append("</section>")
            depth -= 1
        out.append(
            f'<section data-mw-section-id="{number}"><h{level} id="{anchor}">{text}</h{level}>{body}'
        )
        depth += 1
    out.append("</section>" * depth)
    return (
        '<html prefix="mw: http://mediawiki.org/rdf/"><head><title>Ana Prieto</title>'
        '<meta property="mw:pageId" content="1"><meta http-equiv="content-language" content="en"></head>'
        f'<body class="mw-body-content parsoid-body">{"".join(out)}</body></html>'
    )


MARKUPS = {"2017": old_markup, "2024": new_markup, "rest": rest_markup}


@pytest.fixture(params=MARKUPS)
def article(request: pytest.FixtureRequest) -> Document:
    return extract(MARKUPS[request.param]().encode(), "https://en.wikipedia.org/wiki/Ana_Prieto")


def test_sections_lead_and_facts_are_the_same_in_every_markup(article: Document) -> None:
    assert article.kind == "article"
    assert article.title == "Ana Prieto"
    assert article.language == "en"
    found = [(b.section, b.anchor, b.text) for b in article.blocks if b.kind != "heading"]
    assert found == [
        ((), None, "Ana Prieto was a botanist. She drew ferns."),
        (("Facts",), None, "Born: 3 May 1871, Cádiz\nFields: Botany, Chemistry"),
        (("Life", "Childhood"), "Childhood", "She grew up by the sea."),
        (("Life", "Years in Paris"), "Years_in_Paris", "She studied there."),
        (("Work",), "Work", "Her books:"),
        (("Work",), "Work", "Year: 1899 | Book: Ferns\nYear: 1904 | Book: Mosses"),
        (("Work", "Students"), "Students", "- Rosa Gil\n- Juan Mora"),
    ]
    assert "JUNK" not in article.text


def test_each_chunk_carries_its_path_and_opens_at_its_section(article: Document) -> None:
    chunks = chunk(article, lambda text: len(text.split()))
    assert [c.section for c in chunks] == [
        None, "Facts", "Life > Childhood", "Life > Years in Paris", "Work", "Work > Students",
    ]  # fmt: skip
    assert chunks[0].url == "https://en.wikipedia.org/wiki/Ana_Prieto"
    assert chunks[3].url == "https://en.wikipedia.org/wiki/Ana_Prieto#Years_in_Paris"


def test_an_article_made_of_lists_isnt_empty() -> None:
    items = "".join(f'<li><a href="/wiki/{n}">Comet {n}</a></li>' for n in range(30))
    markup = f'<html><body><div class="mw-parser-output"><h2 id="A">A</h2><ul>{items}</ul></div></body></html>'
    page_ = extract(markup.encode(), "https://en.wikipedia.org/wiki/List_of_comets")
    assert "Comet 29" in page_.text


@pytest.mark.parametrize(
    ("target", "language", "address"),
    [
        ("Ada Lovelace", "en", "https://en.wikipedia.org/wiki/Ada_Lovelace"),
        ("ada lovelace", "es", "https://es.wikipedia.org/wiki/Ada_lovelace"),
        ("es:Santiago Ramón y Cajal", "en", "https://es.wikipedia.org/wiki/Santiago_Ram%C3%B3n_y_Cajal"),
        ("AC/DC", "en", "https://en.wikipedia.org/wiki/AC/DC"),
        ("What?", "en", "https://en.wikipedia.org/wiki/What%3F"),
        ("https://de.m.wikipedia.org/wiki/Emmy_Noether#Leben", "en", "https://de.wikipedia.org/wiki/Emmy_Noether"),
        ("https://en.wikipedia.org/w/index.php?title=Ada_Lovelace&action=edit", "en", "https://en.wikipedia.org/wiki/Ada_Lovelace"),
    ],
)  # fmt: skip
def test_article_addresses(target: str, language: str, address: str) -> None:
    assert article_address(target, language) == address


def test_an_address_without_a_title_is_refused() -> None:
    with pytest.raises(FootnoteError, match="/wiki/TITLE"):
        article_address("https://en.wikipedia.org/")


def fetch(site: Site, title: str) -> tuple[list[Document], Report]:
    report = Report()
    source = Source("wikipedia", title, wikipedia=site.url)
    return list(collect(source, report, delay=0)), report


def test_the_exact_title_is_fetched_with_a_name(site: Site) -> None:
    site.replies["/wiki/Ana_Prieto"] = page(new_markup())
    documents, _ = fetch(site, "Ana Prieto")
    assert documents[0].title == "Ana Prieto"
    assert [path for path, _ in site.seen] == ["/robots.txt", "/wiki/Ana_Prieto"]
    assert all("Footnote" in agent for agent in site.agents)


def test_redirects_are_followed_and_named(site: Site) -> None:
    # MediaWiki answers a redirect with the target's page; the REST API with a real redirect.
    site.replies["/wiki/A._Prieto"] = page(new_markup())
    site.replies["/wiki/Prieto,_Ana"] = moved("/wiki/Ana_Prieto", 302)
    site.replies["/wiki/Ana_Prieto"] = page(rest_markup())
    for title in ("A. Prieto", "Prieto, Ana"):
        documents, report = fetch(site, title)
        assert documents[0].title == "Ana Prieto"
        assert report.notes == [f"“{title}” leads to “Ana Prieto”"]


OPTIONS = (
    '<li><a href="/wiki/Mercury_(planet)" title="Mercury (planet)">Mercury (planet)</a>, the first</li>'
    '<li><a href="/wiki/Mercury_(element)" title="Mercury (element)">Mercury</a>, a metal</li>'
)


@pytest.mark.parametrize(
    "mark",
    [
        '<div id="disambigbox" class="metadata plainlinks dmbox dmbox-disambig" role="note">This page…</div>',
        '<div id="catlinks">Categories: <a href="/wiki/Category:Disambiguation_pages">Disambiguation pages</a></div>',
        '<div id="catlinks"><a href="/wiki/Categor%C3%ADa:X">Wikipedia:Desambiguación</a></div>',
        '<meta property="mw:PageProp/disambiguation">',
    ],
)
def test_a_disambiguation_page_is_refused_with_its_options(site: Site, mark: str) -> None:
    site.replies["/wiki/Mercury"] = page(
        f'<html><head><title>Mercury</title></head><body><h1 id="firstHeading">Mercury</h1>'
        f'<div id="mw-content-text"><div class="mw-parser-output"><p>Mercury may be:</p><ul>{OPTIONS}</ul></div></div>{mark}</body></html>'
    )
    with pytest.raises(FootnoteError, match=r"Mercury \(planet\); Mercury \(element\)"):
        fetch(site, "Mercury")


def test_a_missing_article_is_said_to_be_missing(site: Site) -> None:
    site.replies["/wiki/Nobody"] = Reply(
        b"<html>no such article</html>", 404, {"Content-Type": "text/html"}
    )
    with pytest.raises(FootnoteError, match="no article “Nobody”"):
        fetch(site, "Nobody")
