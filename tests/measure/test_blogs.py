"""The labelled questions that the judge is fitted on say what their pages say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import html

BLOGS = Path(__file__).parents[1] / "data" / "blogs"


@pytest.mark.parametrize("battery", sorted(BLOGS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_each_answer_stands_in_the_sentence_of_the_page_that_is_given(battery: Path) -> None:
    pages = {}
    for path in battery.with_suffix("").glob("*.html"):
        pages[path.name] = html.fromstring(path.read_bytes()).text_content()
    entries = [json.loads(line) for line in battery.read_text("utf-8").splitlines()]
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert 0.4 < sum(entry["answerable"] for entry in entries) / len(entries) < 0.6
    for entry in entries:
        assert entry["page"] in pages, entry["id"]
        if entry["answerable"]:
            assert _joined(entry["answer"]) in _joined(entry["sentence"]), entry["id"]
            assert _joined(entry["sentence"]) in _joined(pages[entry["page"]]), entry["id"]


def _joined(text: str) -> str:
    """Without blanks: the cells of a table's row have none between them in the page's source."""
    return "".join(text.split())
