"""The language model that the settings name: built in, or on a server."""

from __future__ import annotations

from pathlib import Path

from rag.llm.build import ensure_embedder, ensure_llm, model_description
from rag.llm.generate import OnnxLanguageModel
from rag.llm.protocol import LanguageModel
from rag.llm.served import ServedLanguageModel
from rag.settings import Settings


def load_llm(settings: Settings) -> LanguageModel:
    """Ready to generate. Raises FootnoteError when it can't be got, or its server can't be used."""
    if settings.llm_is_served:
        return ServedLanguageModel(settings)
    return OnnxLanguageModel(ensure_llm(settings), settings.threads)


def about(settings: Settings, llm: LanguageModel) -> dict[str, str]:
    """Label → name, licence and source of the models, as an About panel shows them."""
    folders = {"Embedder": ensure_embedder(settings)}
    if settings.llm_is_served:
        return {"Language model": f"{llm.name} (on a server)", **_described(folders)}
    return _described({"Language model": ensure_llm(settings), **folders})


def _described(folders: dict[str, Path]) -> dict[str, str]:
    lines = {}
    for label, folder in folders.items():
        described = model_description(folder)
        licence = described.get("licence") or "licence unknown"
        lines[label] = f"{described['name']} ({licence}, from {described['source']})"
    return lines
