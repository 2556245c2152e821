"""Dynamic int8 quantisation of a graph's linear layers and embedding table.

Weights get one scale per output column, activations one per token, measured as they come
(arXiv:2206.01861). ONNX Runtime's own dynamic quantisation takes one scale for all tokens of a run:
there a single outlier token coarsens all others, and a token's result depends on its neighbours.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import onnx
from onnx import TensorProto, helper

from rag.llm.graph import MICROSOFT, Graph

_ZERO = 128
"""The unsigned byte that stands for 0. Unsigned weights too: without VNNI, processors add pairs of
unsigned × signed products in 16 bits and saturate."""
_SMALLEST = 1e-10
_ROWS = 4096


def quantise(graph: Graph) -> int:
    """Quantises every MatMul with a stored matrix, and the embedding table; returns how many."""
    graph.require(MICROSOFT, 1)
    _quantise_embedding(graph)
    groups: dict[str, list[onnx.NodeProto]] = defaultdict(list)
    producers = graph.producers()
    for node in graph.nodes:
        if node.op_type == "MatMul" and _matrix(graph, producers, node) is not None:
            groups[node.input[0]].append(node)
    graph.add_weight("int8/zero", np.array(_ZERO, np.uint8))
    graph.add_weight("int8/one", np.array(1, np.float32))
    graph.add_weight("int8/per_step", np.array(1 / 127, np.float32))
    graph.add_weight("int8/last", np.array([-1]))
    graph.add_weight("int8/smallest", np.array(_SMALLEST, np.float32))
    for source, matmuls in groups.items():
        nodes, quantised, scale = _quantise_rows(source)
        first = True
        for matmul in matmuls:
            weights = _matrix(graph, producers, matmul)
            assert weights is not None
            new = [*(nodes if first else []), *_linear(graph, matmul, weights, quantised, scale)]
            graph.replace([matmul], new)
            first = False
    graph.prune()
    return sum(map(len, groups.values()))


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


def _quantise_rows(source: str) -> tuple[list[onnx.NodeProto], str, str]:
    """Nodes that turn (…, K) floats into bytes and one scale per row (…, 1)."""
    name = f"int8/{source}"
    make = helper.make_node
    nodes = [
        make("Abs", [source], [f"{name}/abs"]),
        make("ReduceMax", [f"{name}/abs", "int8/last"], [f"{name}/max"], keepdims=1),
        make("Mul", [f"{name}/max", "int8/per_step"], [f"{name}/exact"]),
        make("Max", [f"{name}/exact", "int8/smallest"], [f"{name}/scale"]),
        make("Div", [source, f"{name}/scale"], [f"{name}/steps"]),
        make("QuantizeLinear", [f"{name}/steps", "int8/one", "int8/zero"], [f"{name}/bytes"]),
    ]
    return nodes, f"{name}/bytes", f"{name}/scale"


def _linear(
    graph: Graph, matmul: onnx.NodeProto, weights: np.ndarray, quantised: str, scale: str
) -> list[onnx.NodeProto]:
    name = f"int8/{matmul.name}"
    values, scales = quantise_columns(weights)
    graph.add_weight(f"{name}/weights", values)
    graph.add_weight(f"{name}/scales", scales)
    product = helper.make_node(
        "MatMulIntegerToFloat",
        [quantised, f"{name}/weights", "int8/one", f"{name}/scales", "int8/zero", "int8/zero"],
        [f"{name}/product"],
        name=matmul.name,
        domain=MICROSOFT,
    )
    return [product, helper.make_node("Mul", [f"{name}/product", scale], [matmul.output[0]])]


def quantise_columns(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(in, out) floats as bytes around 128 and one scale per column (out,)."""
    scales = np.zeros(weights.shape[1], np.float32)
    for i in range(0, len(weights), _ROWS):
        np.maximum(scales, np.abs(weights[i : i + _ROWS]).max(axis=0), out=scales)
    scales = np.maximum(scales / 127, _SMALLEST)
    values = np.empty(weights.shape, np.uint8)
    for i in range(0, len(weights), _ROWS):
        values[i : i + _ROWS] = np.rint(weights[i : i + _ROWS] / scales) + _ZERO
    return values, scales


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
