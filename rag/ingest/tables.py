"""Tables as one line per row, every cell with its column's heading."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from rag.ingest.dom import local, text_of

_MAX_SPAN = 200
"""A span beyond this is a mistake or an attack."""


def is_layout(table: etree._Element) -> bool:
    """Whether the table only places things on the page: frames, columns, single cells."""
    if (table.get("role") or "").lower() in {"presentation", "none"}:
        return True
    if any(local(inner) == "table" for inner in table.iterdescendants()):
        return True
    if any(
        local(e) in {"h1", "h2", "h3", "h4", "pre", "blockquote", "article"} for e in table.iter()
    ):
        return True
    own = list(table.iter("tr"))
    widths = [sum(local(cell) in {"td", "th"} for cell in row) for row in own]
    if not widths or max(widths) <= 1:
        return True
    has_header = any(True for _ in table.iter("th"))
    if len(own) == 1 and not has_header:
        return True
    cells = [len(text_of(cell).split()) for cell in table.iter("td")]
    return not has_header and bool(cells) and max(cells) > 150


def rows(table: etree._Element, text: Callable[[etree._Element], str]) -> list[str]:
    """One line per row: `heading: cell | heading: cell`. `text` renders a cell.

    Heading rows are those of <thead> or made of <th> alone at the top; without any, cells stand
    alone. Spanning cells count for every row and column that they cover.
    """
    grid = _grid(table)
    count = 0
    while (
        count < len(grid) - 1
        and grid[count]
        and all(local(c) == "th" or _in_head(c) for c in grid[count])
    ):
        count += 1
    if count == 0 and len(grid) > 1 and _looks_like_header(grid[0]):
        count = 1
    headings = _headings(grid[:count], text)
    out: list[str] = []
    for row in grid[count:]:
        if not row:
            continue
        if len({id(cell) for cell in row}) == 1:
            line = text(row[0])
        else:
            line = " | ".join(_cells(row, headings, text))
        if line:
            out.append(line)
    return out


def _grid(table: etree._Element) -> list[list[etree._Element]]:
    """The cells by row and column, spanning ones repeated."""
    grid: list[list[etree._Element]] = []
    hanging: dict[int, tuple[int, etree._Element]] = {}
    for tr in table.iter("tr"):
        row: list[etree._Element] = []
        cells = [cell for cell in tr if local(cell) in {"td", "th"}]
        index = 0
        while index < len(cells) or len(row) in hanging:
            column = len(row)
            if column in hanging:
                left, cell = hanging.pop(column)
                if left > 1:
                    hanging[column] = (left - 1, cell)
                row.append(cell)
                continue
            cell = cells[index]
            index += 1
            down = _span(cell, "rowspan")
            for _ in range(_span(cell, "colspan")):
                if down > 1:
                    hanging[len(row)] = (down - 1, cell)
                row.append(cell)
        grid.append(row)
    return grid


def _span(cell: etree._Element, name: str) -> int:
    try:
        return max(1, min(_MAX_SPAN, int(cell.get(name) or 1)))
    except ValueError:
        return 1


def _in_head(cell: etree._Element) -> bool:
    return any(local(parent) == "thead" for parent in cell.iterancestors())


def _looks_like_header(row: list[etree._Element]) -> bool:
    """A first row set in bold throughout is a heading row that lacks the right tag."""
    return len(row) > 1 and all(
        text_of(cell).strip() and any(local(e) in {"b", "strong"} for e in cell.iter())
        for cell in row
    )


def _headings(head: list[list[etree._Element]], text: Callable[[etree._Element], str]) -> list[str]:
    width = max((len(row) for row in head), default=0)
    out = []
    for column in range(width):
        texts: list[str] = []
        for row in head:
            if column < len(row) and (words := text(row[column])) and words not in texts:
                texts.append(words)
        out.append(" ".join(texts).rstrip(":"))
    return out


def _cells(
    row: list[etree._Element], headings: list[str], text: Callable[[etree._Element], str]
) -> list[str]:
    out: list[str] = []
    seen: set[int] = set()
    for column, cell in enumerate(row):
        words = text(cell)
        if id(cell) in seen or not words:
            continue
        seen.add(id(cell))
        heading = headings[column] if column < len(headings) else ""
        out.append(f"{heading}: {words}" if heading else words)
    return out
