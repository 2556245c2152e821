"""Small tools on lxml trees that keep the text around an element where it is."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

_MOST_DEPTH = 120
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(x[0-9a-f]{1,8}|[0-9]{1,10});?", re.I)


def parse(markup: str) -> HtmlElement | None:
    """The <html> element, or None when there is no markup at all. Never fetches anything."""
    # lxml refuses a str that declares an encoding, so the bytes are made anew in a known one.
    parser = HTMLParser(
        encoding="utf-8", huge_tree=True, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        tree = document_fromstring(_legal(markup).encode("utf-8", errors="replace"), parser=parser)
    except etree.ParserError:
        return None
    _flatten(tree)
    return tree


def _legal(markup: str) -> str:
    """The markup without the characters that XML has no place for, spelled out or referred to."""
    return _REFERENCE.sub(_legal_reference, _CONTROL.sub("", markup))


def _legal_reference(match: re.Match[str]) -> str:
    digits = match[1].lower()
    number = int(digits[1:], 16) if digits.startswith("x") else int(digits)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000 or _CONTROL.match(chr(number)):
        return ""
    return match[0]


def _flatten(tree: HtmlElement) -> None:
    """Takes away tags nested deeper than any real page does, so that walks can recurse."""
    depth = 0
    deep = []
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "end" and depth >= _MOST_DEPTH:
            deep.append(element)
    for element in deep:
        unwrap(element)


def local(element: etree._Element) -> str:
    """The tag's name in lower case without a prefix; empty for comments and the like."""
    return (
        element.tag.rpartition("}")[2].rpartition(":")[2].lower()
        if isinstance(element.tag, str)
        else ""
    )


def classes(element: etree._Element) -> set[str]:
    """The element's class names."""
    return set((element.get("class") or "").split())


def drop(element: etree._Element) -> None:
    """Takes the element out with all that is in it; the text behind it stays."""
    parent = element.getparent()
    if parent is None:
        return
    _leave_tail(element, parent)
    parent.remove(element)


def replace(element: etree._Element, other: etree._Element) -> None:
    """Puts `other` in the element's place; the text behind it stays."""
    parent = element.getparent()
    if parent is None:
        return
    other.tail = element.tail
    element.tail = None
    parent.replace(element, other)


def unwrap(element: etree._Element) -> None:
    """Takes the tag away and leaves what is in it."""
    parent = element.getparent()
    if parent is None:
        return
    index = parent.index(element)
    _append_text(parent, index, element.text)
    children = list(element)
    for offset, child in enumerate(children):
        parent.insert(index + offset, child)
    _append_text(parent, index + len(children), element.tail)
    element.tail = None
    parent.remove(element)


def text_of(element: etree._Element) -> str:
    """All text in the element, its own tail left out."""
    return "".join(element.itertext())


def words_in(element: etree._Element) -> int:
    """How many words the element holds."""
    return len(text_of(element).split())


def _leave_tail(element: etree._Element, parent: etree._Element) -> None:
    if element.tail:
        _append_text(parent, parent.index(element), element.tail)
    element.tail = None


def _append_text(parent: etree._Element, index: int, text: str | None) -> None:
    """Adds text in front of the child at `index`."""
    if not text:
        return
    if index > 0:
        before = parent[index - 1]
        before.tail = (before.tail or "") + text
    else:
        parent.text = (parent.text or "") + text
