from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from rag.llm.graph import Graph
from rag.measure.baseline import LlamaCpp
from rag.measure.bench import _columns, _row, _stages, bench, markdown
from rag.measure.embedder import read_paragraphs, recall
from rag.measure.figures import lines
from rag.measure.made_up import Corpus, write_collection
from rag.measure.quantisation import blocks_of_bits, read_questions
from rag.measure.scale import collection
from rag.measure.served import Served, serve_and_ask
from rag.measure.watched import Pace, WatchedLanguageModel
from rag.search import store
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import Answer, FootnoteError, Timings
from tests.answer.scripted import ScriptedModel
from tests.words import WordEncoder

ROOT = Path(__file__).parents[2]


def answer(**timings: int) -> Answer:
    return Answer(
        question="q", search_query="q", collection="blog", mode="blog", language="en",
        outcome="answered", answer="a", timings=Timings(**timings),
    )  # fmt: skip


def test_pace_counts_what_came_after_the_first_piece() -> None:
    times = iter([0.5, 0.6, 0.7])
    pace = Pace(lambda: next(times))
    pace.piece(3)
    assert pace.tokens_per_s is None
    pace.piece(11)
    pace.piece(19)
    assert pace.tokens_per_s == pytest.approx(80)


def test_a_watched_model_writes_what_it_writes_alone() -> None:
    watched = WatchedLanguageModel(ScriptedModel("Dough rises. It takes a night."))
    turn = watched.generate([], max_tokens=50)
    assert watched.pace is not None and watched.pace.tokens_per_s is None
    assert "".join(turn).strip() == "Dough rises. It takes a night."
    assert turn.output_tokens == 6
    assert watched.pace.tokens_per_s is not None and watched.pace.tokens_per_s > 0


def test_an_answer_without_a_model_has_no_pace_and_no_prompt() -> None:
    quoted = _row(answer(first_token_ms=30, total_ms=40), None)
    written = _row(answer(first_token_ms=300, total_ms=800, prompt_tokens=350), 80.0)
    assert quoted == {"retrieve_ms": 0, "first_token_ms": 30, "total_ms": 40}
    columns = _columns([quoted, written])
    assert columns["decode_tokens_per_s"]["median"] == 80
    assert columns["prompt_tokens"]["median"] == 350
    assert columns["total_ms"]["median"] == 420


def test_stages_share_the_whole_time() -> None:
    rows = [
        _row(answer(retrieve_ms=20, first_token_ms=first, total_ms=1000), None)
        for first in (220, 420)
    ]
    assert _stages(rows) == {"search": 0.02, "read": 0.3, "write": 0.68}


def test_nested_figures_are_a_line_each() -> None:
    figures = {"questions": 3, "by_language": {"en": {"total_ms": {"median": 1, "p95": 2}}}}
    assert [line.split() for line in lines(figures)] == [
        ["questions", "3"],
        ["by_language", "en", "total_ms", "median", "1", "p95", "2"],
    ]


def test_the_docs_table_has_the_baseline_beside_each_figure() -> None:
    names = ("retrieve_ms", "first_token_ms", "total_ms", "decode_tokens_per_s", "prompt_tokens")
    figures = {name: {"median": 440.0, "p95": 560.0} for name in (*names, "ready_s")}
    table = markdown({**figures, "rss_mb": 1700, "baseline": {"total_ms": {"median": 12000.0}}})
    assert "| whole answer | 0.44 s | 0.56 s | 12 s |" in table.splitlines()
    assert len({line.count("|") for line in table.splitlines()}) == 1
    assert "llama.cpp" not in markdown({**figures, "rss_mb": 1700})


def test_a_missing_llama_cpp_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(FootnoteError, match=r"pip install -r requirements-compare\.txt"):
        LlamaCpp(Settings())
    assert "llama-cpp-python==" in (ROOT / "requirements-compare.txt").read_text("utf-8")


def test_a_model_without_a_gguf_has_no_baseline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    models = types.SimpleNamespace(llm=tmp_path)
    (tmp_path / "model.json").write_text(json.dumps({"name": "tiny/chat", "source": "hub"}))
    monkeypatch.setitem(sys.modules, "llama_cpp", types.ModuleType("llama_cpp"))
    monkeypatch.setattr("rag.measure.baseline.ensure_models", lambda settings: models)
    with pytest.raises(FootnoteError, match="tiny/chat is from hub"):
        LlamaCpp(Settings())


