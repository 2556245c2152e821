from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.llm import export_encoder
from rag.llm.build import Models, ensure_llm, ensure_models
from rag.llm.choose import candidates, choose
from rag.llm.encoder import OnnxEncoder
from rag.llm.session import Session
from rag.settings import Settings
from rag.types import FootnoteError
from tests.llm.conftest import TinyHub
from tests.llm.hub_server import COMMIT
from tests.llm.tiny import read_json


def nothing_taken_for_whole(models_dir: Path) -> bool:
    built = [p for p in models_dir.iterdir() if not p.name.startswith(".")]
    return all((folder / "model.json").exists() for folder in built)


def nothing_half_made(models_dir: Path) -> bool:
    return nothing_taken_for_whole(models_dir) and not any(models_dir.glob(".building-*"))


def test_hub_models_are_built_with_their_origin(tiny: Models) -> None:
    for folder, name in ((tiny.llm, "tiny/chat"), (tiny.embedder, "tiny/encoder")):
        described = read_json(folder / "model.json")
        assert described["name"] == name
        assert described["source"] == "hub"
        assert described["revision"] == COMMIT
        assert described["licence"] == "mit"


EMBEDDED = ["a passage", "¿qué es un índice?", "the tokenizer cuts words into pieces " * 3]


def test_embedder_graph_gives_nearly_the_models_own_vectors(tiny: Models, hub: TinyHub) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(hub.embedder), device="cpu")
    encoder = OnnxEncoder(tiny.embedder, threads=1)
    expected = model.encode(EMBEDDED, prompt_name="passage")
    assert ((encoder.encode_passages(EMBEDDED) * expected).sum(axis=1) > 0.999).all()
    question = model.encode("what is an index?", prompt_name="query")
    assert encoder.encode_query("what is an index?") @ question > 0.999


