"""Reading, editing and writing an ONNX graph whose weights lie in a file beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""
# A page on every usual system, so that each tensor can be mapped into memory on its own.
_ALIGNMENT = 4096
_INLINE = 1024


class Graph:
    """A graph under edit. Weights are mapped, not read, until they are replaced."""

    def __init__(self, path: Path) -> None:
        model = onnx.load(path, load_external_data=False)
        self.inputs = list(model.graph.input)
        self.outputs = list(model.graph.output)
        self.nodes = list(model.graph.node)
        self._folder = path.parent
        self._opsets = {opset.domain: opset.version for opset in model.opset_import}
        self._stored = {tensor.name: tensor for tensor in model.graph.initializer}
        self._arrays: dict[str, np.ndarray] = {}
        self._ir_version = model.ir_version
        self._constants = {
            node.output[0]: node for node in self.nodes if node.op_type == "Constant"
        }
        # The exporter stores equal weights once, and names the others through Identity.
        for node in [node for node in self.nodes if node.op_type == "Identity"]:
            if node.input[0] in self._stored:
                self.rewire(node.output[0], node.input[0])

    # -- looking

    def producers(self) -> dict[str, onnx.NodeProto]:
        """Which node makes each tensor."""
        return {output: node for node in self.nodes for output in node.output if output}

    def consumers(self) -> dict[str, list[onnx.NodeProto]]:
        """Which nodes read each tensor."""
        found: dict[str, list[onnx.NodeProto]] = defaultdict(list)
        for node in self.nodes:
            for name in node.input:
                if name:
                    found[name].append(node)
        return found

    def is_weight(self, name: str) -> bool:
        """Whether the tensor is stored with the graph."""
        return name in self._arrays or name in self._stored

    def value(self, name: str) -> np.ndarray | None:
        """The values of a stored tensor or a constant; None for what is computed."""
        if name in self._arrays:
            return self._arrays[name]
        if name in self._stored:
            return self._load(self._stored[name])
        if name in self._constants:
            attribute = self._constants[name].attribute[0]
            return numpy_helper.to_array(attribute.t) if attribute.name == "value" else None
        return None

    def _load(self, tensor: TensorProto) -> np.ndarray:
        if tensor.data_location != TensorProto.EXTERNAL:
            return numpy_helper.to_array(tensor)
        where = {entry.key: entry.value for entry in tensor.external_data}
        return np.memmap(
            self._folder / where["location"],
            dtype=helper.tensor_dtype_to_np_dtype(tensor.data_type),
            mode="r",
            offset=int(where.get("offset", 0)),
            shape=tuple(tensor.dims),
        )

    # -- changing

    def add_weight(self, name: str, values: np.ndarray) -> str:
        """Stores a tensor; returns its name."""
        self._arrays[name] = np.ascontiguousarray(values)
        return name

    def require(self, domain: str, version: int) -> None:
        """Makes the operators of a domain available."""
        self._opsets[domain] = max(version, self._opsets.get(domain, 0))

    def replace(self, old: Iterable[onnx.NodeProto], new: Iterable[onnx.NodeProto]) -> None:
        """Puts `new` where the last of `old` stood."""
        gone = {id(node) for node in old}
        last = max(i for i, node in enumerate(self.nodes) if id(node) in gone)
        before = [node for node in self.nodes[:last] if id(node) not in gone]
        self.nodes = [*before, *new, *self.nodes[last + 1 :]]

    def rewire(self, old: str, new: str) -> None:
        """Everything that read `old` reads `new`."""
        for node in self.nodes:
            for i, name in enumerate(node.input):
                if name == old:
                    node.input[i] = new

    def prune(self) -> None:
        """Drops the nodes, weights and inputs that no output depends on."""
        needed = {output.name for output in self.outputs}
        kept = []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                kept.append(node)
                needed.update(name for name in node.input if name)
        self.nodes = kept[::-1]
        self.inputs = [value for value in self.inputs if value.name in needed]
        self._stored = {n: t for n, t in self._stored.items() if n in needed}
        self._arrays = {n: a for n, a in self._arrays.items() if n in needed}

    # -- writing

    def save(self, path: Path) -> None:
        """Writes `path` and, with all but the smallest weights, `path` + `.data`."""
        data = path.with_name(path.name + ".data")
        initializers = []
        with data.open("wb") as out:
            for name in [*self._stored, *self._arrays]:
                values = self.value(name)
                assert values is not None
                if values.nbytes <= _INLINE:
                    initializers.append(numpy_helper.from_array(np.array(values), name))
                    continue
                out.write(b"\0" * (-out.tell() % _ALIGNMENT))
                tensor = TensorProto(
                    name=name,
                    data_type=helper.np_dtype_to_tensor_dtype(values.dtype),
                    dims=values.shape,
                    data_location=TensorProto.EXTERNAL,
                )
                where: dict[str, Any] = {
                    "location": data.name,
                    "offset": out.tell(),
                    "length": values.nbytes,
                }
                for key, entry in where.items():
                    tensor.external_data.add(key=key, value=str(entry))
                values.tofile(out)
                initializers.append(tensor)
        graph = helper.make_graph(self.nodes, "model", self.inputs, self.outputs, initializers)
        opsets = [helper.make_opsetid(d, v) for d, v in self._opsets.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=self._ir_version)
        path.write_bytes(model.SerializeToString())
