"""The written page about a collection names its topics in words that people ask with."""

from __future__ import annotations

import pytest

from rag.ingest.chunk import chunk
from rag.ingest.overview import overview
from rag.types import Block, Document

URL = "https://blog.example/"


def post(title: str, *tags: str, language: str = "en", day: str | None = None) -> Document:
    return Document(
        URL + title, title, language, (Block("paragraph", "Text."),), day, tags, author="Ada Byron"
    )


POSTS = [
    post("Why caches lie", "Caching", "python", day="2023-01-02"),
    post("Threads", "Python", day="2024-05-06"),
    post("Hilos", "Python", language="es"),
]


def test_topics_by_use_titles_dates_author_and_index_page() -> None:
    page = overview(POSTS, "en", "Notes", URL)
    assert page.kind == "overview"
    assert page.url == URL
    assert "Python and Caching" in page.text
    assert "Why caches lie" in page.text
    assert "between 2023-01-02 and 2024-05-06" in page.text
    assert "written by Ada Byron" in page.text
    assert "3 posts" in page.text


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("topics that this blog covers", "is a blog about", "You can ask questions about")),
        ("es", ("temas que cubre este blog", "Este blog trata de", "Puedes hacer preguntas sobre")),
    ],
)
def test_it_says_it_in_several_wordings(language: str, words: tuple[str, ...]) -> None:
    page = overview(POSTS, language, "Notes", URL)
    assert page.language == language
    assert all(word in page.text for word in words)
    assert "{" not in page.text


def test_without_tags_the_titles_are_the_topics() -> None:
    page = overview([post("Why caches lie"), post("Threads")], "en", "Notes", URL)
    assert "Notes is a blog about Why caches lie and Threads." in page.text


def test_of_an_article_it_names_the_sections() -> None:
    article = Document(
        URL,
        "Ada",
        "en",
        (Block("paragraph", "Lead."), Block("paragraph", "Text.", ("Life", "Youth"))),
        kind="article",
    )
    page = overview([article], "en", "Ada", URL)
    assert "The article about Ada has these parts: Life." in page.text
    assert "blog" not in page.text


def test_each_part_is_a_chunk_of_its_own_and_many_posts_fit() -> None:
    page = overview([post(f"Post {n}", f"tag {n}") for n in range(500)], "en", "Notes", URL)
    chunks = chunk(page, lambda text: len(text.split()))
    assert chunks[0].section == "What this is about"
    assert len(page.text.split()) < 1500
    assert "500 posts" in page.text
