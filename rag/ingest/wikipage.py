"""Finds one article by its exact title or address on any Wikipedia, or another MediaWiki."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from lxml.html import HtmlElement

from rag.ingest.addresses import is_valid
from rag.ingest.dom import classes, local, parse, text_of
from rag.ingest.fetch import Fetcher, FetchError, Page
from rag.ingest.text import decode, prose
from rag.types import FootnoteError

_HOST = "https://{language}.wikipedia.org"
_PREFIXED = re.compile(r"^([a-z]{2,3}(?:-[a-z-]+)?|simple):(?=\S)(.+)$")
_AMBIGUOUS = re.compile(
    r"disambig|desambig|homonym|begriffskl|disambigua|apartado_desamb|doorverwijs", re.I
)
_MOST_OPTIONS = 12


@dataclass(frozen=True)
class Article:
    """The page of an article; `asked` differs from `title` where a redirect was followed."""

    page: Page
    title: str
    asked: str


def article_address(target: str, language: str = "en", base: str = _HOST) -> str:
    """The address of an article given as a title (`es:` before it names the edition) or an address.

    `base` is the site's start with `{language}` in it. Raises FootnoteError for anything else.
    """
    target = target.strip()
    if re.match(r"https?://", target):
        if not is_valid(target):
            raise FootnoteError(f"{target} is no address; give an article's title or address.")
        parts = urlsplit(target)
        host = parts.netloc.replace(".m.", ".", 1)
        title = _query_title(parts.query) or unquote(parts.path.partition("/wiki/")[2])
        if not title:
            raise FootnoteError(f"{target} is no article's address; it should contain /wiki/TITLE.")
        return f"{parts.scheme}://{host}/wiki/{_escaped(title)}"
    if prefixed := _PREFIXED.match(target):
        language, target = prefixed[1], prefixed[2].strip()
    if not target:
        raise FootnoteError("--wikipedia needs an article's title or address.")
    return f"{base.format(language=language)}/wiki/{_escaped(target)}"


def fetch_article(fetcher: Fetcher, address: str) -> Article:
    """The article at an address, redirects followed.

    Raises FootnoteError when there is none, or when the title stands for several: then the
    message lists them.
    """
    asked = _title_in(address)
    site = urlsplit(address).netloc
    try:
        page = fetcher.get(address)
    except FetchError as error:
        if error.reason == "status 404":
            raise FootnoteError(
                f"{site} has no article “{asked}”; titles are exact, so check spelling and capitals, "
                "or give the article's address."
            ) from None
        raise
    root = parse(decode(page.body, page.content_type))
    if root is None:
        raise FootnoteError(f"{page.url} is empty.")
    title = _title_of(root) or _title_in(page.url)
    if is_disambiguation(root):
        options = "; ".join(disambiguation_options(root)[:_MOST_OPTIONS])
        raise FootnoteError(
            f"“{title}” on {site} can mean several articles, name one of them: {options}."
        )
    return Article(page, title, asked)


def is_disambiguation(root: HtmlElement) -> bool:
    """Whether a MediaWiki page only lists the articles that its title can mean."""
    for element in root.iter("meta", "link"):
        names = f"{element.get('property') or ''} {element.get('href') or ''}"
        if "mw:PageProp/disambiguation" in names:
            return True
        if "mw:PageProp/Category" in names and _AMBIGUOUS.search(unquote(names)):
            return True
    for element in root.iter("div", "table", "p", "section", "dl"):
        names = " ".join([element.get("id") or "", *classes(element)])
        if element.get("id") == "catlinks" and _AMBIGUOUS.search(text_of(element)):
            return True
        # Notes at the head of ordinary articles mention other meanings as well.
        if _AMBIGUOUS.search(names) and "hatnote" not in names and not _in_hatnote(element):
            return "box" in names or "plantilla" in names or "disambig" in names.split()
    return False


def disambiguation_options(root: HtmlElement) -> list[str]:
    """The titles that a disambiguation page lists, in its order."""
    found = []
    for item in root.iter("li"):
        if any(
            local(e) in {"nav", "footer"} or e.get("id") in {"catlinks", "toc", "p-lang"}
            for e in item.iterancestors()
        ):
            continue
        for link in item.iter("a"):
            href = link.get("href") or ""
            path = href.partition("/wiki/")[2] if "/wiki/" in href else href.removeprefix("./")
            if href.startswith(("#", "http")) or not path or ":" in path or "action=" in href:
                continue
            title = link.get("title") or unquote(path).replace("_", " ")
            if not _AMBIGUOUS.search(title):
                found.append(prose(title.partition("#")[0]))
            break
    return list(dict.fromkeys(found))


def _in_hatnote(element: HtmlElement) -> bool:
    return any("hatnote" in classes(parent) for parent in element.iterancestors())


def _title_of(root: HtmlElement) -> str:
    for heading in root.iter("h1"):
        if heading.get("id") == "firstHeading" or "firstHeading" in classes(heading):
            return prose(text_of(heading))
    # The REST API's HTML has no heading, only a <title>.
    title = root.find(".//title")
    return prose(text_of(title)) if title is not None else ""


def _title_in(address: str) -> str:
    return unquote(urlsplit(address).path.rpartition("/wiki/")[2]).replace("_", " ")


def _query_title(query: str) -> str:
    match = re.search(r"(?:^|&)title=([^&]+)", query)
    return unquote(match[1].replace("+", " ")) if match else ""


def _escaped(title: str) -> str:
    title = re.sub(r"[\s_]+", "_", title.partition("#")[0].strip()).strip("_")
    return quote(title[:1].upper() + title[1:], safe="/:@!$*(),;'-._~")
