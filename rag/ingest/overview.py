"""The written page that says what a collection is about, made from its tags and titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.types import Block, Document

_MOST_TOPICS = 24
_MOST_TITLES = 60


@dataclass(frozen=True)
class _Words:
    """The written sentences of one language; `{…}` are filled in."""

    about: str
    about_blog: str
    about_article: str
    topics: str
    topics_again: str
    ask: str
    ask_blog: str
    ask_article: str
    posts: str
    count_one: str
    count_many: str
    dates: str
    newest: str
    author: str
    written_by: str
    sections: str
    conjunction: str


_ENGLISH = _Words(
    about="What this is about",
    about_blog="{title} is a blog about {topics}.",
    about_article="This collection holds the Wikipedia article about {title}.",
    topics="The topics that this blog covers are {topics}.",
    topics_again="The blog's posts deal with {topics}.",
    ask="What you can ask",
    ask_blog="You can ask questions about {topics}, and about any post on this blog.",
    ask_article="You can ask questions about {title}: {topics}.",
    posts="The posts on this blog",
    count_one="There is one post on this blog: {titles}.",
    count_many="There are {count} posts on this blog.",
    dates="The posts were published between {first} and {last}.",
    newest="The newest post is “{newest}”, published on {last}.",
    author="Who writes this blog",
    written_by="{title} is written by {authors}; {authors} is the author of this blog's posts.",
    sections="The article about {title} has these parts: {topics}.",
    conjunction="and",
)
_SPANISH = _Words(
    about="De qué trata",
    about_blog="{title} es un blog sobre {topics}.",
    about_article="Esta colección contiene el artículo de Wikipedia sobre {title}.",
    topics="Los temas que cubre este blog son {topics}.",
    topics_again="Este blog trata de {topics}.",
    ask="Qué se puede preguntar",
    ask_blog="Puedes hacer preguntas sobre {topics}, y sobre cualquier entrada de este blog.",
    ask_article="Puedes hacer preguntas sobre {title}: {topics}.",
    posts="Las entradas de este blog",
    count_one="Hay una entrada en este blog: {titles}.",
    count_many="Hay {count} entradas en este blog.",
    dates="Las entradas se publicaron entre {first} y {last}.",
    newest="La entrada más reciente es «{newest}», publicada el {last}.",
    author="Quién escribe este blog",
    written_by="{title} está escrito por {authors}; {authors} escribe las entradas de este blog.",
    sections="El artículo sobre {title} tiene estas partes: {topics}.",
    conjunction="y",
)


def overview(documents: Sequence[Document], language: str, title: str, url: str) -> Document:
    """A page in the given language (`es` is Spanish, all else English) about the whole collection.

    Topics are the documents' own tags, most used first, or their titles where nobody set tags; of
    an article, its sections. `title` names the collection and `url` is its index page, which the
    overview cites.
    """
    words = _SPANISH if language == "es" else _ENGLISH
    articles = [document for document in documents if document.kind == "article"]
    blocks = (
        _article_blocks(articles, words)
        if articles and len(articles) == len(documents)
        else _blog_blocks(documents, words, title, language)
    )
    return Document(url, title, "es" if language == "es" else "en", tuple(blocks), kind="overview")


def _blog_blocks(
    documents: Sequence[Document], words: _Words, title: str, language: str
) -> Iterable[Block]:
    ordered = sorted(documents, key=lambda d: (d.language != language, _reversed(d.published)))
    tags = Counter(tag for document in documents for tag in dict.fromkeys(document.tags))
    topics = _merged(tags) or [document.title for document in ordered]
    listed = _join(topics[:_MOST_TOPICS], words)
    yield from _section(
        words.about,
        words.about_blog.format(title=title, topics=listed),
        words.topics.format(topics=listed),
        words.topics_again.format(topics=listed),
    )
    yield from _section(words.ask, words.ask_blog.format(topics=listed))
    dated = sorted((d for d in documents if d.published), key=lambda d: d.published or "")
    facts = [
        words.count_many.format(count=len(documents))
        if len(documents) != 1
        else words.count_one.format(titles=documents[0].title)
    ]
    if len(dated) > 1:
        first, last = dated[0], dated[-1]
        facts.append(words.dates.format(first=first.published, last=last.published))
        facts.append(words.newest.format(newest=last.title, last=last.published))
    yield from _section(words.posts, *facts)
    titles = "\n".join(f"- {document.title}" for document in ordered[:_MOST_TITLES])
    yield Block("list", titles, (words.posts,))
    authors = [name for name, _ in Counter(d.author for d in documents if d.author).most_common(5)]
    if authors:
        yield from _section(
            words.author, words.written_by.format(title=title, authors=_join(authors, words))
        )


def _article_blocks(articles: Sequence[Document], words: _Words) -> Iterable[Block]:
    names = [article.title for article in articles]
    parts = dict.fromkeys(
        block.section[0] for article in articles for block in article.blocks if block.section
    )
    listed = _join(list(parts)[:_MOST_TOPICS], words)
    subject = _join(names, words)
    sentences = [words.about_article.format(title=subject)]
    if listed:
        sentences.append(words.sections.format(title=subject, topics=listed))
    yield from _section(words.about, *sentences)
    if listed:
        yield from _section(words.ask, words.ask_article.format(title=subject, topics=listed))


def _section(heading: str, *sentences: str) -> Iterable[Block]:
    yield Block("heading", f"## {heading}", (heading,))
    yield Block("paragraph", " ".join(sentences), (heading,))


def _merged(tags: Counter[str]) -> list[str]:
    """Tags by use, spellings that differ only in case counted as one."""
    totals: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for tag, count in tags.most_common():
        shown.setdefault(tag.casefold(), tag)
        totals[tag.casefold()] += count
    return [shown[key] for key, _ in totals.most_common()]


def _join(names: Sequence[str], words: _Words) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {words.conjunction} {names[-1]}"


def _reversed(day: str | None) -> tuple[int, ...]:
    """Sorts newest first, undated last."""
    return tuple(-int(part) for part in day.split("-")) if day else (0,)
