"""Formulas for the page: LaTeX in, a MathML tree of known elements out."""

from __future__ import annotations

import html
import logging
import re
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

log = logging.getLogger(__name__)

MAX_CHARS = 1000
MAX_DEPTH = 60
"""Elements inside each other; no formula that anyone reads has so many, and deeper JSON is refused."""

# MathML Core without what can carry an address, a script or foreign markup.
ELEMENT = re.compile(
    "math|mrow|mi|mn|mo|mtext|mspace|mfrac|msqrt|mroot|mstyle|mpadded|mphantom|msub|msup|msubsup"
    "|munder|mover|munderover|mmultiscripts|mtable|mtr|mtd|menclose"
)
ATTRIBUTE = re.compile(
    "display|mathvariant|stretchy|fence|separator|accent|accentunder|linethickness|displaystyle"
    "|scriptlevel|columnalign|rowspacing|columnspacing|columnlines|rowlines|width|height|depth"
    "|lspace|rspace|form|movablelimits|minsize|maxsize|largeop|symmetric|notation"
)


@lru_cache(maxsize=512)
def formula_tree(latex: str, *, display: bool = False) -> list[Any] | None:
    """`[name, {attribute: value}, [child or text, …]]`, or None for what can't be converted.

    The converter puts the text of `\\text{…}` into its markup unescaped, so its string output is
    never used: the tree is copied element by element, and only known names pass.
    """
    if not latex.strip() or len(latex) > MAX_CHARS:
        return None
    try:
        root = convert_to_element(latex, display="block" if display else "inline")
    except Exception as error:  # noqa: BLE001 - it raises many kinds, RecursionError included
        log.info("No formula: %s", type(error).__name__)
        return None
    return None if _is_too_deep(root) else _node(root)


def _is_too_deep(root: Element) -> bool:
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [child for element in level for child in element]
    return bool(level)


def _node(element: Element) -> list[Any] | None:
    if not ELEMENT.fullmatch(element.tag):
        return None
    attributes = {k: v for k, v in element.attrib.items() if ATTRIBUTE.fullmatch(k)}
    children: list[Any] = [html.unescape(element.text)] if element.text else []
    children += [node for child in element if (node := _node(child))]
    return [element.tag, attributes, children]
