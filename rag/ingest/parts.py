"""Cuts a cleaned tree into its parts in reading order: headings, paragraphs, lists, tables, code …"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree
from lxml.html import HtmlElement

from rag.ingest.code import fenced
from rag.ingest.dom import classes, local, text_of
from rag.ingest.tables import is_layout, rows
from rag.ingest.text import prose, visible
from rag.types import BlockKind

Slot = tuple[etree._Element, str]
"""Where a piece of text stands in the tree: an element and `text` or `tail`."""

_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main nav ol p pre section summary "
    "table tbody td tfoot th thead tr ul".split()
)
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_EMOJI = {"emoji", "wp-smiley", "emojione", "twemoji"}


@dataclass
class Part:
    """A piece of the page before it is known whether it belongs to the page's own text."""

    kind: BlockKind
    text: str
    element: etree._Element
    slots: list[Slot] = field(default_factory=list)
    level: int = 0
    """1 to 6 for a heading, else 0."""
    anchor: str | None = None
    """A heading's id."""


def parts(root: HtmlElement) -> list[Part]:
    """All parts of the tree in reading order. The tree isn't changed."""
    return [part for part in _walk(root, "paragraph") if part.text.strip()]


def _walk(element: etree._Element, kind: BlockKind) -> Iterator[Part]:
    """Parts in the element; loose text becomes paragraphs of the given kind."""
    run = _Run(element, kind)
    run.add(element.text, (element, "text"))
    for child in element:
        if not isinstance(child.tag, str):
            run.add(child.tail, (child, "tail"))
            continue
        if _is_block(child):
            yield from run.flush()
            yield from _block(child, kind)
            run.at(element)
        else:
            run.inline(child)
        run.add(child.tail, (child, "tail"))
    yield from run.flush()


def _is_block(element: etree._Element) -> bool:
    if local(element) in _BLOCKS:
        return True
    return any(local(inner) in _BLOCKS for inner in element.iterdescendants())


def _block(element: etree._Element, kind: BlockKind) -> Iterator[Part]:
    tag = local(element)
    if tag in _HEADINGS:
        text, slots = inline_text(element)
        yield Part(
            "heading", prose(text), element, slots, level=_HEADINGS[tag], anchor=element.get("id")
        )
    elif tag == "pre":
        code = fenced(element.text or "", element.get("data-fn-lang", ""))
        yield Part("code", code, element, [(element, "text")])
    elif tag in {"ul", "ol", "dir"}:
        yield from _list(element, kind)
    elif tag == "dl" and any(local(child) == "dt" for child in element.iter()):
        yield from _definitions(element, kind)
    elif tag == "table":
        yield from _table(element, kind)
    elif tag == "blockquote":
        yield from _walk(element, "quote")
    elif tag == "figcaption":
        yield from _walk(element, "caption")
    elif tag != "hr":
        yield from _walk(element, kind)


class _Run:
    """Text and inline elements that follow one another without a block between them."""

    def __init__(self, element: etree._Element, kind: BlockKind) -> None:
        self.element = element
        self.kind = kind
        self.pieces: list[str] = []
        self.slots: list[Slot] = []

    def at(self, element: etree._Element) -> None:
        self.element = element

    def add(self, text: str | None, slot: Slot) -> None:
        if text:
            if text.strip():
                self.slots.append(slot)
            self.pieces.append(_soft(text))

    def inline(self, element: etree._Element) -> None:
        _inline(element, self.pieces, self.slots)

    def flush(self) -> Iterator[Part]:
        text, slots = "".join(self.pieces), self.slots
        self.pieces, self.slots = [], []
        # Two line breaks in a row are how old pages end a paragraph.
        paragraphs = [lines(p) for p in re.split(r"\n(?:[ \t]*\n)+", text)]
        paragraphs = [p for p in paragraphs if p]
        for index, paragraph in enumerate(paragraphs):
            kind = self.kind
            if kind == "paragraph" and re.fullmatch(r"\$\$[^$]+\$\$[.,;]?", paragraph):
                kind = "formula"
            if kind == "quote":
                paragraph = quoted(paragraph)
            # Where a run is split, each paragraph takes its share of the places in the tree.
            share = slots[
                index * len(slots) // len(paragraphs) : (index + 1) * len(slots) // len(paragraphs)
            ]
            yield Part(kind, paragraph, self.element, share[:1])


def inline_text(element: etree._Element) -> tuple[str, list[Slot]]:
    """The text of an inline element, `\\n` for a line break, and where its pieces stand."""
    pieces: list[str] = []
    slots: list[Slot] = []
    _inline(element, pieces, slots)
    return "".join(pieces), slots


def _inline(element: etree._Element, pieces: list[str], slots: list[Slot]) -> None:
    tag = local(element)
    if tag == "br":
        pieces.append("\n")
        return
    if tag == "img":
        if classes(element) & _EMOJI:
            pieces.append(element.get("alt") or "")
        return
    if tag in {"rt", "rp"}:
        return
    if "fn-formula" in classes(element):
        pieces.append(element.text or "")
        slots.append((element, "text"))
        return
    # 10<sup>6</sup> is not 106.
    if (
        tag == "sup"
        and re.search(r"\d$", "".join(pieces)[-1:])
        and re.match(r"[-−]?\d", text_of(element).strip())
    ):
        pieces.append("^")
    if tag == "q":
        pieces.append("“")
    if element.text:
        pieces.append(_soft(element.text))
        if element.text.strip():
            slots.append((element, "text"))
    for child in element:
        if isinstance(child.tag, str):
            _inline(child, pieces, slots)
        if child.tail:
            pieces.append(_soft(child.tail))
            if child.tail.strip():
                slots.append((child, "tail"))
    if tag == "q":
        pieces.append("”")


