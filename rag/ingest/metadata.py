"""What a page says about itself: address, title, language, date, tags, other languages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import unquote, urlsplit

import py3langid
from lxml.html import HtmlElement

from rag.ingest.addresses import path_of, resolve
from rag.ingest.dom import classes, local, text_of
from rag.ingest.text import prose

_SEPARATOR = re.compile(r"\s+(?:[|·•:»«~/]|::|[-–—])\s+|\s*[|»]\s*|:\s+(?=[^:]*$)")
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan enero ene", "february feb febrero", "march mar marzo",
            "april apr abril abr", "may mayo", "june jun junio", "july jul julio",
            "august aug agosto ago", "september sep sept septiembre setiembre set",
            "october oct octubre", "november nov noviembre", "december dec diciembre dic",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d{1,2})-(\d{1,2})")
_MONTH_FIRST = re.compile(r"\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+((?:19|20)\d\d)\b")
_DAY_FIRST = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th|º)?\.?\s+(?:de\s+|of\s+)?([A-Za-z]{3,10})\.?,?\s+(?:de\s+|del\s+)?((?:19|20)\d\d)\b"
)
_NUMERIC = re.compile(r"\b(\d{1,2})[/.](\d{1,2})[/.]((?:19|20)\d\d)\b")
_IN_URL = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?:[/-]|$)")
_DATE_META = (
    "article:published_time", "og:published_time", "datepublished", "date", "pubdate",
    "publishdate", "publish_date", "publication_date", "parsely-pub-date", "sailthru.date",
    "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.created", "dcterms.date",
    "citation_publication_date", "citation_date",
)  # fmt: skip
_DATE_CLASS = re.compile(
    r"(?:^|[-_ ])(?:dt-published|published|pub-?date|post-?date|entry-?date|date|posted-on|byline|dateline"
    r"|publish(?:ed)?-?(?:on|date|time))(?:$|[-_ ])",
    re.I,
)
_TAG_BOX = re.compile(
    r"(?:^|[-_])(?:post|entry|article)?[-_]?(?:tags?|tag-?list|taglist|p-category|keywords|etiquetas)(?:$|[-_])",
    re.I,
)
_TAG_ADDRESS = re.compile(r"/(?:tags?|topics?|etiquetas?|temas?|label|labels)/[^/]+/?$", re.I)
_BESIDE = {"nav", "aside", "footer"}


@dataclass(frozen=True)
class Metadata:
    """What was declared, in the shapes of `Document`."""

    url: str
    title: str
    heading: str | None
    """The page's own main heading as it stands in the text, if there is one."""
    site: str | None
    language: str | None
    published: str | None
    tags: tuple[str, ...]
    alternates: tuple[str, ...]
    author: str | None
    kind: str
    """The declared type in lower case, such as `article`, `blogposting`, `website`; may be empty."""


def read_metadata(
    root: HtmlElement, url: str, address: str | None = None, *, wiki: bool = False
) -> Metadata:
    """Reads the uncleaned tree of a page that came from `url`.

    `address` is used as the page's own when it declares none that can be right. The dates that
    stand in the text of a `wiki` page are its subject's, not its own.
    """
    meta = _meta(root)
    data = _linked_data(root)
    site = meta.get("og:site_name") or _name(data.get("publisher"))
    own = _canonical(root, meta, url) or address or url
    language = _language(root, meta, data)
    names = _site_names(site, meta, own)
    declared = [
        prose(text)
        for text in (meta.get("og:title"), data.get("headline"), meta.get("twitter:title"))
        if isinstance(text, str) and prose(text)
    ]
    page_title = _page_title(root)
    heading = _main_heading(root, [*declared, page_title], names)
    title = _title(page_title, declared, heading, names, own)
    return Metadata(
        url=own,
        title=title,
        heading=heading,
        site=site,
        language=language,
        published=_published(None if wiki else root, meta, data, language, own),
        tags=tuple(tag for tag in _tags(root, meta, data) if tag != title),
        alternates=_alternates(root, url, own),
        author=_author(meta, data),
        kind=str(_first(data.get("@type")) or meta.get("og:type") or "").lower(),
    )


