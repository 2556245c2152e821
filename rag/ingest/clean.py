"""Takes out of a page what is no part of its text, by HTML's own meaning and wide conventions.

Nothing here knows a single site. An element that holds the page's heading or most of its words
is never taken for a box beside the text, whatever its class says.
"""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

from rag.ingest.dom import classes, drop, local, text_of, unwrap, words_in

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NEVER_TEXT = frozenset(
    "script style noscript template svg iframe object embed applet canvas audio video map nav dialog "
    "button input select option textarea datalist progress meter link meta mat-icon ion-icon".split()
)
_KEPT_WHOLE = {"html", "body", "main", "article"}
_BOXES = frozenset(
    "div section aside ul ol dl p span header footer form table details figure".split()
)

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_HIDDEN_CLASSES = {
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only",
    "skip-link", "skip-to-content", "u-hidden", "d-none", "noprint", "print-only",
}  # fmt: skip
_ICONS = re.compile(r"^(material-(icons|symbols)|google-symbols|mdi$|mdi-|glyphicon)", re.I)
_ICON_TAG_CLASSES = re.compile(r"(^|[-_])(icon|icons|fa|fas|far|fab|bi|feather)($|[-_])", re.I)

_EDGE = r"(?:^|[-_])"
_END = r"(?:$|[-_])"
_STRONG = re.compile(
    _EDGE
    + r"(?:comments?|commentlist|disqus|respond|replies"
    + r"|cookies?|cookie\w*|gdpr|ccpa|consent|onetrust|didomi|cmp"
    + r"|breadcrumbs?|pagination|paginator|skip[-_]links?"
    + r"|sharedaddy|addthis\w*|addtoany|adsbygoogle|jp[-_]relatedposts)"
    + _END,
    re.I,
)
_WEAK = re.compile(
    _EDGE
    + r"(?:share|shares|sharing|sharer|share[-_]?(?:bar|box|buttons?|links?)|social"
    + r"|social[-_]?(?:share|links?|icons?|media)|tweet[-_]?this|follow[-_]us"
    + r"|related|related[-_]?(?:posts?|articles?|content)|recommend(?:ed|ations?)"
    + r"|read[-_](?:next|more|also)|you[-_]may|up[-_]next|more[-_](?:posts|stories|articles|from)"
    + r"|(?:prev|previous)[-_](?:next|post)|next[-_](?:prev|post)|(?:prev|previous|next)-?link"
    + r"|post[-_]?nav(?:igation)?|pager"
    + r"|newsletter|subscribe|subscription|sign[-_]?up|opt[-_]?in|mailing[-_]?list"
    + r"|side[-_]?bar|widgets?|widget[-_]?area|tag[-_]?cloud|nav|navbar|navigation|menu|menubar"
    + r"|toc|table[-_]?of[-_]?contents|tableofcontents|on[-_]this[-_]page"
    + r"|advert(?:s|isement|isements|ising)?|ads?|sponsor(?:s|ed)?|promos?|banner"
    + r"|popup|pop[-_]up|modal|lightbox|overlay|toast|author[-_]?(?:bio|box|card|info|profile)"
    + r"|about[-_](?:the[-_])?author|post[-_]?(?:tags|meta|footer|author)|entry[-_](?:meta|footer)"
    + r"|byline|share[-_]this|print[-_](?:link|button)|edit[-_](?:this[-_]page|link))"
    + _END,
    re.I,
)
_MODIFIER = re.compile(r"^(?:has|no|with|without|is|hide|show|js|not|single)[-_]", re.I)
_ROLES = {
    "navigation", "search", "complementary", "menu", "menubar", "dialog", "alertdialog",
    "toolbar", "banner", "contentinfo", "tablist",
}  # fmt: skip
_TOC_TITLE = re.compile(
    r"^(?:table of contents|contents|on this page|in this (?:article|post|page)|índice(?: de contenidos?)?"
    r"|tabla de contenidos?|contenidos?|en esta página|en este artículo|sumario)\s*:?$",
    re.I,
)
_ANCHOR_TEXT = re.compile(
    r"^[\s#¶§🔗⚓∞†\[\]]*(?:(?:perma|direct )?link|anchor|enlace)?[\s#¶§🔗⚓∞]*$", re.I
)
_ANCHOR_CLASS = re.compile(
    r"anchor|permalink|headerlink|header-link|heading-link|hash-?link|direct-link", re.I
)


def clean(root: HtmlElement) -> None:
    """Removes, in place: scripts, controls, hidden text, icons, navigation, cookie walls, comments,
    share and related boxes, tables of contents, anchor marks. Formulas and code must already have
    been put in their final shape (they hide helpers that this would take for hidden text).
    """
    total = max(1, words_in(root))
    for element in list(root.iter()):
        if not isinstance(element.tag, str):
            continue
        out = local(element) in _NEVER_TEXT or _is_icon(element) or _is_hidden(element)
        if out and not _holds_the_page(element, total):
            drop(element)
    for element in list(root.iter("form")):
        # Some frameworks wrap whole pages in a form.
        if words_in(element) * 4 > total:
            unwrap(element)
        else:
            drop(element)
    _licences(root)
    _heading_anchors(root)
    _reference_marks(root)
    total = max(1, words_in(root))
    for element in list(root.iter()):
        if (
            isinstance(element.tag, str)
            and _is_box_beside(element)
            and not _holds_the_page(element, total)
        ):
            drop(element)
    _contents_lists(root)


