"""From a source to documents: finds the pages, fetches or reads them, extracts, and keeps account."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from rag.ingest.addresses import is_valid
from rag.ingest.cache import PageCache, digest, write_atomically
from rag.ingest.extract import extract
from rag.ingest.fetch import Fetcher, FetchError, Limits, Page
from rag.ingest.refuse import NotAnArticle
from rag.ingest.site import read_feed, read_list, read_sitemap, same_site, unwanted
from rag.ingest.wikipage import article_address, fetch_article
from rag.types import Block, Document, FootnoteError

SourceKind = Literal["sitemap", "feed", "urls", "html", "wikipedia"]
Progress = Callable[["Report", str], None]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """Where a collection's pages come from."""

    kind: SourceKind
    target: str
    """An address, a file of addresses, a folder, or an article's title."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    language: str | None = None
    """The Wikipedia edition for a title that names none; English if None."""
    mirror: tuple[str, str] | None = None
    """Pages whose address begins with the first are fetched from the second."""
    wikipedia: str = "https://{language}.wikipedia.org"


@dataclass
class Report:
    """What became of every page; grows while `collect` runs."""

    found: int = 0
    indexed: int = 0
    unchanged: int = 0
    """Of those indexed: taken over from an earlier build, because the page is the same."""
    requests: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    """Address → why it was left out."""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self, most: int = 20) -> list[str]:
        """The report for a terminal: totals, then the reasons with up to `most` addresses each."""
        out = [
            f"{self.found} pages found, {self.indexed} indexed ({self.unchanged} unchanged), "
            f"{len(self.skipped)} skipped, {self.requests} requests, {self.seconds:.1f} s",
            *self.notes,
        ]
        for reason, count in Counter(self.skipped.values()).most_common():
            out.append(f"skipped {count}: {reason}")
            addresses = [address for address, why in self.skipped.items() if why == reason]
            out.extend(f"  {address}" for address in addresses[:most])
            if count > most:
                out.append(f"  … and {count - most} more")
        return out


def collect(
    source: Source,
    report: Report,
    *,
    limit: int | None = None,
    delay: float = 1.0,
    cache_dir: Path | None = None,
    progress: Progress = lambda report, address: None,
    limits: Limits | None = None,
) -> Iterator[Document]:
    """The source's documents, one at a time; at most `limit`.

    `delay` is the pause between requests to one host in seconds. With `cache_dir`, pages that
    haven't changed aren't fetched again, nor extracted again, and a run that was killed goes on
    where it was. `progress` is called after each page. What can't be indexed goes into
    `report.skipped`. Raises FootnoteError when the source itself can't be read or nothing in it
    can be indexed.
    """
    started = time.monotonic()
    store = PageCache(cache_dir) if cache_dir else None
    run = _Run(cache_dir, source) if cache_dir else None
    limits = Limits(
        delay=delay,
        **{k: v for k, v in asdict(limits or Limits()).items() if k != "delay"},
    )
    fetcher = Fetcher(
        limits,
        store,
        fresh_since=run.since if run else float("inf"),
        mirror=source.mirror,
        typed=_typed(source),
    )
    seen: dict[str, str] = {}
    with fetcher:
        for page in _pages(source, fetcher, report, limits):
            document = _document(page, store, report, seen)
            report.requests = fetcher.requests
            report.seconds = time.monotonic() - started
            if document is not None:
                report.indexed += 1
                report.unchanged += page.unchanged
            progress(report, page.requested)
            if document is not None:
                yield document
            if limit is not None and report.indexed >= limit:
                break
        report.requests = fetcher.requests
    report.seconds = time.monotonic() - started
    if run:
        run.finish()
    if not report.indexed:
        reasons = Counter(report.skipped.values()).most_common(1)
        why = f"the most frequent reason: {reasons[0][0]}" if reasons else "it names no pages"
        raise FootnoteError(
            f"No page of {source.target} could be indexed ({report.found} found; {why})."
        )


def _typed(source: Source) -> list[str]:
    """The addresses that the user gave: they may lie on this machine; what they lead to may not."""
    if source.kind == "urls":
        return read_list(_list_of(source))
    base = source.wikipedia if source.kind == "wikipedia" else source.target
    return [source.target, base]


def _list_of(source: Source) -> str:
    path = Path(source.target)
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise FootnoteError(
            f"{path} can't be read ({error.strerror}); give a file with one address a line."
        ) from None


def _pages(source: Source, fetcher: Fetcher, report: Report, limits: Limits) -> Iterator[Page]:
    """Pages as they are found; faults of single pages go into the report."""
    if source.kind == "html":
        yield from _saved(Path(source.target), source, report, limits)
        return
    if source.kind == "wikipedia":
        address = article_address(source.target, source.language or "en", source.wikipedia)
        article = fetch_article(fetcher, address)
        report.found += 1
        if article.asked != article.title:
            report.notes.append(f"“{article.asked}” leads to “{article.title}”")
        yield article.page
        return
    for url in _addresses(source, fetcher, report):
        report.found += 1
        valid = is_valid(url)
        reason = unwanted(url, source.include, source.exclude) if valid else "not a valid address"
        if reason:
            report.skipped[url] = reason
            continue
        try:
            yield fetcher.get(url)
        except FetchError as error:
            report.skipped[url] = error.reason


def _addresses(source: Source, fetcher: Fetcher, report: Report) -> Iterator[str]:
    def get(url: str) -> Page:
        return fetcher.get(url, types=None)

    def trouble(url: str, reason: str) -> None:
        report.skipped[url] = f"sitemap: {reason}"

    if source.kind == "sitemap":
        for url in read_sitemap(source.target, get, trouble):
            if same_site(url, source.target):
                yield url
            else:
                report.found += 1
                report.skipped[url] = "on another site"
    elif source.kind == "feed":
        yield from read_feed(source.target, get)
    else:
        yield from read_list(_list_of(source))


def _saved(folder: Path, source: Source, report: Report, limits: Limits) -> Iterator[Page]:
    """The HTML files of a folder, each folder's files by name; links to folders aren't followed."""
    if not folder.is_dir():
        raise FootnoteError(f"{folder} is no folder; --html needs one that holds saved pages.")
    for directory, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(directory) / name
            if path.suffix.lower() not in {".html", ".htm", ".xhtml"}:
                continue
            report.found += 1
            address = path.absolute().as_uri()
            # Below the folder, paths say what they would on the site: /tags/python/index.html.
            place = re.sub(r"index\.x?html?$", "", "/" + path.relative_to(folder).as_posix())
            if reason := unwanted(place, source.include, source.exclude):
                report.skipped[address] = reason
                continue
            try:
                if path.stat().st_size > limits.max_bytes:
                    report.skipped[address] = f"larger than {limits.max_bytes / 1_000_000:g} MB"
                    continue
                body = path.read_bytes()
            except OSError as error:
                report.skipped[address] = f"can't be read ({error.strerror})"
                continue
            yield Page(address, address, body, "")


def _document(
    page: Page, store: PageCache | None, report: Report, seen: dict[str, str]
) -> Document | None:
    """The page's document, unless it has none or repeats another's address or text."""
    if _is_binary(page.body):
        report.skipped[page.requested] = "binary, not a page"
        return None
    try:
        document = _extracted(page, store)
    except NotAnArticle as error:
        report.skipped[page.requested] = error.reason
        return None
    text = digest(document.text.encode("utf-8", "replace"))
    for key, reason in ((document.url, "the same page as"), (text, "the same text as")):
        if key in seen:
            report.skipped[page.requested] = f"{reason} {seen[key]}"
            return None
    seen[document.url] = seen[text] = page.requested
    return document


def _extracted(page: Page, store: PageCache | None) -> Document:
    if store is None:
        return extract(page.body, page.url, page.content_type)
    key = "\0".join((_code_version(), page.url, page.content_type, digest(page.body)))
    known = store.load_result(key)
    if known is not None:
        if "reason" in known:
            raise NotAnArticle(page.url, known["reason"])
        return _read_document(known)
    try:
        document = extract(page.body, page.url, page.content_type)
    except NotAnArticle as error:
        store.save_result(key, {"reason": error.reason})
        raise
    store.save_result(key, asdict(document))
    return document


def _read_document(known: dict[str, Any]) -> Document:
    blocks = tuple(
        Block(b["kind"], b["text"], tuple(b["section"]), b["anchor"]) for b in known.pop("blocks")
    )
    known["tags"] = tuple(known["tags"])
    known["alternates"] = tuple(known["alternates"])
    return Document(blocks=blocks, **known)


@cache
def _code_version() -> str:
    """Changes with the code that extracts, so that no build takes over what older code made."""
    total = hashlib.sha256(version("trafilatura").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()


def _is_binary(body: bytes) -> bool:
    """Whether a body is no text: a PDF, or zero bytes without being UTF-16 or UTF-32."""
    head = body[:4096]
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return False
    return b"\0" in head or head.startswith(b"%PDF-")


class _Run:
    """Remembers when an unfinished run began, so that the next one takes over its pages unasked."""

    def __init__(self, folder: Path, source: Source) -> None:
        name = digest(json.dumps(asdict(source), sort_keys=True).encode())[:16]
        self.path = folder / f"unfinished-{name}.json"
        now = time.time()
        self.since = now
        try:
            began = float(json.loads(self.path.read_text("utf-8"))["began"])
        except (OSError, ValueError, KeyError, TypeError):
            write_atomically(self.path, json.dumps({"began": now}).encode())
        else:
            # After a day the pages may have changed; then the run begins anew.
            if 0 <= now - began < 86_400:
                self.since = began
            else:
                write_atomically(self.path, json.dumps({"began": now}).encode())

    def finish(self) -> None:
        """The next run asks the servers again."""
        self.path.unlink(missing_ok=True)
