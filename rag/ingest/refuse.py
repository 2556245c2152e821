"""Pages that are no article: error pages sent with status 200, empty ones, listings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

from lxml import etree
from lxml.html import HtmlElement

from rag.ingest.dom import classes, local, text_of, words_in
from rag.ingest.metadata import Metadata
from rag.types import Block, FootnoteError

_FEW_WORDS = 8
_MANY_LINKS = 5
_TEXT_ELEMENTS = {"p", "ul", "ol", "dl", "li", "td", "table", "h1", "h2", "h3", "h4", "h5", "h6"}
_SHORT = 150
"""Words up to which a page may be nothing but an error message."""
_ERROR_TITLE = re.compile(
    r"\b(?:404|403|410|500|502|503|504)\b(?!\s*(?:ways|things|days|years|words|miles))"
    r"|not[ -]found|no (?:se )?(?:ha )?(?:sido )?encontrad[oa]|no encontrad[oa]|no existe"
    r"|does(?:n['’]t| not) exist"
    r"|(?:access|permission) denied|acceso denegado|forbidden|internal server error|bad gateway"
    r"|service unavailable|gateway time-?out|too many requests|just a moment|attention required"
    r"|are you (?:a )?(?:human|robot)|verify(?:ing)? you are human|security check|page (?:is )?missing"
    r"|nothing (?:was )?found|error occurred|under construction|en mantenimiento"
    r"|site (?:is )?(?:under )?maintenance|p[áa]gina no disponible|page (?:un|not )available"
    r"|no longer available|ya no est[áa] disponible|^error$|^oops",
    re.I,
)
_CONSENT = re.compile(r"\b(?:cookies?|consent|javascript|captcha|gdpr)\b", re.I)
_LISTING_PATH = re.compile(
    r"/(?:tags?|topics?|etiquetas?|temas?|labels?|authors?|autor(?:es)?)(?:/[^/]*)?/?$"
    r"|/(?:search|buscar)/?$"
    r"|/categor(?:y|ies|[ií]as?)(?:/[^/]*){0,2}/?$"
    r"|/(?:archives?|archivos?)(?:/(?:19|20)\d\d(?:/\d\d?){0,2})?/?$"
    r"|^(?:/[^/]+)?/(?:19|20)\d\d(?:/\d\d?){0,2}/?$",
    re.I,
)
_PAGED = re.compile(r"/(?:page|p[áa]gina)/\d+/?$|[?&](?:page|paged|cat|tag|s|q|author)=", re.I)
_LISTING_BODY = {
    "archive",
    "category",
    "tag",
    "author",
    "search",
    "search-results",
    "paged",
    "tax",
    "date",
}
_LISTING_KINDS = {"collectionpage", "searchresultspage", "profilepage", "blog", "itemlist"}


class NotAnArticle(FootnoteError):
    """The page has no text of its own to index. `reason` says why in a few words."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}; left out.")
        self.url = url
        self.reason = reason


def is_listing_address(url: str) -> bool:
    """Whether the address alone tells that a page lists others: tags, categories, authors, page 2."""
    parts = urlsplit(url)
    target = parts.path + ("?" + parts.query if parts.query else "")
    return bool(_LISTING_PATH.search(parts.path) or _PAGED.search(target))


def refuse_listing(root: HtmlElement, metadata: Metadata, url: str) -> None:
    """Raises NotAnArticle for pages that only list others. Takes the uncleaned tree."""
    body = root.find("body")
    declared = metadata.kind in _LISTING_KINDS or (
        body is not None and bool(classes(body) & _LISTING_BODY) and "single" not in classes(body)
    )
    teasers = _teasers(root)
    if teasers < 2:
        return
    share = _share_in_teasers(root)
    expected = declared or is_listing_address(url)
    if (expected and share > 0.3) or (teasers >= 4 and share > 0.6):
        raise NotAnArticle(url, "lists other pages")


def refuse_links(elements: list[etree._Element], url: str) -> None:
    """Raises NotAnArticle when most of the chosen text stands in links to other pages."""
    flat = {id(e): e for e in elements if local(e) in _TEXT_ELEMENTS}.values()
    length = sum(len("".join(text_of(element).split())) for element in flat)
    links = [
        a
        for element in flat
        for a in element.iter("a")
        if not (a.get("href") or "#").startswith("#") and text_of(a).strip()
    ]
    linked = sum(len("".join(text_of(a).split())) for a in links)
    if len(links) >= _MANY_LINKS and linked > 0.6 * length:
        raise NotAnArticle(url, "lists other pages")


def refuse_faulty(blocks: tuple[Block, ...], metadata: Metadata, url: str) -> None:
    """Raises NotAnArticle for error pages, notices in place of a page, and pages without text."""
    words = sum(len(block.text.split()) for block in blocks)
    if words <= _SHORT and _ERROR_TITLE.search(f"{metadata.title}\n{metadata.heading or ''}"):
        raise NotAnArticle(url, "an error page")
    if not words:
        raise NotAnArticle(url, "no text")
    if words < _FEW_WORDS:
        raise NotAnArticle(url, f"only {words} words of text")
    text = " ".join(block.text for block in blocks)
    if words <= _SHORT // 2 and len(_CONSENT.findall(text)) >= 2 and len(blocks) <= 4:
        raise NotAnArticle(url, "a notice in place of the page")


def _teasers(root: HtmlElement) -> int:
    """Headings that are nothing but a link to another page of the site, outside side boxes."""
    return sum(1 for _ in _teaser_headings(root))


def _teaser_headings(root: HtmlElement) -> Iterator[HtmlElement]:
    for heading in root.iter("h2", "h3", "h4"):
        text = " ".join(text_of(heading).split())
        links = [a for a in heading.iter("a") if not (a.get("href") or "#").startswith("#")]
        parent = heading.getparent()
        if not links and parent is not None and local(parent) == "a":
            links = [parent]
        if (
            not text
            or not links
            or any(local(e) in {"aside", "nav", "footer"} for e in heading.iterancestors())
        ):
            continue
        if local(links[0]) == "a" and " ".join(text_of(links[0]).split()).startswith(text):
            yield heading


def _share_in_teasers(root: HtmlElement) -> float:
    """Share of the page's words that stand in the boxes around teaser headings, 0 to 1."""
    body = root.find("body")
    total = words_in(body) if body is not None else 0
    if not total:
        return 0.0
    headings = list(_teaser_headings(root))
    held = Counter(parent for heading in headings for parent in heading.iterancestors())
    boxes = []
    for heading in headings:
        box = heading
        # The box is the largest element around the heading that holds no other teaser.
        while (parent := box.getparent()) is not None and held[parent] == 1:
            box = parent
        boxes.append(box)
    return sum(words_in(box) for box in boxes) / total
