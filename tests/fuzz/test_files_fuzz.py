"""Pages, sitemaps and collections of any content: text, a reason in one line, never a traceback."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.ingest.chunk import chunk as cut
from rag.ingest.extract import extract
from rag.ingest.fetch import FetchError, Page
from rag.ingest.refuse import NotAnArticle
from rag.ingest.site import read_feed, read_sitemap
from rag.search import store
from rag.search.calibrate import gate_of
from rag.search.search import Searcher
from rag.types import FootnoteError
from tests.fuzz.shapes import JSON, PAGES, TEXTS
from tests.words import WordEncoder, chunk, stored

ENCODER = WordEncoder()
LONGEST = 20.0
"""Seconds; a case takes milliseconds on an idle machine."""


@settings(max_examples=settings().max_examples // 4)  # a page costs more than a call
@given(page=PAGES, kind=st.sampled_from([None, "text/html", "text/html; charset=latin-1", "x/y"]))
def test_any_page_gives_a_document_or_a_reason(page: bytes, kind: str | None) -> None:
    began = time.monotonic()
    try:
        document = extract(page, "https://blog.example/posts/x", kind)
    except NotAnArticle as error:
        assert error.reason
    else:
        for piece in cut(document, ENCODER.count_tokens):
            assert all(0 <= a <= b <= len(piece.text) for a, b in piece.sentences)
        json.dumps([block.text for block in document.blocks], ensure_ascii=False).encode()
    assert time.monotonic() - began < LONGEST


ADDRESSES = st.one_of(TEXTS, st.sampled_from(["https://a.example/x", "http://[", "//x", "/y"]))
MAPS = st.one_of(
    st.binary(max_size=200),
    st.lists(st.tuples(st.sampled_from(["url", "sitemap", "x"]), ADDRESSES), max_size=6).map(
        lambda entries: (
            "<urlset>" + "".join(f"<{k}><loc>{a}</loc></{k}>" for k, a in entries) + "</urlset>"
        ).encode("utf-8", "replace")
    ),
    st.lists(ADDRESSES, max_size=6).map(
        lambda links: (
            '<rss version="2.0"><channel>'
            + "".join(f"<item><link>{a}</link></item>" for a in links)
            + "</channel></rss>"
        ).encode("utf-8", "replace")
    ),
)


@given(body=MAPS)
def test_any_sitemap_or_feed_gives_addresses_or_a_line(body: bytes) -> None:
    address = "https://blog.example/sitemap.xml"

    def get(url: str) -> Page:
        if url == address:
            return Page(url, url, body, "application/xml")
        raise FetchError(url, "status 404")

    for read in (lambda: list(read_sitemap(address, get)), lambda: read_feed(address, get)):
        try:
            assert all(isinstance(url, str) for url in read())
        except FootnoteError as error:
            assert "\n" not in str(error)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A good one."""
    pieces = [chunk("Falcons fly fast. They nest.", "a"), chunk("Bread bakes for an hour.", "b")]
    whole = stored(pieces, name="good")
    folder = tmp_path_factory.mktemp("fuzz") / "good"
    store.save(folder, whole.manifest, whole.chunks, whole.index, whole.sentence_vectors)
    yield folder


def judged(folder: Path) -> None:
    """It loads and can be searched, or is refused in a line."""
    try:
        loaded = store.load(folder, ENCODER.fingerprint, ENCODER.dimension)
        gate = gate_of(loaded.manifest)
    except FootnoteError as error:
        assert "\n" not in str(error)
        return
    loaded.manifest.info().as_json()
    try:
        found = Searcher(loaded, ENCODER).search("How fast do falcons fly?", 3, "en")
    except FootnoteError as error:
        assert "\n" not in str(error)
        return
    gate.decide("How fast do falcons fly?", found, "en")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path]
    for key, inner in items if isinstance(value, dict | list) else ():
        found += places(inner, (*path, key)) if isinstance(inner, dict | list) else [(*path, key)]
    return found


@given(data=st.data(), value=JSON,
       name=st.sampled_from(["chunks.json", "manifest.json", "lexical/words.json"]),
       drop=st.booleans())  # fmt: skip
def test_any_change_in_a_json_file_is_refused_or_harmless(
    collection: Path, data: st.DataObject, name: str, value: Any, drop: bool
) -> None:
    whole = json.loads((collection / name).read_text())
    place = data.draw(st.sampled_from(places(whole)))
    if not place:
        whole = value
    else:
        inner = whole
        for key in place[:-1]:
            inner = inner[key]
        if drop:
            del inner[place[-1]]
        else:
            inner[place[-1]] = value
    with changed(collection) as folder:
        (folder / name).write_text(json.dumps(whole), encoding="utf-8")
        judged(folder)


@given(name=st.sampled_from(["chunks.json", "manifest.json", "index.faiss", "sentences.npy",
                             *(f"lexical/{n}" for n in ("grams.npy", "starts.npy", "chunks.npy",
                                                        "scores.npy", "words.json"))]),
       at=st.floats(0, 0.999), junk=st.binary(min_size=1, max_size=8),
       cut_off=st.booleans(), in_header=st.booleans())  # fmt: skip
def test_any_bytes_in_any_file_are_refused_or_harmless(
    collection: Path, name: str, at: float, junk: bytes, cut_off: bool, in_header: bool
) -> None:
    body = bytearray((collection / name).read_bytes())
    place = int(at * (min(len(body), 48) if in_header else len(body)))
    if cut_off:
        del body[place:]
    else:
        body[place : place + len(junk)] = junk
    with changed(collection) as folder:
        (folder / name).write_bytes(body)
        judged(folder)


class changed:
    """A copy of a collection for as long as the block lasts."""

    def __init__(self, collection: Path) -> None:
        self.collection = collection
        self.copy = collection.with_name("changed")

    def __enter__(self) -> Path:
        shutil.rmtree(self.copy, ignore_errors=True)
        return Path(shutil.copytree(self.collection, self.copy))

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.copy)