def detect_language(text: str) -> str:
    """ISO 639-1 code of the language that the text is most likely in."""
    return str(py3langid.classify(text[:20_000])[0])


def site_suffix_off(title: str, names: set[str]) -> str:
    """The title without a leading or trailing part that is one of the site's names (lower case)."""
    parts = [part for part in _SEPARATOR.split(title) if part and part.strip()]
    if len(parts) < 2:
        return title
    if _squash(parts[-1]) in names:
        return title[: title.rindex(parts[-1])].rstrip(" |·•:»«~/-–—")
    if _squash(parts[0]) in names:
        return title[title.index(parts[0]) + len(parts[0]) :].lstrip(" |·•:»«~/-–—")
    return title


def _meta(root: HtmlElement) -> dict[str, str]:
    """<meta> by lower-case name or property; the first of a kind counts."""
    found: dict[str, str] = {}
    for element in root.iter("meta"):
        name = element.get("property") or element.get("name") or element.get("itemprop") or ""
        content = prose(element.get("content") or "")
        if name and content:
            found.setdefault(name.strip().lower(), content)
    return found


def _linked_data(root: HtmlElement) -> dict[str, Any]:
    """The JSON-LD object that describes the page's article; empty when there is none."""
    candidates: list[dict[str, Any]] = []
    for script in root.iter("script"):
        if "ld+json" not in (script.get("type") or ""):
            continue
        try:
            text = re.sub(
                r"^\s*(?:/[/*])?\s*<!\[CDATA\[|\]\]>\s*(?:\*/)?\s*$", "", script.text or ""
            )
            _objects(json.loads(text, strict=False), candidates)
        except (ValueError, RecursionError):
            continue  # broken data in a page is the page's own affair; its <meta> may do
    for item in candidates:
        kinds = item.get("@type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if any(str(kind).endswith(("Article", "Posting", "Report")) for kind in kinds):
            return item
    for item in candidates:
        if str(_first(item.get("@type"))) in {"WebPage", "CollectionPage", "Blog"}:
            return item
    return {}


def _objects(value: Any, out: list[dict[str, Any]]) -> None:
    if isinstance(value, list):
        for item in value:
            _objects(item, out)
    elif isinstance(value, dict):
        out.append(value)
        if "@graph" in value:
            _objects(value["@graph"], out)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _name(value: Any) -> str | None:
    value = _first(value)
    name = value.get("name") if isinstance(value, dict) else None
    return prose(name) if isinstance(name, str) and name.strip() else None


def _site_names(site: str | None, meta: dict[str, str], url: str) -> set[str]:
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    names = [site, meta.get("application-name"), host, host.split(".")[0]]
    return {_squash(name) for name in names if name} - {""}


def _page_title(root: HtmlElement) -> str:
    element = root.find(".//head/title")
    if element is None:
        element = root.find(".//title")
    return prose(text_of(element)) if element is not None else ""


def _author(meta: dict[str, str], data: dict[str, Any]) -> str | None:
    for name in (_name(data.get("author")), meta.get("author"), meta.get("article:author")):
        # Some sites give the address of the author's page in place of a name.
        if name and len(name) <= 60 and "/" not in name:
            return name
    return None


def _canonical(root: HtmlElement, meta: dict[str, str], url: str) -> str | None:
    links = [
        e.get("href")
        for e in root.iter("link")
        if "canonical" in (e.get("rel") or "").lower().split()
    ]
    for href in [*links, meta.get("og:url")]:
        if not href:
            continue
        address = resolve(url, href)
        if address is None:
            continue
        target, source = urlsplit(address), urlsplit(url)
        if target.scheme not in {"http", "https"} or not target.netloc:
            continue
        # Many sites name their front page as the canonical address of every page.
        if target.path.strip("/") == "" and source.path.strip("/") and source.scheme != "file":
            continue
        return address
    return None


def _main_heading(root: HtmlElement, page_titles: list[str], names: set[str]) -> str | None:
    """The heading that names the page: one that its title carries, else the first <h1> of the text."""
    carried = {_squash(part) for title in page_titles for part in [title, *_SEPARATOR.split(title)]}
    carried -= names | {""}
    headings = [(h, prose(text_of(h))) for h in root.iter("h1", "h2")]
    titles = [_squash(title) for title in page_titles]
    named = [
        text
        for heading, text in headings
        if _squash(text) in carried
        or (local(heading) == "h1" and text and any(_squash(text) in title for title in titles))
    ]
    if named:
        # The site's own name may be a heading too; it is the shorter one.
        longest = max(named, key=len)
        return (
            longest
            if _squash(longest) not in names or len(titles[-1]) == len(_squash(longest))
            else None
        )
    for heading, text in headings:
        inside = any(local(parent) in {"article", "main"} for parent in heading.iterancestors())
        if local(heading) == "h1" and inside and text:
            return text
    return None


def _title(
    page_title: str, declared: list[str], heading: str | None, names: set[str], url: str
) -> str:
    """The heading as the author wrote it, else the declared title without the site's name."""
    for text in [*declared, page_title]:
        if heading and _squash(heading) in _squash(text):
            return heading
    for text in declared:
        if short := site_suffix_off(text, names):
            return short
    short = site_suffix_off(page_title, names)
    parts = re.split(r"\s+[|·»]\s+", page_title)
    if short == page_title and len(parts) == 2 and len(parts[1].split()) <= 4:
        # Without the site's name at hand, the short part behind a bar or dot is it.
        short = parts[0] if len(parts[0]) > len(parts[1]) else short
    if heading and (not short or (short == page_title and len(_SEPARATOR.split(page_title)) > 1)):
        return heading
    return short or heading or _from_address(url)


def _from_address(url: str) -> str:
    path = unquote(urlsplit(url).path).rstrip("/")
    name = re.sub(r"\.\w{2,5}$", "", path.rpartition("/")[2])
    return prose(re.sub(r"[-_]+", " ", name)) or url


def _squash(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def _language(root: HtmlElement, meta: dict[str, str], data: dict[str, Any]) -> str | None:
    html = root if local(root) == "html" else root.getroottree().getroot()
    xml = html.get("{http://www.w3.org/XML/1998/namespace}lang")
    http = next(
        (
            e.get("content")
            for e in root.iter("meta")
            if (e.get("http-equiv") or "").lower() == "content-language"
        ),
        None,
    )
    stated = data.get("inLanguage")
    for code in (
        html.get("lang"), html.get("xml:lang"), xml, http, meta.get("language"),
        stated if isinstance(stated, str) else None, meta.get("og:locale"),
    ):  # fmt: skip
        if code and (match := re.match(r"\s*([A-Za-z]{2,3})(?:[-_,;\s]|$)", code)):
            return _two_letters(match[1].lower())
    return None


def _two_letters(code: str) -> str:
    return {"eng": "en", "spa": "es", "fra": "fr", "deu": "de", "por": "pt", "ita": "it"}.get(
        code, code
    )


def _published(
    root: HtmlElement | None,
    meta: dict[str, str],
    data: dict[str, Any],
    language: str | None,
    url: str,
) -> str | None:
    """YYYY-MM-DD: what is declared to machines, then to readers, then what the address says."""
    declared = [meta.get(_DATE_META[0]), data.get("datePublished"), *map(meta.get, _DATE_META[1:])]
    for value in declared:
        if isinstance(value, str) and (found := parse_date(value, language)):
            return found
    if root is None:
        return None
    for xpath in (
        ".//*[@itemprop='datePublished']",
        ".//time[@pubdate]",
        ".//time[contains(concat(' ', @class, ' '), ' dt-published ')]",
        ".//time[contains(@class, 'publish') or contains(@class, 'entry-date')]",
        ".//article//time[@datetime] | .//main//time[@datetime] | .//header//time[@datetime]",
        ".//time[@datetime]",
    ):
        for element in root.xpath(xpath):
            if any("updated" in classes(e) and "published" not in classes(e) for e in (element,)):
                continue
            text = element.get("datetime") or element.get("content") or text_of(element)
            if found := parse_date(text, language):
                return found
            break
    for element in root.iter("time", "span", "p", "div", "small", "li", "td"):
        if local(element) != "time" and not _DATE_CLASS.search(element.get("class") or ""):
            continue
        text = prose(text_of(element))
        if len(text) < 200 and (found := parse_date(text, language)):
            return found
    if (match := _IN_URL.search(urlsplit(url).path)) and (
        found := _date(match[1], match[2], match[3])
    ):
        return found
    return None


def parse_date(text: str, language: str | None = None) -> str | None:
    """The first whole date in a text as YYYY-MM-DD.

    `3/4/2021` is read as day/month except in English, where it can mean either and gives None;
    so does a date that doesn't exist or lies in the future.
    """
    if match := _ISO.search(text):
        return _date(match[1], match[2], match[3])
    if match := re.match(r"\s*((?:19|20)\d\d)(\d\d)(\d\d)(?:\D|$)", text):
        return _date(match[1], match[2], match[3])
    if match := re.search(r"\b((?:19|20)\d\d)/(\d{1,2})/(\d{1,2})\b", text):
        return _date(match[1], match[2], match[3])
    for match in _MONTH_FIRST.finditer(text):
        if month := _MONTHS.get(match[1].lower()):
            return _date(match[3], str(month), match[2])
    for match in _DAY_FIRST.finditer(text):
        if month := _MONTHS.get(match[2].lower()):
            return _date(match[3], str(month), match[1])
    if match := _NUMERIC.search(text):
        first, second = int(match[1]), int(match[2])
        if first == second or first > 12:
            return _date(match[3], match[2], match[1])
        if second > 12:
            return _date(match[3], match[1], match[2])
        return _date(match[3], match[2], match[1]) if language and language != "en" else None
    return None


def _date(year: str, month: str, day: str) -> str | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found.isoformat() if found <= date.today() else None


def _tags(root: HtmlElement, meta: dict[str, str], data: dict[str, Any]) -> tuple[str, ...]:
    """The author's tags: those shown on the page or declared one by one, else the keywords."""
    found = [
        e.get("content") or ""
        for e in root.iter("meta")
        if (e.get("property") or e.get("name") or "").lower() in {"article:tag", "og:article:tag"}
    ]
    if not found:
        for link in root.iter("a"):
            ancestors = list(link.iterancestors())
            if any(local(e) in _BESIDE and not _tag_box(e) for e in ancestors):
                continue
            if any("cloud" in (e.get("class") or "") for e in ancestors):
                continue
            tagged = "tag" in (link.get("rel") or "").split()
            boxed = any(_tag_box(e) for e in [link, *ancestors[:4]])
            if tagged or (boxed and _TAG_ADDRESS.search(path_of(link.get("href") or ""))):
                found.append(text_of(link))
    if not found:
        for element in root.xpath(".//*[contains(concat(' ', @class, ' '), ' p-category ')]"):
            found.append(text_of(element))
    if not found:
        words = data.get("keywords")
        found = [str(w) for w in words] if isinstance(words, list) else str(words or "").split(",")
    if not any(found):
        found = re.split(r"[,;]", meta.get("keywords", ""))
    tags = (prose(tag).lstrip("#").strip() for tag in found)
    return tuple(dict.fromkeys(tag for tag in tags if tag and len(tag) <= 60))[:30]


def _tag_box(element: HtmlElement) -> bool:
    return any(_TAG_BOX.search(name) for name in [element.get("id") or "", *classes(element)])


def _alternates(root: HtmlElement, url: str, own: str) -> tuple[str, ...]:
    found = []
    for link in root.iter("link"):
        code = link.get("hreflang")
        if "alternate" in (link.get("rel") or "").split() and code and code.lower() != "x-default":
            address = resolve(url, link.get("href") or "")
            if address and address.rstrip("/") not in {own.rstrip("/"), url.rstrip("/")}:
                found.append(address)
    return tuple(dict.fromkeys(found))
