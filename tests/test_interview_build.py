"""Which collections become interviews."""

from __future__ import annotations

import pytest

from rag.build import Plan, _subject
from rag.ingest.sources import Source, SourceKind
from rag.types import Block, Document, FootnoteError, Mode


def page(text: str, title: str) -> Document:
    return Document(
        "https://en.wikipedia.org/wiki/X", title, "en", (Block("paragraph", text),), kind="article"
    )


PERSON = page(
    "Marie Stone (1852–1901) was a chemist. She worked alone. Her notes are in Hull. She died young.",
    "Marie Stone",
)
MATRIX = page("In mathematics, a Hermitian matrix equals its own transpose.", "Hermitian matrix")


def plan(mode: Mode | None, kind: SourceKind = "wikipedia") -> Plan:
    return Plan("x", Source(kind, "X"), mode=mode)


def test_an_article_about_a_person_opens_as_an_interview() -> None:
    found = _subject(plan(None), [PERSON])
    assert found is not None
    assert found.name == "Marie Stone"


def test_an_article_about_a_thing_is_answered_in_the_third_person() -> None:
    assert _subject(plan(None), [MATRIX]) is None


def test_the_mode_can_be_chosen() -> None:
    assert _subject(plan("blog"), [PERSON]) is None
    assert _subject(plan("interview", "html"), [PERSON]) is not None
    assert _subject(plan(None, "html"), [PERSON]) is None


@pytest.mark.parametrize("documents", [[MATRIX], [PERSON, MATRIX]])
def test_an_interview_with_nobody_is_refused_in_a_line(documents: list[Document]) -> None:
    with pytest.raises(FootnoteError, match="nobody to interview"):
        _subject(plan("interview"), documents)
