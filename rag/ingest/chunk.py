"""Cuts a document into passages of about 400 tokens, each a verbatim slice of its text."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from rag.ingest.sentences import Span, sentence_spans
from rag.types import Block, Chunk, Document

CountTokens = Callable[[str], int]

_CODE_LIMIT = 4
"""Code longer than so many chunks is cut between lines; below, it stays whole."""


@dataclass(frozen=True)
class _Unit:
    """A sentence, heading, table row or code block: what a chunk can't cut."""

    start: int
    end: int
    tokens: int
    block: Block


def chunk(
    document: Document, count_tokens: CountTokens, max_tokens: int = 400, overlap: int = 60
) -> list[Chunk]:
    """The document's chunks in reading order.

    `count_tokens` counts in the embedder's tokenizer. A chunk holds up to `max_tokens` tokens
    (more only for a code block, which isn't cut), begins and ends at sentence boundaries, and
    repeats up to `overlap` tokens of whole sentences from the one before it in the same section.
    Only a post's chunks may cross from one section into another: its small neighbours may
    share one. No chunk is made of headings alone.
    """
    text = document.text
    units = list(_units(document, count_tokens, max_tokens))
    spans = [
        span
        for group in _groups(units, max_tokens, strict=document.kind != "post")
        for span in _windows(group, max_tokens, overlap)
    ]
    return [_chunk(document, text, run, position) for position, run in enumerate(spans)]


def _units(document: Document, count_tokens: CountTokens, max_tokens: int) -> Iterator[_Unit]:
    offset = 0
    for block in document.blocks:
        for start, end in _block_spans(block, document.language, count_tokens, max_tokens):
            yield _Unit(offset + start, offset + end, count_tokens(block.text[start:end]), block)
        offset += len(block.text) + len("\n\n")


def _block_spans(
    block: Block, language: str, count_tokens: CountTokens, max_tokens: int
) -> Iterator[Span]:
    """Spans that cover the block's text, each small enough for a chunk."""
    if block.kind == "heading":
        yield 0, len(block.text)
        return
    if block.kind == "code":
        limit = _CODE_LIMIT * max_tokens
        if count_tokens(block.text) <= limit:
            yield 0, len(block.text)
        else:
            yield from _split(block.text, 0, len(block.text), r"\n", count_tokens, max_tokens)
        return
    starts = [start for start, _ in sentence_spans(block.text, language)]
    if not starts:
        yield 0, len(block.text)
        return
    # A list's marker or a quotation's sign belongs to the sentence behind it.
    starts[0] = 0
    starts = [_with_marker(block.text, start) for start in starts]
    for start, end in zip(starts, [*starts[1:], len(block.text)], strict=True):
        if count_tokens(block.text[start:end]) <= max_tokens:
            yield start, end
        else:
            yield from _split(block.text, start, end, r"\s", count_tokens, max_tokens)


def _with_marker(text: str, start: int) -> int:
    line = text.rfind("\n", 0, start) + 1
    return line if re.fullmatch(r"[\s>]*(?:[-*•]|\d{1,4}\.)?\s*", text[line:start]) else start


def _split(
    text: str, start: int, end: int, separator: str, count_tokens: CountTokens, max_tokens: int
) -> Iterator[Span]:
    """Cuts what is too long behind separators into pieces of at most `max_tokens` where it can."""
    cuts = [start + m.end() for m in re.finditer(separator, text[start:end])]
    bounds = [start, *cuts] if not cuts or cuts[-1] != end else [start, *cuts[:-1]]
    pieces = list(zip(bounds, [*bounds[1:], end], strict=True))
    begin, tokens = start, 0
    for left, right in pieces:
        size = count_tokens(text[left:right])
        if tokens and tokens + size > max_tokens:
            yield begin, left
            begin, tokens = left, 0
        tokens += size
    yield begin, end


def _groups(units: list[_Unit], max_tokens: int, *, strict: bool) -> Iterator[list[_Unit]]:
    """Runs of units that may share chunks. A heading goes with what it stands over."""
    group: list[_Unit] = []
    for unit in units:
        if group and unit.block.section != group[-1].block.section:
            content = [u for u in group if u.block.kind != "heading"]
            if content and not (not strict and _joins(content, unit, max_tokens)):
                yield group
                group = []
        group.append(unit)
    if any(unit.block.kind != "heading" for unit in group):
        yield group


def _joins(content: list[_Unit], unit: _Unit, max_tokens: int) -> bool:
    """Whether a small section of a post takes the next one in."""
    tokens = sum(u.tokens for u in content)
    here, there = content[0].block.section, unit.block.section
    related = bool(here) and here[:1] == there[:1]
    return tokens < max_tokens // (4 if related else 8)


def _windows(group: list[_Unit], max_tokens: int, overlap: int) -> Iterator[list[_Unit]]:
    """The group's units in chunks of about equal size."""
    left = sum(unit.tokens for unit in group)
    target = _share(left, max_tokens, overlap)
    run: list[_Unit] = []
    fresh = False
    for unit in group:
        size = sum(u.tokens for u in run)
        full = size + unit.tokens > max_tokens or size >= target
        if fresh and full and any(u.block.kind != "heading" for u in run):
            moved: list[_Unit] = []
            while run[-1].block.kind == "heading":
                moved.insert(0, run.pop())
            yield run
            run = moved or _tail(run, overlap, max_tokens - unit.tokens)
            target = _share(left + sum(u.tokens for u in run), max_tokens, overlap)
            fresh = False
        run.append(unit)
        left -= unit.tokens
        fresh = True
    yield run


def _share(tokens: int, max_tokens: int, overlap: int) -> float:
    """How large chunks are when the tokens are dealt out evenly over as few as will do."""
    count = max(1, math.ceil((tokens - overlap) / max(1, max_tokens - overlap)))
    return (tokens + (count - 1) * overlap) / count


def _tail(run: list[_Unit], overlap: int, room: int) -> list[_Unit]:
    """The last whole sentences of a run within `overlap` tokens."""
    tail: list[_Unit] = []
    for unit in reversed(run):
        used = sum(u.tokens for u in tail) + unit.tokens
        if unit.block.kind in {"heading", "code"} or used > min(overlap, room):
            break
        tail.insert(0, unit)
    return tail


def _chunk(document: Document, text: str, run: list[_Unit], position: int) -> Chunk:
    passage = text[run[0].start : run[-1].end].strip()
    first = next(unit.block for unit in run if unit.block.kind != "heading")
    url = document.url.partition("#")[0]
    key = "\0".join((url, str(position), passage))
    if first.anchor:
        url += "#" + quote(first.anchor, safe="!$&'()*+,;=:@/?-._~%")
    return Chunk(
        id=hashlib.sha256(key.encode()).hexdigest()[:16],
        text=passage,
        title=document.title,
        url=url,
        section=" > ".join(first.section) or None,
        language=document.language,
        published=document.published,
        tags=document.tags,
        alternates=document.alternates,
        kind=document.kind,
        sentences=tuple(sentence_spans(passage, document.language)),
    )
