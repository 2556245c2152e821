"""Every formula of a page once, as LaTeX: MathML, KaTeX, MathJax 2 and 3, MediaWiki, images."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

from rag.ingest.dom import classes, drop, local, replace
from rag.ingest.mathml import latex

_CONTAINERS = (
    "mjx-container",
    "katex",
    "katex-display",
    "mwe-math-element",
    "MathJax",
    "MathJax_Display",
    "MathJax_SVG",
    "MathJax_SVG_Display",
    "MathJax_CHTML",
    "mjx-chtml",
    "MJXc-display",
)
_RENDERED = {"MathJax", "MathJax_Display", "MathJax_SVG"}
_PREVIEWS = {
    "MathJax_Preview",
    "MJX_Assistive_MathML",
    "katex-html",
    "mwe-math-fallback-image-inline",
}
_DISPLAYSTYLE = re.compile(r"^\{\\displaystyle\s*(.*)\}$", re.S)
_TEX_ATTRIBUTES = ("data-tex", "data-latex", "data-formula", "data-math", "data-expr")
_TEX_IMAGES = {"latex", "tex", "math", "latex_formula", "ql-img-inline-formula"}
_TEX_IMAGES_DISPLAY = {"ql-img-displayed-equation"}


def formulas_to_latex(root: HtmlElement) -> None:
    """Puts a `<span class="fn-formula">` with `$…$` or `$$…$$` in the place of every formula.

    The source comes from, in this order: the TeX annotation, an attribute, the `alttext`, the
    MathML itself. Renderings beside it (HTML, SVG, images, previews, assistive copies) go.
    """
    for script in list(root.iter("script")):
        kind = (script.get("type") or "").lower()
        if kind.startswith("math/tex"):
            _put(script, script.text or "", display="mode=display" in kind)
        elif kind.startswith("math/mml"):
            _put_markup(script)
    scripted = bool(root.xpath(".//span[@class='fn-formula']"))
    for element in list(root.iter()):
        if not isinstance(element.tag, str) or not _attached(element, root):
            continue
        names = classes(element)
        if local(element) in _CONTAINERS or names.intersection(_CONTAINERS):
            _container(element, scripted)
        elif local(element) == "math":
            _put(element, _source(element), _is_display(element))
        elif local(element) == "img" and (names & _TEX_IMAGES or names & _TEX_IMAGES_DISPLAY):
            _put(element, element.get("alt") or "", bool(names & _TEX_IMAGES_DISPLAY))
    for element in list(root.iter()):
        if isinstance(element.tag, str) and classes(element) & _PREVIEWS:
            drop(element)


def _attached(element: HtmlElement, root: HtmlElement) -> bool:
    while element is not None:
        if element is root:
            return True
        element = element.getparent()
    return False


def _container(element: HtmlElement, scripted: bool) -> None:
    display = _is_display(element)
    inner = next((child for child in element.iter() if local(child) == "math"), None)
    tex = _source(inner) if inner is not None else _attribute(element)
    if not tex and (image := element.find(".//img")) is not None:
        tex = image.get("alt") or ""
    if tex:
        # MathJax 2 leaves the source in a <script> beside its rendering; that one was taken.
        if scripted and classes(element) & _RENDERED:
            drop(element)
        else:
            _put(element, tex, display or (inner is not None and _is_display(inner)))
    elif (scripted or classes(element) & _RENDERED) and not element.xpath(
        ".//span[@class='fn-formula']"
    ):
        drop(element)


def _source(math: etree._Element) -> str:
    for node in math.iter():
        if local(node) == "annotation" and "tex" in (node.get("encoding") or "").lower():
            return "".join(node.itertext())
    return _attribute(math) or math.get("alttext") or latex(math)


def _attribute(element: etree._Element) -> str:
    return next((element.get(name) for name in _TEX_ATTRIBUTES if element.get(name)), "") or ""


def _is_display(element: etree._Element) -> bool:
    if element.get("display") in {"block", "true"}:
        return True
    if classes(element) & {
        "katex-display",
        "MathJax_Display",
        "MathJax_SVG_Display",
        "MJXc-display",
    }:
        return True
    if any("mwe-math-mathml-display" in classes(child) for child in element.iter()):
        return True
    parent = element.getparent()
    return parent is not None and "katex-display" in classes(parent)


def _put_markup(script: HtmlElement) -> None:
    try:
        math = etree.fromstring(script.text or "")
    except etree.XMLSyntaxError:
        drop(script)
        return
    _put(script, _source(math), _is_display(math))


def _put(element: HtmlElement, tex: str, display: bool) -> None:
    tex = " ".join(tex.split())
    if match := _DISPLAYSTYLE.match(tex):
        tex = match[1].strip()
    tex = tex.strip().strip("$").strip()
    if tex.startswith(r"\[") or tex.startswith(r"\("):
        display, tex = tex.startswith(r"\["), tex[2:-2].strip()
    if not tex:
        drop(element)
        return
    mark = "$$" if display else "$"
    span = etree.Element("span")
    span.set("class", "fn-formula")
    span.text = f"{mark}{tex}{mark}"
    if display and element.tail and element.tail[0].isalnum():
        element.tail = " " + element.tail
    replace(element, span)
