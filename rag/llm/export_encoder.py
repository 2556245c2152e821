"""Turns a sentence-transformers folder into one int8 ONNX graph from tokens to unit vectors."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from rag.llm.graph import Graph
from rag.llm.quantise import quantise
from rag.llm.quiet import quiet_libraries
from rag.types import FootnoteError

_OPSET = 18
_LEAST_COSINE = 0.9999
_LEAST_COSINE_INT8 = 0.995
"""Below, a model's weights or activations don't bear int8, and it stays in full precision."""
_PROBES = [
    "where does the answer come from?",
    "Cada frase lleva una nota al pie que la respalda.",
]
_SENTENCE = "A longer text, so that padding and positions are looked at too. "
log = logging.getLogger(__name__)


def export_encoder(source: Path, name: str, folder: Path) -> None:
    """Writes `model.onnx`, `model.onnx.data`, `tokenizer.json` and `encoder.json` of a model.

    The graph takes `input_ids` and `attention_mask` (int64, [batch, tokens]) and gives `embedding`
    (float32, [batch, dimension], rows of length 1): all of the model's modules in one. `name` is
    what the model is known by.

    Raises FootnoteError when the folder holds no usable model, and when the graph's vectors aren't
    the model's own.
    """
    quiet_libraries()
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(str(source), device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise FootnoteError(f"{source} is no sentence-transformers model: {reason}") from error
    model.eval()
    tokenizer = model.tokenizer
    if not getattr(tokenizer, "is_fast", False):
        raise FootnoteError(
            f"{source} has no tokenizer.json; choose a model with a fast tokenizer."
        )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    query, passage = _prompts(model.prompts, name)
    description = {
        "dimension": model.get_embedding_dimension(),
        "max_tokens": int(model.max_seq_length or tokenizer.model_max_length),
        "pad_id": int(tokenizer.pad_token_id or 0),
        "query_prompt": query,
        "passage_prompt": passage,
    }
    (folder / "encoder.json").write_text(json.dumps(description, indent=2), encoding="utf-8")
    raw = folder / "raw"
    raw.mkdir()
    _export(model, raw / "model.onnx")
    graph = Graph(raw / "model.onnx")
    quantise(graph, batched=True)
    graph.save(folder / "model.onnx")
    cosine = _agreement(folder, model, passage)
    log.info("the int8 graph's vectors against sentence-transformers': cosine %.4f", cosine)
    if not cosine > _LEAST_COSINE_INT8:
        Graph(raw / "model.onnx").save(folder / "model.onnx")
        cosine = _agreement(folder, model, passage)
        log.info("in full precision: cosine %.6f", cosine)
        if not cosine > _LEAST_COSINE:
            raise FootnoteError(
                f"The embedder's exported graph gives other vectors than the model itself (cosine "
                f"{cosine:.4f}); choose another model with RAG_EMBEDDER."
            )
    shutil.rmtree(raw)


def _export(model: Any, path: Path) -> None:
    import torch

    class Pipeline(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.modules_in_order = torch.nn.ModuleList(model)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            features: dict[str, Any] = {"input_ids": input_ids, "attention_mask": attention_mask}
            for module in self.modules_in_order:
                features = module(features)
            return torch.nn.functional.normalize(features["sentence_embedding"], dim=-1)

    batch = model.tokenizer(["a", "a longer one"], padding=True, return_tensors="pt")
    axes = {0: "batch", 1: "tokens"}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Pipeline().eval(),
            (batch["input_ids"], batch["attention_mask"]),
            str(path),
            input_names=["input_ids", "attention_mask"],
            output_names=["embedding"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "batch"}},
            opset_version=_OPSET,
            dynamo=False,
        )


def _prompts(prompts: dict[str, str], name: str) -> tuple[str, str]:
    """What stands before a question and before a passage.

    The E5 models need both (arXiv:2212.03533), and their own folders on the hub don't say so.
    """
    query = prompts.get("query", "")
    passage = prompts.get("passage", "") or prompts.get("document", "")
    if not query and not passage and "e5" in name.lower().split("/")[-1].split("-"):
        return "query: ", "passage: "
    return query, passage


def _agreement(folder: Path, model: Any, prompt: str) -> float:
    """The least cosine of a graph's vector of a text with the model's own."""
    from rag.llm.encoder import OnnxEncoder

    encoder = OnnxEncoder(folder)
    # The model cuts what its window doesn't hold, the encoder doesn't.
    sentence_tokens = encoder.count_tokens(prompt + _SENTENCE)
    fitting = max(1, min(12, model.max_seq_length // (sentence_tokens + 2)))
    probes = [*_PROBES, _SENTENCE * fitting]
    expected = np.asarray(model.encode(probes, prompt=prompt, normalize_embeddings=True))
    return float((encoder.encode_passages(probes) * expected).sum(axis=1).min())
