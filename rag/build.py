"""One collection from its source to `artifacts/`: collect, chunk, embed, calibrate, write."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from rag.build_cache import BuildCache
from rag.ingest.chunk import chunk
from rag.ingest.fetch import Limits
from rag.ingest.first_person.card import card_of
from rag.ingest.first_person.openers import section_openers
from rag.ingest.first_person.subject import Subject, find_subject
from rag.ingest.first_person.turn import turned
from rag.ingest.overview import overview
from rag.ingest.sources import Report, Source, collect
from rag.search import store
from rag.search.balance import question_means
from rag.search.battery import Writer, by_page, invitations, make_battery, openers, read_battery
from rag.search.build import embed_chunks, embed_sentences
from rag.search.calibrate import calibrate, gate_of
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.search.stores import open_store
from rag.search.vectors import FaissIndex, Vectors
from rag.settings import Settings
from rag.types import Chunk, Document, Encoder, FootnoteError, Mode, Progress

LANGUAGES = ("en", "es")
_TOPICS = 8


@dataclass(frozen=True)
class Plan:
    """What to build."""

    name: str
    source: Source
    title: str | None = None
    """None: the article's title, or the site's name, or its host."""
    mode: Mode | None = None
    """None: `interview` for an article about a person, else `blog`."""
    language: str | None = None
    """Of written texts until a question decides; None: the one that most pages are in."""
    limit: int | None = None
    delay: float = 1.0
    battery: Path | None = None
    """The author's own labelled questions, beside those that are made."""
    let_through: float = 0.97
    """Share of answerable questions that the gate must let pass."""
    force: bool = False
    """Embed everything anew."""
    licence: str | None = None
    """Of the pages' text; None: Wikipedia's where they are from there."""
    allow_private: bool = False
    """Fetch private addresses too that the source only leads to."""


Answers = Callable[[Searcher, Gate], Callable[[str], bool]]
"""Of a collection: whether a question is answered from it."""


@dataclass(frozen=True)
class Built:
    """What a build has to tell at its end."""

    manifest: store.Manifest
    report: Report


def build_collection(
    plan: Plan,
    settings: Settings,
    encoder: Encoder,
    writer: Writer | None,
    progress: Progress,
    answers: Answers | None = None,
) -> Built:
    """Builds and writes a collection; the last good one stays until this one is whole.

    `writer` writes the questions that the gate is calibrated with; without it the gate keeps its
    shipped threshold. A question that `answers` says isn't answered invites nobody. Raises
    FootnoteError when nothing could be indexed or written.
    """
    report = Report()
    documents = list(
        collect(
            plan.source,
            report,
            limit=plan.limit,
            delay=plan.delay,
            cache_dir=settings.pages_dir,
            limits=Limits(allow_private=plan.allow_private),
            progress=lambda so_far, _: progress("pages", so_far.indexed, so_far.found),
        )
    )
    subject = _subject(plan, documents)
    mode: Mode = "interview" if subject else "blog"
    title = plan.title or _title(documents)
    language = plan.language or Counter(d.language for d in documents).most_common(1)[0][0]
    chunks = _chunks(documents, title, settings, encoder)
    if subject:
        chunks = turned(chunks, documents[0], subject)
    cache = BuildCache(
        settings.pages_dir / "computed.sqlite", encoder.fingerprint, forget=plan.force
    )
    vectors = embed_chunks(chunks, encoder, progress, cache)
    sentence_vectors = embed_sentences(chunks, encoder, progress, cache)
    manifest = store.Manifest(
        name=plan.name,
        title=title,
        mode=mode,
        language=language,
        languages=tuple(sorted({d.language for d in documents})),
        source=plan.source.target if plan.source.mirror is None else plan.source.mirror[0],
        built=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        embedder=encoder.name,
        embedder_fingerprint=encoder.fingerprint,
        dimension=encoder.dimension,
        chunk_tokens=settings.chunk_tokens,
        chunk_overlap=settings.chunk_overlap,
        pages=len(documents),
        chunks=len(chunks),
        sentences=len(sentence_vectors),
        topics={spoken: _topics(documents, spoken) for spoken in LANGUAGES},
        card=card_of(documents[0], subject, plan.licence) if subject else None,
    )
    manifest = _calibrated(
        manifest, chunks, vectors, sentence_vectors, plan, settings, encoder,
        _remembering(writer, cache) if writer else None, progress, None if subject else answers,
    )  # fmt: skip
    if subject:
        manifest = replace(manifest, suggestions=section_openers(documents[0]))
    cache.close()
    open_store(settings).save(manifest, chunks, vectors, sentence_vectors)
    return Built(manifest, report)


