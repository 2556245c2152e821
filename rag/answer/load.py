"""Everything that answering needs, loaded and warmed: models, collections, gate."""

from __future__ import annotations

import logging
from typing import get_args

from rag.answer import prompt
from rag.answer.answerer import Answerer, Collection
from rag.llm.build import Models, ensure_models, model_description
from rag.llm.encoder import OnnxEncoder
from rag.llm.generate import OnnxLanguageModel
from rag.search import store
from rag.search.calibrate import gate_of
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import FootnoteError, Language, Message

log = logging.getLogger(__name__)


def load_encoder(settings: Settings) -> OnnxEncoder:
    """The embedder, got and built first where it is missing."""
    return OnnxEncoder(ensure_models(settings).embedder, settings.threads)


def load_collections(settings: Settings, encoder: OnnxEncoder) -> dict[str, Collection]:
    """Every collection in the artifacts folder, by name.

    Raises FootnoteError when the default one is missing or can't be used. Another one that can't
    is left out, and the log says why.
    """
    collections: dict[str, Collection] = {}
    names = [settings.collection, *store.names(settings.artifacts_dir)]
    for name in dict.fromkeys(names):
        folder = settings.artifacts_dir / name
        try:
            stored = store.load(folder, encoder.fingerprint, encoder.dimension)
        except FootnoteError as error:
            if name == settings.collection:
                raise
            log.warning("%s", error)
            continue
        searcher = Searcher(stored, encoder)
        collections[name] = Collection(searcher, gate_of(stored.manifest))
    return collections


def load_answerer(settings: Settings) -> tuple[Answerer, dict[str, str]]:
    """All of it, after a first token was generated, and what an About panel says of the models."""
    models = ensure_models(settings)
    encoder = OnnxEncoder(models.embedder, settings.threads)
    collections = load_collections(settings, encoder)
    llm = OnnxLanguageModel(models.llm, settings.threads)
    warm_up(llm)
    return Answerer(collections, llm, settings), about(models)


def about(models: Models) -> dict[str, str]:
    """Label → name, licence and source of the models, from what their folders say."""
    labels = {"Language model": models.llm, "Embedder": models.embedder}
    lines = {}
    for label, folder in labels.items():
        described = model_description(folder)
        licence = described.get("licence") or "licence unknown"
        lines[label] = f"{described['name']} ({licence}, from {described['source']})"
    return lines


def warm_up(llm: OnnxLanguageModel) -> None:
    """Reads what every prompt begins with, and generates a token: no reader pays for that."""
    for language in get_args(Language):
        llm.keep(prompt.fixed(language))
    for _ in llm.generate([Message("user", "Hello")], max_tokens=1):
        pass
