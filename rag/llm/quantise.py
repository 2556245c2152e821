"""Dynamic int8 quantisation of a graph's linear layers and embedding table.

Weights get one scale per output column, activations one per token, measured as they come
(arXiv:2206.01861). ONNX Runtime's own dynamic quantisation takes one scale for all tokens of a run:
there a single outlier token coarsens all others, and a token's result depends on its neighbours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
import onnx
from onnx import TensorProto, helper

from rag.llm.fuse import LOGITS_INPUT
from rag.llm.graph import MICROSOFT, Graph
from rag.llm.processor import adds_without_saturating

_ZERO = 128
"""The unsigned byte that stands for an activation of 0."""
_SMALLEST = 1e-10
_ROWS = 4096
"""Rows of a weight matrix that are in memory at once."""


def quantise(
    graph: Graph,
    *,
    batched: bool = False,
    per_column: bool = True,
    spared: Collection[str] = (),
) -> int:
    """Quantises every MatMul with a stored matrix, and the embedding table; returns how many.

    The activations must have the shape (1, tokens, width), or with `batched` (texts, tokens, width).
    Without `per_column` a matrix has one scale; `spared` are results that stay in full precision.
    """
    graph.require(MICROSOFT, 1)
    _quantise_embedding(graph)
    signed = adds_without_saturating()
    graph.add_weight("int8/one", np.array(1, np.float32))
    graph.add_weight("int8/per_step", np.array(1 / 127, np.float32))
    graph.add_weight("int8/all_but_tokens", np.array([0, 2]))
    graph.add_weight("int8/last", np.array([1]))
    graph.add_weight("int8/zero", np.array(_ZERO, np.uint8))
    graph.add_weight(
        "int8/weight_zero", np.array(0, np.int8) if signed else np.array(_ZERO, np.uint8)
    )
    if batched:
        graph.add_weight("int8/zeroth", np.array([0]))
        graph.add_weight("int8/as_one_text", np.array([1, -1, 0]))
        graph.add_weight("int8/rest", np.array([-1, 0]))
    graph.nodes[:0] = _zeros(batched)
    groups: dict[str, list[onnx.NodeProto]] = defaultdict(list)
    producers = graph.producers()
    for node in graph.nodes:
        if node.op_type != "MatMul" or node.output[0] in spared:
            continue
        if _matrix(graph, producers, node) is not None:
            groups[node.input[0]].append(node)
    scaled: dict[str, tuple[str, str]] = {}
    for source, matmuls in groups.items():
        late = _take_scale(graph, source, matmuls, scaled)
        rows, quantised, scale = _quantise_rows(source, late, batched)
        for i, matmul in enumerate(matmuls):
            weights = _matrix(graph, producers, matmul)
            assert weights is not None
            name = f"int8/{matmul.name}"
            values, scales = quantise_columns(weights, signed=signed, per_column=per_column)
            graph.add_weight(f"{name}/weights", values)
            graph.add_weight(f"{name}/scales", scales)
            product = helper.make_node(
                "MatMulIntegerToFloat",
                [
                    quantised,
                    f"{name}/weights",
                    "int8/one",
                    f"{name}/scales",
                    "int8/zero",
                    "int8/weight_zero",
                ],
                [f"{name}/product"],
                name=matmul.name,
                domain=MICROSOFT,
            )
            result = matmul.output[0]
            if batched:
                flat = f"{name}/flat"
                back = [helper.make_node("Reshape", [flat, "int8/as_before"], [result])]
            else:
                flat, back = result, []
                scaled[result] = (f"{name}/product", scale)
            rescale = helper.make_node("Mul", [f"{name}/product", scale], [flat])
            graph.replace([matmul], [*(rows if i == 0 else []), product, rescale, *back])
    graph.prune()
    return sum(map(len, groups.values()))


def quantise_columns(
    weights: np.ndarray, *, signed: bool, per_column: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(in, out) floats as bytes, around 0 or 128, and the scale of each column (out,).

    Without `per_column` all columns get the largest one's scale.
    """
    scales = np.zeros(weights.shape[1], np.float32)
    for i in range(0, len(weights), _ROWS):
        np.maximum(scales, np.abs(weights[i : i + _ROWS]).max(axis=0), out=scales)
    if not per_column:
        scales[:] = scales.max()
    scales = np.maximum(scales / 127, _SMALLEST)
    values = np.empty(weights.shape, np.int8 if signed else np.uint8)
    for i in range(0, len(weights), _ROWS):
        steps = np.rint(weights[i : i + _ROWS] / scales)
        values[i : i + _ROWS] = steps if signed else steps + _ZERO
    return values, scales


