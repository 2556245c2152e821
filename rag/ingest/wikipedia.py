"""MediaWiki articles in their three markups: lead, nested sections, infobox facts."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from rag.ingest.clean import HEADINGS, clean
from rag.ingest.code import settle_code
from rag.ingest.dom import classes, drop, local, text_of, unwrap
from rag.ingest.formulas import formulas_to_latex
from rag.ingest.parts import Part, cell_text, parts
from rag.ingest.tables import rows

_APPENDIX = re.compile(
    r"^(?:see also|references?(?: and notes)?|notes?(?: and references)?|footnotes?|citations?|sources?"
    r"|external links?|further reading|bibliography|works cited|notes and citations|explanatory notes"
    r"|v[ée]ase tambi[ée]n|referencias|notas(?: y referencias)?|enlaces externos|bibliograf[íi]a"
    r"|lecturas? (?:adicionales?|recomendadas?)|fuentes|citas y referencias"
    r"|voir aussi|références|notes et références|liens externes|einzelnachweise|weblinks|siehe auch|literatur"
    r"|ver também|referências|ligações externas|note|bibliografia|voci correlate"
    r"|collegamenti esterni|altri progetti)$",
    re.I,
)
_BESIDE = {
    "navbox", "navbox-styles", "vertical-navbox", "sidebar", "metadata", "ambox", "mbox-small", "hatnote",
    "dablink", "rellink", "mw-editsection", "reference", "reflist", "references", "mw-references-wrap",
    "noprint", "toc", "mw-jump-link", "mw-empty-elt", "sistersitebox", "portal", "portalbox", "catlinks",
    "printfooter", "mw-authority-control", "navigation-not-searchable", "shortdescription", "stub",
    "mw-cite-backlink", "error", "mw-kartographer-map", "mw-indicators", "haudio", "side-box",
    "succession-box",
    "thumbimage", "magnify", "asbox", "plainlinks-print", "mw-ext-cite-error", "coordinates", "noviewer",
}  # fmt: skip
_ROLES = {"navigation", "note"}


def is_mediawiki(root: HtmlElement) -> bool:
    """Whether the page was made by MediaWiki, by its generator, its content element or its API."""
    for meta in root.iter("meta"):
        if meta.get("name") == "generator" and "MediaWiki" in (meta.get("content") or ""):
            return True
    return _content(root) is not None or root.find(".//section[@data-mw-section-id]") is not None


def article_parts(root: HtmlElement, language: str | None) -> list[Part]:
    """The article's parts; the tree is changed. Infobox facts come as a section after the lead."""
    content = _content(root)
    if content is None:
        content = root.find("body") if root.find("body") is not None else root
    formulas_to_latex(root)
    settle_code(root)
    _drop_boxes(content)
    _flatten_headings(content)
    clean(root)
    facts = _facts(content, "Datos" if language == "es" else "Facts")
    found = _without_appendix(parts(content))
    if not facts:
        return found
    after_lead = next((i for i, part in enumerate(found) if part.level), len(found))
    return found[:after_lead] + facts + found[after_lead:]


def is_appendix(heading: str) -> bool:
    """Whether a section holds no text of the article: See also, References, External links …"""
    return _APPENDIX.match(heading.strip(" :")) is not None


def _content(root: HtmlElement) -> HtmlElement | None:
    outputs = [e for e in root.iter("div") if "mw-parser-output" in classes(e)]
    if outputs:
        return max(outputs, key=lambda e: len(text_of(e)))
    return next(iter(root.xpath(".//*[@id='mw-content-text']")), None)


def _facts(content: HtmlElement, heading: str) -> list[Part]:
    """The rows of infoboxes as `label: value` lines under a heading of their own."""
    lines: list[str] = []
    first: HtmlElement | None = None
    for box in list(content.iter("table")):
        if not any(name.startswith("infobox") or name.endswith("infobox") for name in classes(box)):
            continue
        if any("infobox" in (e.get("class") or "") for e in box.iterancestors("table")):
            continue
        first = box if first is None else first
        lines.extend(_fact_lines(box))
        drop(box)
    if not lines or first is None:
        return []
    return [Part("heading", heading, first, level=2), Part("facts", "\n".join(lines), first)]


def _fact_lines(box: HtmlElement) -> list[str]:
    """`label: value` for rows of two cells, the text alone for others.

    A heading across the box (its title, "Personal details") is no fact and no column's heading.
    """
    for row in list(box.iter("tr")):
        cells = [cell for cell in row if local(cell) in {"td", "th"}]
        if len(cells) == 1 and local(cells[0]) == "th":
            drop(row)
    lines = []
    for line in rows(box, lambda cell: ", ".join(cell_text(cell).split("\n"))):
        label, bar, value = line.partition(" | ")
        if bar:
            lines.append(f"{label.rstrip(':')}: {value}")
        elif len(line.split()) > 1:
            lines.append(line)
    return lines


def _drop_boxes(content: HtmlElement) -> None:
    for element in list(content.iter()):
        if not isinstance(element.tag, str) or element is content:
            continue
        names = {name.lower() for name in classes(element)}
        if (
            names & _BESIDE
            or element.get("role") in _ROLES
            or element.get("id") == "toc"
            or (
                local(element) == "sup"
                and any(n.startswith(("reference", "mw-ref", "noprint")) for n in names)
            )
        ):
            drop(element)


def _flatten_headings(content: HtmlElement) -> None:
    """Brings all three markups to `<hN id=…>`: inner `mw-headline` spans and wrapping divs go."""
    for heading in list(content.iter(*HEADINGS)):
        for inner in list(heading.iter("span")):
            if "mw-headline" in classes(inner) and inner.get("id"):
                heading.set("id", inner.get("id") or "")
        parent = heading.getparent()
        if parent is not None and "mw-heading" in classes(parent):
            parent_heading = heading
            for other in list(parent):
                if other is not parent_heading:
                    drop(other)
            unwrap(parent)


def _without_appendix(found: list[Part]) -> list[Part]:
    """Leaves out See also, References, External links and the like, with all that is under them."""
    out: list[Part] = []
    skip = 0
    for part in found:
        if part.level and (not skip or part.level <= skip):
            skip = part.level if is_appendix(part.text) else 0
        if not skip:
            out.append(part)
    return out
