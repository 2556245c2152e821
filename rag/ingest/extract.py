"""One page of HTML as a `Document`: trafilatura says what is the page's text, this keeps it whole.

Every part of the cleaned page gets a mark. The marks that come out of trafilatura tell which parts
are main content; the parts themselves are then taken from the page, so that code, formulas, lists
and tables arrive exactly as they stand there, under their headings.
"""

from __future__ import annotations

import copy
import logging
import re
from itertools import pairwise

import trafilatura
from lxml import etree
from lxml.html import HtmlElement

from rag.ingest.addresses import is_valid
from rag.ingest.clean import clean, link_density
from rag.ingest.code import settle_code
from rag.ingest.dom import parse
from rag.ingest.formulas import formulas_to_latex
from rag.ingest.metadata import Metadata, detect_language, read_metadata
from rag.ingest.parts import Part, parts
from rag.ingest.refuse import NotAnArticle, refuse_faulty, refuse_links, refuse_listing
from rag.ingest.text import decode
from rag.ingest.wikipedia import article_parts, is_mediawiki
from rag.types import Block, Document, DocumentKind

# It warns of every page that it finds nothing in; what that means is decided here.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

_MARK = re.compile(r"xfn(\d+)x")
_FEW_WORDS = 60
_SAVED_FROM = re.compile(r"<!--\s*saved from url=\(\d+\)\s*(https?://[^\s>]+)", re.I)


def extract(html: bytes, url: str, content_type: str | None = None) -> Document:
    """The page's text and metadata. `content_type` is the HTTP header, if there was one.

    Raises NotAnArticle for listings, error pages, empty pages and pages without a text of their own.
    """
    markup = decode(html, content_type)
    root = parse(markup)
    if root is None:
        raise NotAnArticle(url, "empty")
    saved = _SAVED_FROM.search(markup[:3000])
    wiki = is_mediawiki(root)
    address = saved[1] if saved and is_valid(saved[1]) else None
    metadata = read_metadata(root, url, address, wiki=wiki)
    if wiki:
        found = article_parts(root, metadata.language)
        kind: DocumentKind = "article"
    else:
        refuse_listing(root, metadata, url)
        formulas_to_latex(root)
        settle_code(root)
        clean(root)
        found = _main_parts(root)
        refuse_links([part.element for part in found], url)
        kind = "post"
    blocks = tuple(to_blocks(found, metadata))
    refuse_faulty(blocks, metadata, url)
    text = "\n".join(block.text for block in blocks if block.kind != "code")
    return Document(
        url=metadata.url,
        title=metadata.title,
        language=metadata.language or detect_language(text),
        blocks=blocks,
        published=metadata.published,
        tags=metadata.tags,
        alternates=metadata.alternates,
        kind=kind,
        author=metadata.author,
        site=metadata.site,
    )


def to_blocks(found: list[Part], metadata: Metadata) -> list[Block]:
    """Puts every part under its headings. Headings over nothing and the page's title are left out."""
    blocks: list[Block] = []
    stack: list[tuple[int, str, str | None]] = []
    for index, part in enumerate(found):
        if part.level:
            if _is_title(found, index, metadata) or not _has_content(found, index):
                continue
            while stack and stack[-1][0] >= part.level:
                stack.pop()
            stack.append((part.level, part.text, part.anchor))
            text = "#" * min(6, len(stack) + 1) + " " + part.text
        else:
            text = part.text
        anchor = stack[-1][2] if stack else None
        blocks.append(Block(part.kind, text, tuple(entry[1] for entry in stack), anchor))
    return blocks


def _is_title(found: list[Part], index: int, metadata: Metadata) -> bool:
    """Whether a heading only repeats the page's title."""
    part = found[index]
    if part.text in {metadata.title, metadata.heading}:
        return part.level <= 2 and not any(other.level for other in found[:index])
    return part.level == 1 and index == 0 and sum(other.level == 1 for other in found) == 1


def _has_content(found: list[Part], index: int) -> bool:
    """Whether anything but headings follows before the next heading of the same or a higher level."""
    for part in found[index + 1 :]:
        if not part.level:
            return True
        if part.level <= found[index].level:
            return False
    return False


def _main_parts(root: HtmlElement) -> list[Part]:
    body = root.find("body")
    found = parts(root if body is None else body)
    chosen = _chosen(root, found, named=True)
    words = sum(len(part.text.split()) for part in found)
    if sum(len(found[index].text.split()) for index in chosen) < min(_FEW_WORDS, words // 3):
        # A class such as `cookie-recipes` can make it take a whole article for a box beside one.
        chosen = _chosen(root, found, named=False) or chosen
    return _filled(found, chosen)


def _chosen(root: HtmlElement, found: list[Part], *, named: bool) -> set[int]:
    """Which parts trafilatura takes for main content; without class names and ids unless `named`."""
    marked = copy.deepcopy(root)
    originals, copies = list(root.iter()), list(marked.iter())
    twin = {id(original): other for original, other in zip(originals, copies, strict=True)}
    for index, part in enumerate(found):
        for element, place in part.slots:
            other = twin[id(element)]
            text = getattr(other, place) or ""
            if not text.lstrip().startswith("xfn"):
                setattr(other, place, f"xfn{index}x {text.lstrip()}")
    if not named:
        for element in copies:
            element.attrib.pop("class", None)
            element.attrib.pop("id", None)
    out = trafilatura.extract(
        etree.tostring(marked, encoding="unicode", method="html"),
        include_comments=False,
        include_tables=True,
        deduplicate=False,
    )
    return {int(mark) for mark in _MARK.findall(out or "")}


def _filled(found: list[Part], chosen: set[int]) -> list[Part]:
    """The chosen parts, and those between and beside them that belong to the same text."""
    if not chosen:
        return []
    keep = set(chosen)
    order = sorted(chosen)
    for index in range(order[0]):
        # Trafilatura takes the line under the title for a part of the page's head.
        if found[index].element.get("itemprop") == "description":
            keep.add(index)
    for before, after in pairwise(order):
        if after - before > 1:
            for index in range(before + 1, after):
                if _belongs(found[index], found[before], found[after]):
                    keep.add(index)
    return [
        part
        for index, part in enumerate(found)
        if index in keep or (part.level and _leads(found, index, keep))
    ]


def _belongs(part: Part, before: Part, after: Part) -> bool:
    shared = _common_ancestor(before.element, after.element)
    if shared is None or not _within(part.element, shared):
        return False
    return (
        link_density(part.element) < 0.7 or part.element.getparent() is before.element.getparent()
    )


def _leads(found: list[Part], index: int, keep: set[int]) -> bool:
    """Whether the part right behind a heading was kept."""
    return index + 1 in keep and found[index + 1].level == 0


def _common_ancestor(a: etree._Element, b: etree._Element) -> etree._Element | None:
    above = {id(e): e for e in [a, *a.iterancestors()]}
    return next((e for e in [b, *b.iterancestors()] if id(e) in above), None)


def _within(element: etree._Element, root: etree._Element) -> bool:
    return element is root or any(parent is root for parent in element.iterancestors())