def test_embedder_that_does_not_bear_int8_stays_as_it_is(
    hub: TinyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer

    monkeypatch.setattr(export_encoder, "_LEAST_COSINE_INT8", 1.1)
    export_encoder.export_encoder(hub.embedder, "tiny/encoder", tmp_path)
    model = SentenceTransformer(str(hub.embedder), device="cpu")
    expected = model.encode(EMBEDDED, prompt_name="passage")
    found = OnnxEncoder(tmp_path, threads=1).encode_passages(EMBEDDED)
    assert np.allclose(found, expected, atol=1e-5)
    assert not (tmp_path / "raw").exists()


def test_a_build_for_any_processor_is_taken_by_one_that_can_do_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def processor(*, can: bool) -> None:
        monkeypatch.setattr("rag.llm.catalog.adds_without_saturating", lambda: can)

    settings = Settings(model_source="packages", models_dir=tmp_path)
    (model,) = candidates(settings, "llm")
    processor(can=True)
    special = model.folder_name
    processor(can=False)
    common = model.folder_name
    assert special not in model.usable_folders
    (tmp_path / common).mkdir()
    (tmp_path / common / "model.json").write_text('{"files": {}}')
    processor(can=True)
    assert ensure_llm(settings) == tmp_path / common


def test_int8_graph_stays_close_to_the_model(tiny: Models, hub: TinyHub) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    ids = list(range(20, 60))
    with torch.no_grad():
        model = AutoModelForCausalLM.from_pretrained(hub.llm)
        expected = model(torch.tensor([ids])).logits[0].numpy()
    found = Session(tiny.llm / "model.onnx", threads=1, capacity=64).run(ids, 0, len(ids))
    cosines = (found * expected).sum(1)
    cosines /= np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    assert np.median(cosines) > 0.995


def test_second_call_neither_asks_the_hub_nor_imports_the_builders(
    tiny: Models, hub: TinyHub, models_dir: Path
) -> None:
    hub.server.asked.clear()
    code = (
        "import sys; from rag.llm.__main__ import main; status = main(); "
        "heavy = {'torch', 'transformers', 'optimum', 'huggingface_hub'} & set(sys.modules); "
        "sys.exit(status or bool(heavy))"
    )
    start = time.monotonic()
    assert _run(hub, models_dir, code=code).wait() == 0
    assert time.monotonic() - start < 5
    assert hub.server.asked == []


def test_damaged_build_is_built_anew(hub: TinyHub, tiny: Models, tmp_path: Path) -> None:
    shutil.copytree(tiny.embedder, tmp_path / tiny.embedder.name)
    shutil.copytree(tiny.llm, tmp_path / tiny.llm.name)
    graph = tmp_path / tiny.embedder.name / "model.onnx"
    whole = graph.stat().st_size
    graph.write_bytes(graph.read_bytes()[:1000])
    models = ensure_models(hub.settings(tmp_path))
    assert (models.embedder / "model.onnx").stat().st_size == whole


def test_killed_download_and_killed_build_are_gone_on_with(hub: TinyHub, tmp_path: Path) -> None:
    hub.server.delay, hub.server.sent = 0.02, 0
    try:
        process = _run(hub, tmp_path)
        _kill_when(process, lambda: hub.server.sent > 40_000)
    finally:
        hub.server.delay = 0
    assert nothing_taken_for_whole(tmp_path)
    process = _run(hub, tmp_path)
    _kill_when(process, lambda: any(tmp_path.glob(".building-*/tokenizer.json")))
    assert nothing_taken_for_whole(tmp_path)
    assert _run(hub, tmp_path).wait() == 0
    assert nothing_half_made(tmp_path)
    assert not any((tmp_path / ".downloads").iterdir())


def test_wrong_checksum_is_named_and_nothing_stays(hub: TinyHub, tmp_path: Path) -> None:
    hub.server.corrupt = "model.safetensors"
    try:
        with pytest.raises(FootnoteError, match=r"model\.safetensors of tiny/chat.*checksum"):
            ensure_models(hub.settings(tmp_path))
    finally:
        hub.server.corrupt = None
    assert nothing_half_made(tmp_path)
    assert not any(tmp_path.rglob("*.safetensors"))


def test_models_folder_that_cannot_be_written(hub: TinyHub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FootnoteError, match=r"can't be written .*RAG_MODELS_DIR"):
        ensure_models(hub.settings(tmp_path / "file" / "models"))


def test_full_disk(hub: TinyHub, tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        with pytest.raises(FootnoteError, match=r"No room left.*RAG_MODELS_DIR"):
            ensure_models(hub.settings(tmp_path))
        assert nothing_half_made(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.parametrize("silent", [True, False], ids=["no answer", "refused"])
def test_unreachable_hub_costs_seconds_and_auto_takes_the_packages(
    silent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if silent:
            listener.listen()
        settings = Settings(hub_endpoint=f"http://127.0.0.1:{listener.getsockname()[1]}")
        start = time.monotonic()
        with caplog.at_level("INFO"):
            chosen = [choose(settings, candidates(settings, kind)) for kind in ("llm", "embedder")]
        assert time.monotonic() - start < 10
    assert [choice.source for choice in chosen] == ["packages", "packages"]
    assert len(caplog.messages) == 2
    assert "hub: " in caplog.messages[0]


def test_hub_that_answers_is_taken(hub: TinyHub, tmp_path: Path) -> None:
    settings = replace(hub.settings(tmp_path), model_source="auto")
    assert choose(settings, candidates(settings, "llm")).source == "hub"


def test_named_repository_is_not_replaced_by_another_model(tmp_path: Path) -> None:
    settings = Settings(llm="tiny/chat", hub_endpoint="http://127.0.0.1:1", models_dir=tmp_path)
    with pytest.raises(FootnoteError, match="tiny/chat"):
        ensure_models(settings)


def test_local_folder_is_built_and_rebuilt_when_it_changes(hub: TinyHub, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(hub.embedder, folder)
    settings = Settings(embedder=str(folder), model_source="packages")
    (before,) = candidates(settings, "embedder")
    assert before.source == "local"
    name = before.folder_name
    (folder / "README.md").write_text("changed")
    assert before.folder_name != name


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings(model_source="local"), "set RAG_LLM"),
        (Settings(llm="./nowhere"), "no folder"),
        (Settings(llm="a/b", model_source="local"), "no folder"),
        (Settings(llm="a/b", model_source="packages"), "RAG_MODEL_SOURCE to 'hub'"),
    ],
)
def test_contradicting_settings_are_explained(settings: Settings, says: str) -> None:
    with pytest.raises(FootnoteError, match=says):
        candidates(settings, "llm")


def _run(hub: TinyHub, models_dir: Path, code: str | None = None) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "RAG_MODEL_SOURCE": "hub",
        "RAG_LLM": "tiny/chat",
        "RAG_EMBEDDER": "tiny/encoder",
        "RAG_MODELS_DIR": str(models_dir),
        "HF_ENDPOINT": hub.server.url,
    }
    command = [sys.executable, *(["-c", code] if code else ["-m", "rag.llm"])]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, env=environment, cwd=root, stderr=subprocess.DEVNULL)


def _kill_when(process: subprocess.Popen[bytes], condition: Callable[[], bool]) -> None:
    while not condition():
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
