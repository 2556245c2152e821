"""Turns a transformers causal language model into one int8 ONNX graph that serves."""

from __future__ import annotations

import gc
import json
import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from rag.llm.fuse import (
    expose_queries,
    expose_state,
    fuse_attention,
    fuse_norms,
    fuse_skips,
    limit_logits,
)
from rag.llm.graph import Graph
from rag.llm.quantise import quantise
from rag.llm.quiet import quiet_libraries
from rag.types import FootnoteError

_OPSET = 18
_PROBE = "The archive holds 1,204 letters, of which 37 are from 1891. ¿Cuántas cartas guarda?"
_LEAST_COSINE = 0.9
READY_MADE = (
    "onnx/model_int8.onnx",
    "model_int8.onnx",
    "onnx/model_quantized.onnx",
    "model_quantized.onnx",
)
"""Where a folder's ready int8 graph may lie, the first choice first."""
log = logging.getLogger(__name__)


def export_llm(source: Path, folder: Path, gguf: str | None = None) -> None:
    """Writes `model.onnx`, `model.onnx.data`, `tokenizer.json` and `chat.json`.

    `source` is a folder with a transformers model, with a ready int8 ONNX graph, or with the file
    `gguf`.

    Raises FootnoteError when the folder holds none of them, and when the int8 graph's answers are
    far from the model's.
    """
    quiet_libraries()
    folder.mkdir(parents=True, exist_ok=True)
    ready = next((source / name for name in READY_MADE if (source / name).exists()), None)
    if ready is None and gguf is None and not any(source.glob("*.safetensors")):
        ready = next(iter([*source.glob("*.onnx"), *source.glob("onnx/*.onnx")]), None)
    if ready is not None:
        describe_chat(source, folder, gguf)
        with stage("Rewriting the ready-made ONNX graph"):
            _rewrite(ready, folder / "model.onnx", _config(source), quantised=True)
        return
    raw = folder / "raw"
    with stage("Loading the language model"):
        model = load_model(source, gguf)
        describe_chat(source, folder, gguf, model)
    probe = _probe(folder)
    expected = _reference(model, probe)
    with stage("Exporting the language model to ONNX with Optimum"):
        optimum_export(model, raw)
    config = model.config.to_dict()
    del model
    gc.collect()
    with stage("Fusing the graph and quantising it to int8"):
        _rewrite(raw / "model.onnx", folder / "model.onnx", config, quantised=False)
    shutil.rmtree(raw)
    with stage("Comparing the int8 graph with the model"):
        _compare(folder, probe, expected)


@contextmanager
def stage(text: str) -> Iterator[None]:
    """Says what is going on, and afterwards how long it took."""
    log.info("%s …", text)
    start = monotonic()
    yield
    log.info("%s: done in %.0f s", text, monotonic() - start)


def load_model(source: Path, gguf: str | None) -> Any:
    """The transformers model in full precision. Raises FootnoteError when there is none."""
    import torch
    from transformers import AutoModelForCausalLM

    try:
        extra = {"gguf_file": gguf} if gguf else {}
        model = AutoModelForCausalLM.from_pretrained(
            source, dtype=torch.float32, local_files_only=True, **extra
        )
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise FootnoteError(f"{source} is no causal language model: {reason}") from error
    return model.eval()


def describe_chat(source: Path, folder: Path, gguf: str | None, model: Any = None) -> None:
    """Writes the tokenizer, and how a chat is put to the model and where its turn ends."""
    from transformers import AutoTokenizer, GenerationConfig

    extra = {"gguf_file": gguf} if gguf else {}
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=True, **extra)
    if not tokenizer.is_fast or not tokenizer.chat_template:
        raise FootnoteError(f"{source} has no fast tokenizer with a chat template.")
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    ends = {tokenizer.eos_token_id, tokenizer.get_vocab().get("<|im_end|>")}
    if model is not None:
        config, generation = model.config.to_dict(), model.generation_config
    else:
        config = _config(source)
        generation = (
            GenerationConfig.from_pretrained(source)
            if (source / "generation_config.json").exists()
            else GenerationConfig.from_dict({"eos_token_id": config.get("eos_token_id")})
        )
    for more in (generation.eos_token_id, config.get("eos_token_id")):
        ends.update(more if isinstance(more, list) else [more])
    chat = {
        "template": tokenizer.chat_template,
        "bos_token": tokenizer.bos_token or "",
        "eos_token": tokenizer.eos_token or "",
        "end_ids": sorted(end for end in ends if end is not None),
        "context": int(config["max_position_embeddings"]),
    }
    (folder / "chat.json").write_text(
        json.dumps(chat, indent=2, ensure_ascii=False), encoding="utf-8"
    )


def _config(source: Path) -> dict[str, Any]:
    return json.loads((source / "config.json").read_text(encoding="utf-8"))


def optimum_export(model: Any, folder: Path) -> None:
    """Writes `model.onnx` and its data, a graph with a cache, as Optimum makes it."""
    from optimum.exporters.onnx import onnx_export_from_model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        onnx_export_from_model(
            model,
            output=folder,
            task="text-generation-with-past",
            opset=_OPSET,
            do_validation=False,
        )


def _rewrite(source: Path, target: Path, config: dict[str, Any], *, quantised: bool) -> None:
    graph = Graph(source)
    fuse(graph, config)
    if not quantised:
        quantise(graph)
    graph.save(target)


def fuse(graph: Graph, config: dict[str, Any]) -> None:
    """An exported graph's shapes of operators become ONNX Runtime's own, its logits the last ones."""
    limit_logits(graph)
    if fuse_attention(graph, config):
        expose_queries(graph, config["num_hidden_layers"])
    else:
        log.info("%s keeps the attention it was exported with", config["model_type"])
    fuse_norms(graph)
    if not expose_state(graph, config["num_hidden_layers"]):
        log.info("%s gives no state to judge by", config["model_type"])
    fuse_skips(graph)


def _probe(folder: Path) -> list[int]:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json")).encode(_PROBE).ids


def _reference(model: Any, ids: list[int]) -> np.ndarray:
    import torch

    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()


def _compare(folder: Path, ids: list[int], expected: np.ndarray) -> None:
    from rag.llm.session import Session

    found = Session(folder / "model.onnx", threads=0).run(ids, start=0, logits=len(ids))
    cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1)
    cosines /= np.linalg.norm(expected, axis=1)
    agree = float((found.argmax(1) == expected.argmax(1)).mean())
    typical = float(np.median(cosines))  # the first tokens have nothing to go by
    log.info(
        "int8 against full precision: cosine of the logits %.4f, same next token for %.0f %%",
        typical,
        100 * agree,
    )
    if not typical > _LEAST_COSINE:
        raise FootnoteError(
            f"The int8 graph is far from the model (cosine of the logits {typical:.2f}); choose "
            "another model with RAG_LLM."
        )
