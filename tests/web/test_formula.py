"""Formulas become a tree of known MathML elements, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rag.web.formula import ATTRIBUTE, ELEMENT, formula_tree
from tests.web.conftest import Site


def nodes(tree: Any) -> Iterator[list[Any]]:
    yield tree
    for child in tree[2]:
        if isinstance(child, list):
            yield from nodes(child)


def texts(tree: Any) -> str:
    return "".join(c if isinstance(c, str) else texts(c) for c in tree[2])


def test_a_fraction_is_a_fraction() -> None:
    tree = formula_tree(r"\frac{a}{b} \le \sum_i x_i")
    names = [node[0] for node in nodes(tree)]
    assert names[0] == "math"
    assert "mfrac" in names
    assert "≤" in texts(tree)
    assert "∑" in texts(tree)


def test_display_is_kept() -> None:
    tree = formula_tree("x", display=True)
    assert tree is not None
    assert tree[1]["display"] == "block"


@pytest.mark.parametrize(
    "latex",
    [r"\text{<img src=x onerror=alert(1)>}", r"\href{javascript:alert(1)}{x}",
     "<script>alert(1)</script>", r"\style{position:fixed}{x}", r"\class{a}{x}"],
)  # fmt: skip
def test_nothing_but_known_elements_and_attributes_passes(latex: str) -> None:
    tree = formula_tree(latex)
    assert tree is not None
    for name, attributes, _ in nodes(tree):
        assert ELEMENT.fullmatch(name)
        assert all(ATTRIBUTE.fullmatch(key) for key in attributes)


def test_markup_in_a_text_stays_its_letters() -> None:
    assert "<img\N{NO-BREAK SPACE}src=x>" in texts(formula_tree(r"\text{<img src=x>}"))


@pytest.mark.parametrize("latex", ["", " ", r"\frac{", r"\left(", "a^b^c", "{" * 900, "x" * 1001])
def test_what_is_no_formula_gives_nothing(latex: str) -> None:
    assert formula_tree(latex) is None


@pytest.mark.parametrize(
    "nest", ["{%s}", r"\sqrt{%s}", r"\frac{%s}{x}", r"\left(%s\right)", "x^{%s}"]
)
@pytest.mark.parametrize("depth", [5, 20, 60, 100, 200, 400])
def test_however_deep_it_is_it_can_be_sent_or_is_no_formula(
    site: Site, nest: str, depth: int
) -> None:
    latex = "x"
    for _ in range(depth):
        latex = nest.replace("%s", latex)
    answer = httpx.get(f"{site.url}/page/formula", params={"latex": latex})
    assert answer.status_code in ((200,) if depth == 5 else (200, 422)), answer.text
