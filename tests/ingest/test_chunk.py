"""Chunks are verbatim slices of bounded size that stay within their sections."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from rag.ingest.chunk import chunk
from rag.ingest.sentences import sentence_spans
from rag.types import Block, Chunk, Document


def count(text: str) -> int:
    return len(text.split())


def document(*blocks: Block, kind: str = "post") -> Document:
    return Document("https://a.example/p", "T", "en", blocks, kind=kind)  # type: ignore[arg-type]


def heading(*path: str, anchor: str | None = None) -> Block:
    return Block(
        "heading", "#" * (len(path) + 1) + " " + path[-1], path, anchor or path[-1].lower()
    )


def prose(words: int, *path: str, seed: int = 0) -> Block:
    """A paragraph of sentences of ten words."""
    chance = random.Random(f"{seed}{path}")
    sentences = []
    for n in range(words // 10):
        picked = [chance.choice(("alpha", "beta", "gamma", "delta", "omega")) for _ in range(9)]
        sentences.append(" ".join(picked).capitalize() + f" {n}.")
    return Block("paragraph", " ".join(sentences), path, path[-1].lower() if path else None)


def checked(page: Document, max_tokens: int = 100, overlap: int = 20) -> list[Chunk]:
    chunks = chunk(page, count, max_tokens, overlap)
    for one in chunks:
        assert one.text in page.text
        assert one.sentences == tuple(sentence_spans(one.text))
        assert any(not line.startswith("#") for line in one.text.split("\n") if line)
    return chunks


def test_size_and_overlap_by_whole_sentences() -> None:
    page = document(prose(1000))
    chunks = checked(page)
    assert all(60 <= count(c.text) <= 100 for c in chunks)
    for before, after in pairwise(chunks):
        repeated = after.text[: after.text.index(before.text[-8:]) + 8]
        assert before.text.endswith(repeated)
        assert count(repeated) == 20
        assert repeated[0].isupper()
    for sentence_start, sentence_end in sentence_spans(page.text):
        assert any(page.text[sentence_start:sentence_end] in c.text for c in chunks)


def test_no_small_rest_at_the_end() -> None:
    for words in range(110, 400, 30):
        chunks = checked(document(prose(words)))
        assert min(count(c.text) for c in chunks) >= 50, words


def test_code_is_kept_whole_even_where_it_is_long() -> None:
    code = "```python\n" + "\n".join(f"value_{n} = {n}" for n in range(60)) + "\n```"
    chunks = checked(document(prose(90), Block("code", code), prose(90, seed=1)))
    assert sum(code in c.text for c in chunks) == 1


def test_code_without_measure_is_cut_between_lines() -> None:
    code = "```\n" + "\n".join(f"a = {n}" for n in range(1000)) + "\n```"
    chunks = checked(document(Block("code", code)))
    assert max(count(c.text) for c in chunks) <= 100
    assert all(c.text.split("\n")[-1] in code.split("\n") for c in chunks)


def test_a_sentence_longer_than_a_chunk_is_cut_between_words() -> None:
    chunks = checked(document(Block("paragraph", "word " * 500)))
    assert max(count(c.text) for c in chunks) <= 100


def test_an_article_is_cut_at_every_section() -> None:
    page = document(
        prose(30),
        heading("Life"),
        heading("Life", "Youth"),
        prose(30, "Life", "Youth"),
        heading("Life", "Age"),
        prose(30, "Life", "Age"),
        heading("Work"),
        prose(250, "Work"),
        kind="article",
    )
    chunks = checked(page)
    assert [c.section for c in chunks] == [None, "Life > Youth", "Life > Age", *["Work"] * 4][
        : len(chunks)
    ]
    assert chunks[1].text.startswith("## Life\n\n### Youth\n\n")
    assert chunks[1].url == "https://a.example/p#youth"
    assert chunks[0].page == chunks[1].page == "https://a.example/p"


def test_small_sections_of_a_post_share_a_chunk_and_large_ones_dont() -> None:
    page = document(
        heading("A"), heading("A", "B"), prose(20, "A", "B"), heading("A", "C"), prose(60, "A", "C"),
        heading("D"), prose(60, "D"),
    )  # fmt: skip
    assert [(c.section, count(c.text)) for c in checked(page)] == [("A > B", 86), ("D", 62)]


def test_ids_are_stable_and_differ() -> None:
    page = document(prose(500))
    first, second = checked(page), checked(page)
    assert [c.id for c in first] == [c.id for c in second]
    assert len({c.id for c in first}) == len(first)


def test_anchors_are_fit_for_addresses() -> None:
    page = document(Block("paragraph", "Text.", ("A b",), 'a b"é'))
    assert checked(page)[0].url == "https://a.example/p#a%20b%22%C3%A9"


def test_an_empty_page_and_bare_headings_give_nothing() -> None:
    assert chunk(document(), count) == []
    assert chunk(document(heading("A"), heading("B")), count) == []


@pytest.mark.parametrize("seed", range(20))
def test_any_document_keeps_the_rules(seed: int) -> None:
    chance = random.Random(seed)
    blocks: list[Block] = []
    path: tuple[str, ...] = ()
    for n in range(chance.randint(1, 30)):
        if chance.random() < 0.3:
            path = (*path[: chance.randint(0, 2)], f"S{n}")
            blocks.append(heading(*path))
        else:
            kind = chance.choice(("paragraph", "code", "list"))
            block = prose(chance.randint(10, 300), *path, seed=n)
            if kind == "code":
                block = Block("code", f"```\n{block.text}\n```", path)
            if kind == "list":
                block = Block("list", "- " + block.text.replace(". ", ".\n- "), path)
            blocks.append(block)
    blocks.append(prose(10))
    page = document(*blocks, kind=chance.choice(("post", "article")))
    chunks = checked(page)
    for block in blocks:
        if block.kind == "code":
            assert any(block.text in c.text for c in chunks)
    together = " ".join(c.text for c in chunks)
    assert all(
        sentence in together for s, e in sentence_spans(page.text) for sentence in [page.text[s:e]]
    )
    assert all(count(c.text) <= 100 or "```" in c.text for c in chunks)