def _subject(plan: Plan, documents: Sequence[Document]) -> Subject | None:
    """Whom an interview would be with; None when the pages are answered from in the third person.

    Raises FootnoteError when an interview is asked for and there is nobody to talk to.
    """
    if plan.mode == "blog" or (plan.mode is None and plan.source.kind != "wikipedia"):
        return None
    subject = find_subject(documents[0]) if len(documents) == 1 else None
    if plan.mode == "interview" and subject is None:
        what = f"“{documents[0].title}” is" if len(documents) == 1 else "Several pages are"
        raise FootnoteError(
            f"{what} no article about one person, so there is nobody to interview; leave --mode out, "
            "and questions are answered in the third person."
        )
    return subject


def _remembering(writer: Writer, cache: BuildCache) -> Writer:
    """The writer, asked once a passage in all builds."""

    def write(title: str, passage: str, language: str) -> str:
        known = cache.question(passage)
        if known is None:
            known = writer(title, passage, language)
            cache.save_question(passage, known)
        return known

    return write


def overview_pages(documents: Sequence[Document], title: str | None = None) -> list[Document]:
    """The written page about the collection, in each language, from that language's own pages."""
    index = _index_address(documents)
    pages = []
    for spoken in LANGUAGES:
        own = [d for d in documents if d.language == spoken] or documents
        pages.append(overview(own, spoken, title or _title(documents), index))
    return pages


def _chunks(
    documents: Sequence[Document], title: str, settings: Settings, encoder: Encoder
) -> list[Chunk]:
    """Of all documents and of the overview."""
    size, overlap = settings.chunk_tokens, settings.chunk_overlap
    chunks = [
        piece
        for page in (*documents, *overview_pages(documents, title))
        for piece in chunk(page, encoder.count_tokens, size, overlap)
    ]
    return list({piece.id: piece for piece in chunks}.values())


def _calibrated(
    manifest: store.Manifest,
    chunks: Sequence[Chunk],
    vectors: Vectors,
    sentence_vectors: Vectors,
    plan: Plan,
    settings: Settings,
    encoder: Encoder,
    writer: Writer | None,
    progress: Progress,
    answers: Answers | None,
) -> store.Manifest:
    """The manifest with the gate's calibration, and the questions to begin and to go on with."""
    battery = make_battery(chunks, writer, progress) if writer else []
    if plan.battery:
        battery += read_battery(plan.battery)
    if battery:
        asked = np.stack([encoder.encode_query(labelled.question) for labelled in battery])
        means = question_means(asked, [labelled.language for labelled in battery])
        manifest = replace(manifest, question_means=means)
    stored = store.Stored(
        manifest, tuple(chunks), FaissIndex.of(vectors), sentence_vectors.astype(np.float16)
    )
    searcher = Searcher(stored, encoder)
    calibration = calibrate(searcher, battery, settings.passages, plan.let_through, progress)
    manifest = replace(manifest, calibration=calibration.as_json())
    gate = gate_of(manifest)
    inviting = invitations(searcher, gate, battery, settings.passages)
    if answers and inviting:
        answered = answers(searcher, gate)
        inviting = [asked for asked in inviting if answered(asked.question)]
    suggestions = openers(inviting, manifest.mode)
    return replace(manifest, suggestions=suggestions, questions=by_page(inviting))


def _topics(documents: Iterable[Document], spoken: str) -> list[str]:
    """The tags most used in a language's pages, else in all; titles where nobody set tags."""
    documents = list(documents)
    own = [d for d in documents if d.language == spoken] or documents
    tags = Counter(tag for d in own for tag in dict.fromkeys(d.tags))
    return [tag for tag, _ in tags.most_common(_TOPICS)] or [d.title for d in own[:_TOPICS]]


def _title(documents: Sequence[Document]) -> str:
    if len(documents) == 1:
        return documents[0].title
    sites = Counter(d.site for d in documents if d.site)
    if sites:
        return sites.most_common(1)[0][0]
    parts = urlsplit(documents[0].url)
    return parts.hostname or Path(parts.path).parent.name


def _index_address(documents: Sequence[Document]) -> str:
    """The site's front page; of a single article, the article."""
    if len(documents) == 1:
        return documents[0].url
    parts = urlsplit(documents[0].url)
    return f"{parts.scheme}://{parts.netloc}/"
