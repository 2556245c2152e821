from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from rag.llm.export_llm import optimum_export
from rag.llm.fuse import (
    expose_queries,
    expose_state,
    fuse_attention,
    fuse_norms,
    fuse_skips,
    limit_logits,
)
from rag.llm.graph import Graph
from rag.llm.quantise import quantise, quantise_columns
from rag.llm.session import Session
from tests.llm.conftest import TinyHub
from tests.llm.tiny import make_llm


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny model and what Optimum exports of it."""
    from transformers import AutoModelForCausalLM

    folder = make_llm(tmp_path_factory.mktemp("tiny") / "chat", tied=request.param)
    optimum_export(AutoModelForCausalLM.from_pretrained(folder).eval(), folder / "exported")
    return folder


def reference(folder: Path, ids: list[int]) -> np.ndarray:
    import torch
    from transformers import AutoModelForCausalLM

    with torch.no_grad():
        model = AutoModelForCausalLM.from_pretrained(folder)
        return model(torch.tensor([ids])).logits[0].numpy()


def config(folder: Path) -> dict[str, object]:
    from transformers import AutoConfig

    found: dict[str, object] = AutoConfig.from_pretrained(folder).to_dict()
    return found


IDS = [(7 * n) % 300 for n in range(40)]


@pytest.mark.parametrize("fused", [True, False])
def test_edited_graph_computes_what_the_model_does(exported: Path, fused: bool) -> None:
    graph = Graph(exported / "exported" / "model.onnx")
    limit_logits(graph)
    if fused:
        assert fuse_attention(graph, config(exported))
        assert fuse_norms(graph) == 5
        assert fuse_skips(graph) == 4
    path = exported / f"edited-{fused}.onnx"
    graph.save(path)
    session = Session(path, threads=1, capacity=64)
    expected = reference(exported, IDS)
    assert np.allclose(session.run(IDS, 0, len(IDS)), expected, atol=1e-3)
    # In pieces, behind a cache, and again behind a part of it.
    session.run(IDS[:30], 0)
    assert np.allclose(session.run(IDS[30:], 30, 10), expected[30:], atol=1e-3)
    assert np.allclose(session.run(IDS[20:25], 20, 2), expected[23:25], atol=1e-3)


@pytest.mark.parametrize("fused", [True, False])
def test_the_state_is_the_models_own_in_the_middle_of_its_layers(
    exported: Path, fused: bool
) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(exported)
    with torch.no_grad():
        found = model(torch.tensor([IDS]), output_hidden_states=True).hidden_states
    layers = model.config.num_hidden_layers
    expected = found[round(layers * 7 / 12)][0].numpy()
    graph = Graph(exported / "exported" / "model.onnx")
    limit_logits(graph)
    if fused:
        fuse_attention(graph, config(exported))
    fuse_norms(graph)
    assert expose_state(graph, layers)
    fuse_skips(graph)
    path = exported / f"state-{fused}.onnx"
    graph.save(path)
    session = Session(path, threads=1, capacity=64)
    assert session.hidden == expected.shape[1]
    session.run(IDS[:30], 0)
    assert session.state is not None and np.allclose(session.state, expected[29], atol=1e-3)
    # One token alone is run twice at once; its state is still its own.
    session.run(IDS[30:31], 30)
    assert np.allclose(session.state, expected[30], atol=1e-3)


def test_what_tokens_look_at_is_the_models_own_attention(exported: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(exported, attn_implementation="eager")
    with torch.no_grad():
        found = model(torch.tensor([IDS]), output_attentions=True).attentions
    graph = Graph(exported / "exported" / "model.onnx")
    limit_logits(graph)
    fuse_attention(graph, config(exported))
    expose_queries(graph, 2)
    path = exported / "queries.onnx"
    graph.save(path)
    session = Session(path, threads=1, capacity=64)
    assert session.looks
    spans = [(0, 4), (4, 25), (30, 37)]
    expected = torch.stack([found[1][0, :, :, a:b].sum(-1) for a, b in spans], -1).numpy()
    session.run(IDS[:30], 0)
    assert np.allclose(session.looked_at(8, 30, spans)[0], expected[:, 22:30], atol=1e-4)
    session.run(IDS[30:], 30)
    assert np.allclose(session.looked_at(10, 40, spans)[0], expected[:, 30:], atol=1e-4)
    session.run(IDS[20:21], 20)  # one token alone is run twice at once
    assert np.allclose(session.looked_at(1, 21, spans)[0], expected[:, 20:21], atol=1e-4)


def test_where_a_run_begins_is_told_by_graphs_of_older_opsets_too(exported: Path) -> None:
    graph = Graph(exported / "exported" / "model.onnx")
    fuse_attention(graph, config(exported))
    expose_queries(graph, 2)
    nodes = [n for n in graph.nodes if n.output[0].startswith("queries/")]
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "n"])
    total = helper.make_tensor_value_info("total_sequence_length", TensorProto.INT32, [])
    start = helper.make_tensor_value_info("queries/start", TensorProto.INT64, [1])
    one = numpy_helper.from_array(np.array([1]), "queries/one")
    inner = helper.make_graph(nodes, "start", [ids, total], [start], [one])
    model = helper.make_model(inner, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString())
    feed = {
        "input_ids": np.zeros((1, 7), np.int64),
        "total_sequence_length": np.array(19, np.int32),
    }
    assert session.run(None, feed)[0].tolist() == [12]


def test_a_graph_of_another_build_gives_no_state(exported: Path) -> None:
    graph = Graph(exported / "exported" / "model.onnx")
    limit_logits(graph)
    assert not expose_state(graph, 2)  # its norms aren't fused
    graph.save(exported / "no-state.onnx")
    session = Session(exported / "no-state.onnx", threads=1, capacity=64)
    session.run(IDS, 0)
    assert session.hidden is None and session.state is None and not session.looks


def test_attention_of_other_architectures_is_left_alone(exported: Path) -> None:
    graph = Graph(exported / "exported" / "model.onnx")
    nodes = len(graph.nodes)
    assert not fuse_attention(graph, {**config(exported), "model_type": "qwen3"})
    assert not fuse_attention(graph, {**config(exported), "rope_scaling": {"factor": 2.0}})
    assert len(graph.nodes) == nodes


def test_a_tokens_logits_do_not_depend_on_its_neighbours(exported: Path) -> None:
    graph = Graph(exported / "exported" / "model.onnx")
    limit_logits(graph)
    fuse_attention(graph, config(exported))
    quantise(graph)
    graph.save(exported / "int8.onnx")
    session = Session(exported / "int8.onnx", threads=1, capacity=64)
    together = session.run(IDS, 0, len(IDS)).copy()
    alone = np.concatenate([session.run([token], n).copy() for n, token in enumerate(IDS)])
    assert np.array_equal(together, alone)


def test_columns_are_quantised_to_half_a_step() -> None:
    weights = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    for signed in (True, False):
        values, scales = quantise_columns(weights, signed=signed)
        back = (values.astype(np.float32) - (0 if signed else 128)) * scales
        assert values.dtype == (np.int8 if signed else np.uint8)
        assert (np.abs(back - weights) <= scales / 2 + 1e-7).all()


def test_int8_file_is_about_a_quarter_of_the_full_one(exported: Path) -> None:
    sizes = []
    graph = Graph(exported / "exported" / "model.onnx")
    limit_logits(graph)
    fuse_attention(graph, {**config(exported), "max_position_embeddings": 8})
    for name in ("full", "small"):
        graph.save(exported / f"{name}.onnx")
        sizes.append((exported / f"{name}.onnx.data").stat().st_size)
        quantise(graph)
    assert sizes[1] < 0.45 * sizes[0]  # small tensors are rounded up to pages


def test_ready_made_int8_graph_gets_fused(hub: TinyHub, exported: Path, tmp_path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from rag.llm.export_llm import export_llm

    source = tmp_path / "source"
    source.mkdir()
    for path in exported.glob("*.json"):
        (source / path.name).write_bytes(path.read_bytes())
    for path in exported.glob("*.jinja"):
        (source / path.name).write_bytes(path.read_bytes())
    (source / "onnx").mkdir()
    quantize_dynamic(
        exported / "exported" / "model.onnx",
        source / "onnx" / "model_int8.onnx",
        weight_type=QuantType.QInt8,
        per_channel=True,
    )
    export_llm(source, tmp_path / "built")
    session = Session(tmp_path / "built" / "model.onnx", threads=1, capacity=64)
    assert session.looks and session.hidden
    found, expected = session.run(IDS, 0, len(IDS)), reference(exported, IDS)
    cosines = (found * expected).sum(1)
    cosines /= np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    assert session._fused
    assert np.median(cosines) > 0.98


def test_weights_survive_saving_and_loading(tmp_path: Path) -> None:
    weights = np.arange(6000, dtype=np.float32).reshape(60, 100)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    shape = [1, 60]
    model = helper.make_model(
        helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 100])],
            [numpy_helper.from_array(weights, "w")],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    (tmp_path / "a.onnx").write_bytes(model.SerializeToString())
    graph = Graph(tmp_path / "a.onnx")
    graph.add_weight("unused", np.ones(5000, np.float32))
    graph.prune()
    graph.save(tmp_path / "b.onnx")
    assert (tmp_path / "b.onnx.data").stat().st_size == weights.nbytes
    ones = np.ones(shape, np.float32)
    (found,) = ort.InferenceSession(tmp_path / "b.onnx").run(None, {"x": ones})
    assert np.array_equal(found, ones @ weights)
    again = Graph(tmp_path / "b.onnx").value("w")
    assert again is not None and np.array_equal(again, weights)