def link_density(element: etree._Element) -> float:
    """Share of the element's characters that stand in links, 0 to 1."""
    length = len("".join(text_of(element).split()))
    if not length:
        return 0.0
    linked = sum(len("".join(text_of(a).split())) for a in element.iter("a"))
    return min(1.0, linked / length)


def _holds_the_page(element: HtmlElement, total: int) -> bool:
    if local(element) in _KEPT_WHOLE:
        return True
    if local(element) in _NEVER_TEXT:
        return False
    return words_in(element) * 2 > total and element.find(".//h1") is not None


def _is_icon(element: HtmlElement) -> bool:
    if any(_ICONS.match(name) for name in classes(element)):
        return len(text_of(element).split()) <= 2
    if local(element) in {"i", "span"} and any(
        _ICON_TAG_CLASSES.search(n) for n in classes(element)
    ):
        text = text_of(element).strip()
        # An icon font's ligature is one lower-case word such as "arrow_forward", or nothing.
        return local(element) == "i" and re.fullmatch(r"[a-z0-9_]*", text) is not None
    return False


def _is_hidden(element: HtmlElement) -> bool:
    if local(element) in _KEPT_WHOLE:
        return False
    if element.get("hidden") is not None and element.get("hidden") != "until-found":
        return True
    if _HIDDEN_STYLE.search(element.get("style") or ""):
        return True
    if classes(element) & _HIDDEN_CLASSES:
        return True
    # Decoration is kept from screen readers; so are sometimes whole articles, by mistake.
    return element.get("aria-hidden") == "true" and words_in(element) <= 12


def _is_box_beside(element: HtmlElement) -> bool:
    tag = local(element)
    if tag in _KEPT_WHOLE or tag in HEADINGS or tag not in _BOXES:
        return False
    if any(local(parent) in {"pre", "code", "blockquote"} for parent in element.iterancestors()):
        return False
    if tag == "footer":
        return True
    if (element.get("role") or "").lower() in _ROLES:
        return True
    names = [
        name for name in [element.get("id") or "", *classes(element)] if not _MODIFIER.match(name)
    ]
    names = [re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name) for name in names]
    if any(_STRONG.search(name) for name in names):
        return element.find(".//main") is None and element.find(".//h1") is None
    if any(_WEAK.search(name) for name in names):
        return not _is_prose(element)
    return False


def _is_prose(element: HtmlElement) -> bool:
    """Whether the element holds text as an article does: an h1, or three long paragraphs."""
    if element.find(".//h1") is not None or element.find(".//article") is not None:
        return True
    long = [p for p in element.iter("p") if words_in(p) >= 25 and link_density(p) < 0.3]
    return len(long) >= 3


def _heading_anchors(root: HtmlElement) -> None:
    """Moves a heading's own address to its `id` and takes the visible mark away."""
    for heading in list(root.iter(*HEADINGS)):
        for link in list(heading.iter("a")):
            href = link.get("href") or ""
            text = text_of(link)
            if "#" not in href and not any(_ANCHOR_CLASS.search(n) for n in classes(link)):
                continue
            fragment = href.partition("#")[2]
            if fragment and not heading.get("id"):
                heading.set("id", fragment)
            whole = text_of(heading).split() == text.split()
            if _ANCHOR_TEXT.match(text) and not (whole and text.strip()):
                drop(link)
        if not heading.get("id"):
            for inner in heading.iter():
                if inner is not heading and (name := inner.get("id") or inner.get("name")):
                    heading.set("id", name)
                    break


def _licences(root: HtmlElement) -> None:
    """Takes out short paragraphs that hold the page's licence (microformat rel="license")."""
    for link in list(root.iter("a")):
        paragraph = link.getparent()
        if "license" not in (link.get("rel") or "").split() or paragraph is None:
            continue
        if local(paragraph) in {"p", "div"} and words_in(paragraph) <= 60:
            drop(paragraph)


def _reference_marks(root: HtmlElement) -> None:
    """Takes out footnote marks (`<sup><a href="#fn1">1</a></sup>`) and the arrows back to them."""
    for link in list(root.iter("a")):
        if not (link.get("href") or "").startswith("#"):
            continue
        text = text_of(link).strip()
        if text in {"↩", "↩︎", "↑", "^", "⏎", "↵"}:
            drop(link)
            continue
        parent = link.getparent()
        if (
            parent is not None
            and local(parent) == "sup"
            and re.fullmatch(r"\[?[\w*†‡]{1,3}\]?", text)
        ):
            drop(parent if text_of(parent).strip() == text else link)


def _contents_lists(root: HtmlElement) -> None:
    """Takes out lists that only lead to places on the same page, with the title above them."""
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    for listing in list(root.iter("ul", "ol")):
        if listing.getparent() is None:
            continue
        links = list(listing.iter("a"))
        if len(links) < 2 or link_density(listing) < 0.85:
            continue
        targets = [(a.get("href") or "").partition("#") for a in links]
        inside = [t for t in targets if t[1] and t[2] in ids]
        if len(inside) * 10 < len(links) * 9:
            continue
        before = listing.getprevious()
        drop(listing)
        if before is not None and _TOC_TITLE.match(" ".join(text_of(before).split())):
            drop(before)
    for heading in list(root.iter(*HEADINGS)):
        if _TOC_TITLE.match(" ".join(text_of(heading).split())):
            follower = heading.getnext()
            if follower is None or local(follower) in HEADINGS:
                drop(heading)