def test_made_up_texts_repeat_with_the_seed_and_share_their_words() -> None:
    assert Corpus(1).text(50) == Corpus(1).text(50) != Corpus(2).text(50)
    one, other = (set(Corpus(seed).text(5000).split()) for seed in (1, 2))
    assert len(one & other) > 100


def test_a_made_up_collection_is_searched_like_any_other(tmp_path: Path) -> None:
    encoder = WordEncoder()
    write_collection(tmp_path / "made-up", 30, encoder)
    stored = store.load(tmp_path / "made-up", encoder.fingerprint, encoder.dimension)
    assert stored.lexical is not None
    wanted = stored.chunks[7]
    start, end = wanted.sentences[3]
    found = Searcher(stored, encoder).search(wanted.text[start:end], 30, "en")
    assert max(found.hits, key=lambda hit: hit.lexical).chunk == wanted
    assert np.allclose(np.linalg.norm(stored.index.vectors([0, 29]), axis=1), 1, atol=1e-5)


@pytest.mark.models
def test_growth_is_measured_in_processes_of_their_own(settings: Settings) -> None:
    found = collection(settings, 40)
    assert found["load_s"] > 0 and found["search_ms"]["median"] > 0
    assert found["disk_mb"] >= 0


@pytest.mark.models
def test_an_app_that_cannot_start_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(FootnoteError, match="ended with status 1"):
        serve_and_ask(Settings(collection="no-such"), ["q"], lambda *_: None, starts=1)


@pytest.mark.models
def test_bench_prints_one_object_with_the_promised_figures() -> None:
    command = [sys.executable, "-m", "rag", "bench", "--json", "--limit", "6", "--without-guesses"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    for name in ("ready_s", "retrieve_ms", "first_token_ms", "total_ms", "decode_tokens_per_s",
                 "prompt_tokens"):  # fmt: skip
        assert result[name]["median"] > 0 and result[name]["p95"] > 0
    assert result["rss_mb"] > 100 and result["questions"] >= 1
    assert 0 <= result["without_guesses"]["same_answers"] <= 1
    assert sum(result["stages"].values()) == pytest.approx(1, abs=0.01)


@pytest.mark.models
def test_an_interrupted_bench_gives_what_it_has(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served([1.0], 500.0)
    monkeypatch.setattr("rag.measure.bench.serve_and_ask", lambda *_: served)
    question = ("Who developed BM25?", "en")

    def interrupt(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    result = bench(settings, [question] * 5, interrupt)
    assert result["questions"] == 2 and result["total_ms"]["median"] > 0


def test_recall_counts_the_gold_paragraph_among_the_nearest() -> None:
    questions = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    paragraphs = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert recall(questions, paragraphs, [0, 0, 0], 1) == pytest.approx(1 / 3, abs=1e-4)
    assert recall(questions, paragraphs, [0, 0, 0], 2) == 1.0
    assert recall(questions, paragraphs, [0, 1, 1], 1) == 1.0


def test_a_file_of_another_shape_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]")
    for read in (read_paragraphs, lambda path: read_questions(path, 2)):
        with pytest.raises(FootnoteError, match=r"a\.json is no SQuAD-format file"):
            read(tmp_path / "a.json")


@pytest.mark.parametrize(("bits", "block"), [(8, 16), (4, 16)])
def test_blocks_of_bits_give_nearly_the_same_product(tmp_path: Path, bits: int, block: int) -> None:
    weights = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    floats = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, w]) for n, w in
              (("x", 64), ("y", 32))]  # fmt: skip
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="layer")
    body = helper.make_graph(
        [node], "g", floats[:1], floats[1:], [numpy_helper.from_array(weights, "w")]
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (tmp_path / "a.onnx").write_bytes(model.SerializeToString())
    graph = Graph(tmp_path / "a.onnx")
    blocks_of_bits(graph, bits, block)
    graph.save(tmp_path / "b.onnx")
    ones = np.ones((1, 64), np.float32)
    (found,) = ort.InferenceSession(tmp_path / "b.onnx").run(None, {"x": ones})
    expected = ones @ weights
    cosine = (found * expected).sum() / np.linalg.norm(found) / np.linalg.norm(expected)
    assert [node.op_type for node in graph.nodes] == ["MatMulNBits"]
    assert cosine > (0.9999 if bits == 8 else 0.98)
