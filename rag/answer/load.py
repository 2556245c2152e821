"""Everything that answering needs, loaded and warmed: models, collections, gate."""

from __future__ import annotations

import logging
from typing import get_args

from rag.answer import prompt
from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.answer.interview import prompt as interview_prompt
from rag.answer.interview.interview import Interview
from rag.llm.build import ensure_embedder
from rag.llm.encoder import OnnxEncoder
from rag.llm.engine import about, load_llm
from rag.llm.protocol import LanguageModel
from rag.search.calibrate import gate_of
from rag.search.search import Searcher
from rag.search.stores import open_store
from rag.settings import Settings
from rag.types import FootnoteError, Language, Message

log = logging.getLogger(__name__)


def load_encoder(settings: Settings) -> OnnxEncoder:
    """The embedder, got and built first where it is missing."""
    return OnnxEncoder(ensure_embedder(settings), settings.threads)


def load_collections(settings: Settings, encoder: OnnxEncoder) -> dict[str, Collection]:
    """Every collection in the store, by name.

    Raises FootnoteError when the default one is missing or can't be used. Another one that can't
    is left out, and the log says why.
    """
    collections: dict[str, Collection] = {}
    store = open_store(settings)
    for name in dict.fromkeys([settings.collection, *store.names()]):
        try:
            stored = store.load(name, encoder.fingerprint, encoder.dimension)
        except FootnoteError as error:
            if name == settings.collection:
                raise
            log.warning("%s", error)
            continue
        searcher = Searcher(stored, encoder)
        card = stored.manifest.info().card
        interview = Interview(searcher, card) if card else None
        collections[name] = Collection(searcher, gate_of(stored.manifest), interview)
    return collections


def load_answerer(settings: Settings) -> tuple[Answerer, dict[str, str]]:
    """All of it, after a first token was generated, and what an About panel says of the models."""
    encoder = load_encoder(settings)
    llm = load_llm(settings)
    collections = load_collections(settings, encoder)
    warm_up(llm)
    answerer = Answerer(collections, llm, settings)
    if answerer.judge is None:
        log.warning(
            "No judge has been fitted for %s: the gate alone decides what is answered, and more is "
            "answered beside the question (docs/answers.md).",
            llm.name,
        )
    return answerer, about(settings, llm)


def warm_up(llm: LanguageModel) -> None:
    """Reads what every prompt begins with, and generates a token: no reader pays for that."""
    for language in get_args(Language):
        llm.keep(prompt.fixed(language))
        llm.keep(interview_prompt.fixed(language))
    for _ in llm.generate([Message("user", "Hello")], max_tokens=1):
        pass