def _soft(text: str) -> str:
    """Source line breaks mean a space in HTML; only <br> breaks a line."""
    return re.sub(r"[\s ]+", " ", text)


def lines(text: str) -> str:
    """Prose with the line breaks that <br> made, each line trimmed, empty ones left out."""
    return "\n".join(line for line in (prose(line) for line in text.split("\n")) if line)


def quoted(text: str) -> str:
    """Every line marked as a quotation."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _list(element: etree._Element, kind: BlockKind) -> Iterator[Part]:
    items = [child for child in element if local(child) == "li"]
    if any(local(e) in _HEADINGS for e in element.iter()) or not items:
        yield from _walk(element, kind)
        return
    pending = Part("list", "", element)
    for out in _items(element, 0):
        if isinstance(out, Part):
            if pending.text:
                yield _finish(pending, kind)
            yield out
            pending = Part("list", "", element)
        else:
            line, slots = out
            pending.text += ("\n" if pending.text else "") + line
            pending.slots.extend(slots[:1])
    if pending.text:
        yield _finish(pending, kind)


def _finish(part: Part, kind: BlockKind) -> Part:
    if kind == "quote":
        part.text = quoted(part.text)
        part.kind = "quote"
    return part


def _items(element: etree._Element, depth: int) -> Iterator[tuple[str, list[Slot]] | Part]:
    """The lines of a list, nested ones indented by two spaces each; code and tables in it as parts."""
    ordered = local(element) == "ol"
    number = _int(element.get("start"), 1)
    for child in element:
        if local(child) in {"ul", "ol"}:
            yield from _items(child, depth + 1)
            continue
        if local(child) != "li":
            continue
        number = _int(child.get("value"), number)
        marker = f"{number}. " if ordered else "- "
        number += 1
        first = True
        for part in _walk(child, "paragraph"):
            if part.kind in {"code", "table", "heading"}:
                yield part
                continue
            if part.kind == "list":
                for line in part.text.split("\n"):
                    yield "  " * (depth + 1) + line, part.slots
                    part.slots = part.slots[1:]
                continue
            if not part.text.strip():
                continue
            for line in part.text.split("\n"):
                indent = "  " * depth + (marker if first else "  ")
                yield indent + line, part.slots
                first = False
                part.slots = []


def _int(text: str | None, default: int) -> int:
    try:
        return int(text) if text else default
    except ValueError:
        return default


def _definitions(element: etree._Element, kind: BlockKind) -> Iterator[Part]:
    """Terms with their explanations: `- term: explanation`, or the term, then what is more than text."""
    pending = Part("list", "", element)
    term: str = ""
    term_slots: list[Slot] = []
    for child in element.iter("dt", "dd"):
        if any(
            local(p) in {"dd", "dl"}
            for p in child.iterancestors()
            if p is not element and _inside(p, element)
        ):
            continue
        if local(child) == "dt":
            if term:
                _append(pending, f"- {term}", term_slots)
            text, term_slots = inline_text(child)
            term = prose(text)
            continue
        inner = [part for part in _walk(child, "paragraph") if part.text.strip()]
        plain = [part for part in inner if part.kind in {"paragraph", "formula", "caption"}]
        if len(plain) == len(inner):
            text = " ".join(prose(part.text) for part in plain)
            slots = term_slots + [slot for part in plain for slot in part.slots]
            if term:
                mark = "" if term.endswith((":", "?", ".", "!")) else ":"
                _append(pending, f"- {term}{mark} {text}", slots)
            elif text:
                _append(pending, f"  {text}" if pending.text else f"- {text}", slots)
            term, term_slots = "", []
            continue
        if term:
            _append(pending, f"- {term}", term_slots)
            term, term_slots = "", []
        if pending.text:
            yield _finish(pending, kind)
            pending = Part("list", "", element)
        yield from inner
    if term:
        _append(pending, f"- {term}", term_slots)
    if pending.text:
        yield _finish(pending, kind)


def _inside(element: etree._Element, root: etree._Element) -> bool:
    return any(parent is root for parent in element.iterancestors())


def _append(part: Part, line: str, slots: list[Slot]) -> None:
    part.text += ("\n" if part.text else "") + line
    part.slots.extend(slots[:1])


def _table(element: etree._Element, kind: BlockKind) -> Iterator[Part]:
    for caption in element.iterchildren("caption"):
        yield from _walk(caption, "caption")
    if is_layout(element):
        for child in element:
            if local(child) != "caption":
                yield from _walk(child, kind)
        return
    slots: list[Slot] = []
    for row in element.iter("tr"):
        slots.extend(inline_text(row)[1][:1])
    cells = rows(element, lambda cell: prose(cell_text(cell)))
    yield Part("table", visible("\n".join(cells)), element, slots)


def cell_text(cell: etree._Element) -> str:
    """A cell's text on one line; list items and paragraphs in it are parted by commas or spaces."""
    found = [part for part in _walk(cell, "paragraph") if part.text.strip()]
    texts = []
    for part in found:
        if part.kind == "list":
            texts.append(
                ", ".join(re.sub(r"^\s*(?:- |\d+\. )", "", ln) for ln in part.text.split("\n"))
            )
        else:
            texts.append(part.text.replace("\n", ", ") if part.kind != "code" else part.text)
    return " ".join(texts)
