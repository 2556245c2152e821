"""Rewrites a decoder's exported graph into ONNX Runtime's fused operators.

What Optimum exports spells each attention and each norm out in dozens of small operators, writes
the whole cache anew at every step, and computes the logits of every position.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from rag.llm.graph import MICROSOFT, Graph

# Rotary position and grouped attention as GroupQueryAttention computes them; others (with norms of
# queries and keys, sliding windows, other rotary scalings) keep the attention they were exported with.
_FUSABLE = {"llama", "qwen2"}
_MAX_POSITIONS = 8192
LOGITS_INPUT = "num_logits/hidden"
"""What the vocabulary projection reads, once `limit_logits` has been there."""


STATE_OUTPUT = "state"
_STATE_DEPTH = 7 / 12
"""Share of the layers below the state: there, what a prompt's last token knows of the notes before
it is clearest (docs/answers.md); near the top it is about the next word."""
_LOOKING = (5 / 12, 5 / 6)
"""Share of the layers below the first and the last that tells its queries: heads that look for what
a question asks stand here (docs/answers.md)."""


def limit_logits(graph: Graph) -> None:
    """Adds the input `num_logits` (int64, [1]): logits are computed for the last so many positions.

    The vocabulary projection is a quarter of a small model's weights, and a prompt needs it once.
    """
    hidden = _activation(graph.producers(), "logits")
    reader = next(node for node in graph.nodes if hidden in node.input)
    minus = helper.make_node("Neg", ["num_logits"], ["num_logits/start"])
    last = helper.make_node(
        "Slice",
        [
            hidden,
            "num_logits/start",
            graph.add_weight("num_logits/end", np.array([np.iinfo(np.int64).max])),
            graph.add_weight("num_logits/axis", np.array([1])),
        ],
        [LOGITS_INPUT],
    )
    graph.rewire(hidden, LOGITS_INPUT)
    graph.replace([reader], [minus, last, reader])
    graph.inputs.append(helper.make_tensor_value_info("num_logits", TensorProto.INT64, [1]))
    for output in graph.outputs:
        if output.name == "logits":
            output.type.tensor_type.shape.dim[1].dim_param = "num_logits"


def fuse_norms(graph: Graph) -> int:
    """Root-mean-square norms (arXiv:1910.07467) become one operator each; returns how many."""
    producers, consumers = graph.producers(), graph.consumers()
    count = 0
    for mean in [node for node in graph.nodes if node.op_type == "ReduceMean"]:
        power = producers.get(mean.input[0])
        if power is None or power.op_type != "Pow" or graph.value(power.input[1]) != 2:
            continue
        add = consumers[mean.output[0]][0]
        root = consumers[add.output[0]][0]
        inverse = consumers[root.output[0]][0]
        scaled = consumers[inverse.output[0]][0]
        if [n.op_type for n in (add, root, inverse, scaled)] != ["Add", "Sqrt", "Div", "Mul"]:
            continue
        last = consumers[scaled.output[0]][0]
        if last.op_type == "Cast":
            last = consumers[last.output[0]][0]
        weight = next((name for name in last.input if graph.is_weight(name)), None)
        epsilon = next(v for v in map(graph.value, add.input) if v is not None)
        if last.op_type != "Mul" or weight is None:
            continue
        source = power.input[0]
        cast = producers.get(source)
        if cast is not None and cast.op_type == "Cast":
            source = cast.input[0]
        fused = helper.make_node(
            "SimplifiedLayerNormalization",
            [source, weight],
            [last.output[0]],
            name=f"{mean.name}/fused",
            axis=-1,
            epsilon=float(epsilon),
            stash_type=1,
        )
        graph.replace([last], [fused])
        if cast is not None and cast.op_type == "Cast":
            graph.rewire(cast.output[0], source)  # float to float
        count += 1
    graph.prune()
    return count


def fuse_skips(graph: Graph) -> int:
    """A residual sum and the norm after it become one operator; returns how many."""
    graph.require(MICROSOFT, 1)
    producers = graph.producers()
    count = 0
    for norm in [n for n in graph.nodes if n.op_type == "SimplifiedLayerNormalization"]:
        total = producers.get(norm.input[0])
        if total is None or total.op_type != "Add":
            continue
        epsilon = next(a.f for a in norm.attribute if a.name == "epsilon")
        fused = helper.make_node(
            "SkipSimplifiedLayerNormalization",
            [*total.input, norm.input[1]],
            [norm.output[0], "", "", total.output[0]],
            name=f"{norm.name}/skip",
            domain=MICROSOFT,
            epsilon=epsilon,
        )
        # Where the sum stood: the residual stream reads it before the norm's readers do.
        graph.replace([norm], [])
        graph.replace([total], [fused])
        count += 1
    return count


def expose_state(graph: Graph, layers: int) -> bool:
    """Adds the output `state`, (1, tokens, hidden): the residual stream in the middle of the model.

    After the norms are fused, before their sums are. Returns False, and changes nothing, where the
    graph isn't built as usual.
    """
    producers = graph.producers()
    above = _projections(producers).get(round(layers * _STATE_DEPTH))
    if above is None:
        return False
    norm = producers.get(_activation(producers, above[0]))
    if norm is None or norm.op_type != "SimplifiedLayerNormalization":
        return False
    copy = helper.make_node("Identity", [norm.input[0]], [STATE_OUTPUT], name=STATE_OUTPUT)
    graph.replace([norm], [copy, norm])
    weight = graph.value(norm.input[1])
    assert weight is not None
    shape: list[str | int | None] = [1, "sequence_length", len(weight)]
    graph.outputs.append(helper.make_tensor_value_info(STATE_OUTPUT, TensorProto.FLOAT, shape))
    return True


def expose_queries(graph: Graph, layers: int) -> None:
    """Adds an output `queries.LAYER`, (1, tokens, heads × size), for layers in the middle of the model:
    their queries as they meet the keys of the cache, which are turned by their positions too.

    After attention is fused.
    """
    fused = {node.name: node for node in graph.nodes if node.op_type == "GroupQueryAttention"}
    low, high = (round(share * layers) for share in _LOOKING)
    begin = [
        helper.make_node(
            "Cast", ["total_sequence_length"], ["queries/total"], to=TensorProto.INT64
        ),
        helper.make_node("Reshape", ["queries/total", "queries/one"], ["queries/end"]),
        # In operators that ready-made graphs of older opsets know as well.
        helper.make_node("Shape", ["input_ids"], ["queries/shape"]),
        helper.make_node("Gather", ["queries/shape", "queries/one"], ["queries/tokens"]),
        helper.make_node("Sub", ["queries/end", "queries/tokens"], ["queries/start"]),
    ]
    graph.add_weight("queries/one", np.array([1]))
    graph.nodes = [*begin, *graph.nodes]
    for layer in range(low, high):
        attention = fused[f"attention.{layer}"]
        name = f"queries.{layer}"
        turned = helper.make_node(
            "RotaryEmbedding",
            [attention.input[0], "queries/start", *attention.input[7:9]],
            [name],
            name=name,
            domain=MICROSOFT,
        )
        graph.replace([attention], [turned, attention])
        heads = next(a.i for a in attention.attribute if a.name == "num_heads")
        half = graph.value(attention.input[7])
        assert half is not None
        shape: list[str | int | None] = [1, "sequence_length", heads * 2 * half.shape[1]]
        graph.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))


def fuse_attention(graph: Graph, config: dict[str, Any]) -> bool:
    """Attention becomes GroupQueryAttention, which writes into one cache buffer that stays.

    `attention_mask` and `position_ids` give way to `seqlens_k` (int32, [1]: tokens so far, less
    one) and `total_sequence_length` (int32, scalar). `past_key_values.*` and `present.*` may be the
    same memory, longer than what is in use. `config` is the model's config.json.

    Returns False, and changes nothing, for architectures whose attention isn't that operator's.
    """
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads", heads)
    size = config.get("head_dim") or config["hidden_size"] // heads
    plain = not config.get("rope_scaling") and not config.get("use_sliding_window")
    if config["model_type"] not in _FUSABLE or not plain:
        return False
    producers = graph.producers()
    projected = _projections(producers)
    layers = sorted(projected)
    if layers != list(range(config["num_hidden_layers"])):
        return False
    graph.require(MICROSOFT, 1)
    cos, sin = _rotary(config.get("rope_theta", 10000.0), size, config["max_position_embeddings"])
    graph.add_weight("rotary/cos", cos)
    graph.add_weight("rotary/sin", sin)
    for layer in layers:
        query, key, value, output = projected[layer]
        attention = helper.make_node(
            "GroupQueryAttention",
            [
                query,
                key,
                value,
                f"past_key_values.{layer}.key",
                f"past_key_values.{layer}.value",
                "seqlens_k",
                "total_sequence_length",
                "rotary/cos",
                "rotary/sin",
            ],
            [f"attention.{layer}", f"present.{layer}.key", f"present.{layer}.value"],
            name=f"attention.{layer}",
            domain=MICROSOFT,
            num_heads=heads,
            kv_num_heads=kv_heads,
            do_rotary=1,
        )
        old = [producers[name] for name in (*attention.output[1:], output)]
        graph.replace(old, [attention])
        graph.rewire(output, attention.output[0])
    graph.inputs = [
        value for value in graph.inputs if value.name not in {"attention_mask", "position_ids"}
    ]
    graph.inputs.append(helper.make_tensor_value_info("seqlens_k", TensorProto.INT32, [1]))
    graph.inputs.append(
        helper.make_tensor_value_info("total_sequence_length", TensorProto.INT32, [])
    )
    for value in [*graph.inputs, *graph.outputs]:
        if value.name.startswith(("past_key_values.", "present.")):
            value.type.tensor_type.shape.dim[2].dim_param = "max_sequence_length"
    graph.prune()
    return True


def _projections(producers: dict[str, onnx.NodeProto]) -> dict[int, tuple[str, str, str, str]]:
    """Per layer: the tensors of projected queries, keys and values, and the attention's result."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for name in producers:
        match = re.search(r"layers\.(\d+)/self_attn/([qkvo])_proj/(MatMul|Add)_output_0$", name)
        if match:
            layer, part, kind = int(match[1]), match[2], match[3]
            if part == "o" and kind == "MatMul":
                found[layer]["o"] = _activation(producers, name)
            elif kind == "Add" or part not in found[layer]:
                found[layer][part] = name
    return {
        layer: (parts["q"], parts["k"], parts["v"], parts["o"])
        for layer, parts in found.items()
        if set(parts) == set("qkvo")
    }


def _activation(producers: dict[str, onnx.NodeProto], result: str) -> str:
    """What a linear layer reads, of which `result` is the output; the layer may be quantised."""
    node = producers[result]
    while node.op_type in {"Mul", "Cast", "Add"}:
        node = next(producers[name] for name in node.input if name in producers)
    if node.op_type not in {"MatMul", "MatMulInteger", "MatMulIntegerToFloat", "MatMulNBits"}:
        raise ValueError(f"{result} comes from {node.op_type}, not from a linear layer")
    source = node.input[0]
    if source in producers and producers[source].op_type == "DynamicQuantizeLinear":
        return producers[source].input[0]
    return source


def _rotary(theta: float, size: int, positions: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of arXiv:2104.09864, each (positions, size / 2)."""
    frequencies = 1.0 / theta ** (np.arange(0, size, 2, dtype=np.float64) / size)
    angles = np.outer(np.arange(min(positions, _MAX_POSITIONS)), frequencies)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