def _matrix(
    graph: Graph, producers: dict[str, onnx.NodeProto], matmul: onnx.NodeProto
) -> np.ndarray | None:
    """The stored (in, out) matrix of a linear layer; a tied embedding comes through a Transpose."""
    name = matmul.input[1]
    if graph.is_weight(name):
        values = graph.value(name)
    else:
        transpose = producers.get(name)
        if transpose is None or transpose.op_type != "Transpose":
            return None
        stored = graph.value(transpose.input[0])
        values = None if stored is None else stored.T
    return values if values is not None and values.ndim == 2 else None


def _zeros(batched: bool) -> list[onnx.NodeProto]:
    """The zero point of each token, and of each token whose logits are wanted.

    Of a batch, also the shape that a result (1, all tokens, width) has to be brought back to.
    """
    make = helper.make_node
    zero = helper.make_tensor("zero", TensorProto.UINT8, [1], [_ZERO])
    if batched:
        return [
            make("Size", ["input_ids"], ["int8/size"]),
            make("Unsqueeze", ["int8/size", "int8/zeroth"], ["int8/tokens"]),
            make("ConstantOfShape", ["int8/tokens"], ["int8/zeros"], value=zero),
            make("Shape", ["input_ids"], ["int8/texts"], start=0, end=1),
            make("Concat", ["int8/texts", "int8/rest"], ["int8/as_before"], axis=0),
        ]
    return [
        make("Shape", ["input_ids"], ["int8/tokens"], start=1),
        make("ConstantOfShape", ["int8/tokens"], ["int8/zeros"], value=zero),
        make("ConstantOfShape", ["num_logits"], ["int8/logits_zeros"], value=zero),
    ]


def _quantise_rows(
    source: str, late: str | None, batched: bool
) -> tuple[list[onnx.NodeProto], str, str]:
    """Nodes that turn (1, tokens, K) floats into bytes, and the scales (tokens, 1).

    `late` is a factor of each token's floats that has been left out of them so far.
    """
    name = f"int8/{source}"
    zeros = "int8/logits_zeros" if source == LOGITS_INPUT else "int8/zeros"
    make = helper.make_node
    nodes = []
    if batched:
        nodes.append(make("Reshape", [source, "int8/as_one_text"], [f"{name}/one_text"]))
        source = f"{name}/one_text"
    nodes += [
        make("Abs", [source], [f"{name}/abs"]),
        make("ReduceMax", [f"{name}/abs", "int8/all_but_tokens"], [f"{name}/max"], keepdims=0),
        make("Mul", [f"{name}/max", "int8/per_step"], [f"{name}/flat"]),
        make("QuantizeLinear", [source, f"{name}/flat", zeros], [f"{name}/bytes"], axis=1),
        make("Unsqueeze", [f"{name}/flat", "int8/last"], [f"{name}/scale"]),
    ]
    if late is None:
        return nodes, f"{name}/bytes", f"{name}/scale"
    nodes.append(make("Mul", [f"{name}/scale", late], [f"{name}/whole_scale"]))
    return nodes, f"{name}/bytes", f"{name}/whole_scale"


def _take_scale(
    graph: Graph, source: str, readers: list[onnx.NodeProto], scaled: dict[str, tuple[str, str]]
) -> str | None:
    """Leaves a scale per token out of a product that is quantised per token next.

    Such a factor changes no byte, only their scale; as a factor of one number per token it costs
    nothing, as one of a gated layer's thousands it does.
    """
    product = graph.producers().get(source)
    consumers = graph.consumers()
    if product is None or product.op_type != "Mul" or len(consumers[source]) != len(readers):
        return None
    for i, name in enumerate(product.input):
        if name in scaled and len(consumers[name]) == 1:
            product.input[i], scale = scaled[name]
            return scale
    return None


def _quantise_embedding(graph: Graph) -> None:
    """The table of token vectors as signed bytes with one scale per token."""
    for gather in graph.nodes:
        if gather.op_type == "Gather" and gather.input[1] == "input_ids":
            break
    else:
        return
    table = graph.value(gather.input[0])
    if table is None:
        return
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True) / 127, _SMALLEST)
    values = np.empty(table.shape, np.int8)
    for i in range(0, len(table), _ROWS):
        values[i : i + _ROWS] = np.rint(table[i : i + _ROWS] / scales[i : i + _ROWS])
    graph.add_weight("int8/embedding", values)
    graph.add_weight("int8/embedding/scales", scales.astype(np.float32))
    make = helper.make_node
    graph.replace(
        [gather],
        [
            make("Gather", ["int8/embedding", "input_ids"], ["int8/embedding/row"]),
            make("Gather", ["int8/embedding/scales", "input_ids"], ["int8/embedding/scale"]),
            make("Cast", ["int8/embedding/row"], ["int8/embedding/float"], to=TensorProto.FLOAT),
            make("Mul", ["int8/embedding/float", "int8/embedding/scale"], [gather.output[0]]),
        ],
    )
