"""Measures extraction against saved pages: words found, words too many, code, formulas, sections.

    python tests/ingest/measure_pages.py FOLDER [PAGE…] [--words]

FOLDER holds one folder per page with `source.html` and `expected.html` (what a reader should get),
as the test suite of mozilla/readability does. Recall is the share of the expected words that the
document holds, precision the share of the document's words that are expected; words are counted as
often as they occur. Left out on both sides: formulas (counted by themselves), and of MediaWiki
pages what an index has no use for: edit links, reference marks, hatnotes, navigation boxes, See
also, References, External links. `--words` lists the words that differ.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from lxml import etree
from lxml.html import HtmlElement, document_fromstring

from rag.ingest.dom import classes, drop, local, text_of
from rag.ingest.extract import extract
from rag.ingest.wikipedia import is_appendix
from rag.types import Document

ADDRESS = "http://fakehost/test/page.html"
_WORD = re.compile(r"\w+")
_FORMULA = re.compile(r"\$\$[^$]+\$\$|\$(?=\S)[^$\n]+?(?<=\S)\$(?!\d)")
_INLINE = set(
    "a abbr b bdi cite code dfn em font i kbd mark q s samp small span strong sub sup u var".split()
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def main() -> int:
    """Prints a line per page and the means; status 0."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("pages", nargs="*")
    arguments.add_argument("--words", action="store_true")
    options = arguments.parse_args()
    rows = []
    for source in sorted(options.folder.glob("*/source.html")):
        name = source.parent.name
        if options.pages and name not in options.pages:
            continue
        document = extract(source.read_bytes(), ADDRESS)
        reference = reference_tree(
            source.with_name("expected.html").read_bytes(), source.read_bytes()
        )
        expected, got = Counter(words_of(reference)), Counter(document_words(document))
        common = (expected & got).total()
        recall = common / max(1, expected.total())
        precision = common / max(1, got.total())
        rows.append((recall, precision))
        print(
            f"{name:20} recall {recall:.4f}  precision {precision:.4f}  {extras(document, source)}"
        )
        if options.words:
            print("   missing:", dict((expected - got).most_common(40)))
            print("   too many:", dict((got - expected).most_common(40)))
    count = max(1, len(rows))
    print(
        f"mean of {len(rows)}: recall {sum(r for r, _ in rows) / count:.4f}  "
        f"precision {sum(p for _, p in rows) / count:.4f}"
    )
    return 0


def document_words(document: Document) -> list[str]:
    """The words of a document's text without its formulas and the headings made for facts."""
    text = "\n\n".join(
        block.text if block.kind == "code" else _FORMULA.sub(" ", block.text)
        for block in document.blocks
        if not (
            block.kind == "heading"
            and block.anchor is None
            and block.section[-1:] in {("Facts",), ("Datos",)}
        )
    )
    return _WORD.findall(text.lower())


def reference_tree(expected: bytes, source: bytes) -> HtmlElement:
    """The expected page without formulas and, of a MediaWiki page, without what is left out there."""
    root = document_fromstring(expected.decode())
    for element in list(root.iter()):
        if local(element) in {"math", "mjx-container"} or _is_formula_image(element):
            drop(element)
    if b"MediaWiki" in source or b"mw-content-text" in source:
        _without_wiki_extras(root)
    return root


def words_of(root: HtmlElement) -> list[str]:
    """Lower-case words as a reader sees them: block elements part words, inline ones don't."""
    pieces: list[str] = []

    def walk(element: etree._Element) -> None:
        edge = "" if local(element) in _INLINE else " "
        pieces.append(edge + (element.text or ""))
        for child in element:
            if isinstance(child.tag, str):
                walk(child)
            pieces.append(child.tail or "")
        pieces.append(edge)

    walk(root)
    return _WORD.findall("".join(pieces).lower())


def extras(document: Document, source: Path) -> str:
    """What can be counted exactly: code blocks byte for byte, formulas once, sections complete."""
    root = document_fromstring(source.read_bytes().decode())
    notes = [f"{document.language} {document.published or '-'}"]
    codes = [_code(pre) for pre in root.iter("pre")]
    if codes:
        exact = sum(any(code in block.text for block in document.blocks) for code in codes)
        notes.append(f"code {exact}/{len(codes)}")
    formulas = sum(1 for _ in root.iter("math", "{http://www.w3.org/1998/Math/MathML}math"))
    if formulas:
        found = len(_FORMULA.findall(document.text))
        notes.append(f"formulas {found}/{formulas}")
    if paths := _section_paths(root):
        found_paths = {b.section[: n + 1] for b in document.blocks for n in range(len(b.section))}
        notes.append(f"sections {len(paths & found_paths)}/{len(paths)}")
    return ", ".join(notes)


def _section_paths(root: HtmlElement) -> set[tuple[str, ...]]:
    """The path of every heading of a MediaWiki page, without the sections that aren't indexed."""
    paths: set[tuple[str, ...]] = set()
    stack: list[tuple[int, str]] = []
    for heading in root.iter(*_HEADINGS):
        if not any("mw-headline" in classes(inner) for inner in heading.iter("span")):
            continue
        level, text = int(heading.tag[1]), _plain(heading)
        stack = [entry for entry in stack if entry[0] < level] + [(level, text)]
        if not any(is_appendix(name) for _, name in stack):
            paths.add(tuple(name for _, name in stack))
    return paths


def _code(pre: HtmlElement) -> str:
    for line_break in list(pre.iter("br")):
        line_break.tail = "\n" + (line_break.tail or "")
    return text_of(pre).strip()


def _is_formula_image(element: etree._Element) -> bool:
    return local(element) == "img" and "math" in (element.get("src") or "")


def _without_wiki_extras(root: HtmlElement) -> None:
    for element in list(root.iter("sup", "span", "div")):
        text = " ".join(text_of(element).split())
        reference = local(element) == "sup" and re.match(r"\[.+\]$", text)
        edit = local(element) == "span" and text in {"[edit]", "[ edit ]", "[", "]"}
        contents = text.startswith("Contents 1 ") or element.get("id") == "toc"
        if reference or edit or contents or element.get("role") in {"note", "navigation"}:
            drop(element)
    for heading in [h for h in root.iter(*_HEADINGS) if is_appendix(_plain(h))]:
        level = int(heading.tag[1])
        follower = heading.getnext()
        while follower is not None and not (
            local(follower) in _HEADINGS and int(follower.tag[1]) <= level
        ):
            following = follower.getnext()
            drop(follower)
            follower = following
        drop(heading)


def _plain(heading: HtmlElement) -> str:
    return re.sub(r"\[\s*edit\s*\]", "", " ".join(text_of(heading).split())).strip()


if __name__ == "__main__":
    sys.exit(main())
