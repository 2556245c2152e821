"""What befalls a model while it serves."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import psutil
import pytest

from rag.llm.build import Models
from rag.llm.encoder import OnnxEncoder
from rag.llm.generate import OnnxLanguageModel
from rag.llm.session import Session
from rag.settings import usable_processors
from rag.types import Message

CHAT = [Message("user", "¿Qué es un índice?")]


def test_a_models_folder_may_be_deleted_while_it_runs(tiny: Models, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny.llm, tmp_path / "llm"))
    model = OnnxLanguageModel(folder, threads=1)
    before = "".join(model.generate(CHAT, max_tokens=8))
    shutil.rmtree(folder)
    for question in ("Why?", "¿Qué es un índice?"):
        again = "".join(model.generate([Message("user", question)], max_tokens=8))
    assert again == before


def test_the_embedders_folder_may_be_deleted_while_it_runs(tiny: Models, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny.embedder, tmp_path / "embedder"))
    encoder = OnnxEncoder(folder, threads=1)
    before = encoder.encode_query("what is an index?")
    shutil.rmtree(folder)
    encoder.encode_passages(["other words than before " * 9])
    assert (encoder.encode_query("what is an index?") == before).all()


@pytest.mark.parametrize("argument", [{"max_tokens": "many"}, {"stop": 3}, {"begin": 5}])
def test_a_bad_argument_hangs_neither_this_turn_nor_the_next(
    tiny: Models, argument: dict[str, Any]
) -> None:
    model = OnnxLanguageModel(tiny.llm, threads=1)
    good = "".join(model.generate(CHAT, max_tokens=8))
    ended: list[BaseException] = []

    def bad() -> None:
        try:
            list(model.generate(CHAT, **{"max_tokens": 8, **argument}))
        except (TypeError, AttributeError) as error:
            ended.append(error)

    thread = threading.Thread(target=bad, daemon=True)
    thread.start()
    thread.join(10)
    assert ended
    assert "".join(model.generate(CHAT, max_tokens=8)) == good


def test_a_kept_prompt_gives_its_memory_back(tiny: Models) -> None:
    session = Session(tiny.llm / "model.onnx", threads=1)
    process = psutil.Process()
    np.empty(31 << 20, np.uint8)  # from now on glibc takes smaller arrays from its heaps
    copies = [session.read_cache(0, session.capacity) for _ in range(40)]
    full = process.memory_info().rss
    size = sum(copy.nbytes for copy in copies[::2])
    del copies[::2]  # what lies between others goes back too
    assert full - process.memory_info().rss > 0.9 * size


def test_after_a_stop_the_processor_is_free_again(tiny: Models) -> None:
    threads = threading.active_count()
    model = OnnxLanguageModel(tiny.llm, threads=1)
    asked = itertools.chain([False, False], itertools.repeat(True))
    generation = model.generate(CHAT, max_tokens=400, stop=lambda: next(asked))
    list(generation)
    assert generation.ending == "stopped"
    time.sleep(0.2)
    assert threading.active_count() == threads
    used = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - used < 0.1


def test_the_graph_has_a_cache_and_knows_its_positions(tiny: Models) -> None:
    graph = onnx.load(str(tiny.llm / "model.onnx"), load_external_data=False).graph
    names = {value.name for value in graph.input}
    assert any(name.startswith("past_key_values.") for name in names)
    # The fused attention counts positions from what lies in its cache.
    assert "position_ids" in names or "seqlens_k" in names
    session = Session(tiny.llm / "model.onnx", threads=1, capacity=64)
    whole = session.run([5, 6, 7, 8], 0, 1).copy()
    session.run([5, 6], 0, 1)
    assert (session.run([7, 8], 2, 1) == whole).all()
    assert not (session.run([8, 7], 2, 1) == whole).all()


def test_a_session_takes_as_many_threads_as_it_is_told(tiny: Models) -> None:
    process = psutil.Process()
    before = process.num_threads()
    one = Session(tiny.llm / "model.onnx", threads=1, capacity=64)
    assert process.num_threads() == before
    three = Session(tiny.llm / "model.onnx", threads=3, capacity=64)
    assert process.num_threads() == before + 2
    assert one.capacity == three.capacity


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux has affinities")
def test_threads_are_those_of_the_process_and_not_of_the_host() -> None:
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from rag.settings import Settings; print(Settings.from_environment({}).threads)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


@pytest.mark.parametrize(
    ("quota", "most"),
    [("200000 100000", 2), ("50000 100000", 1), ("150000 100000", 1), ("max 100000", 10**6),
     ("", 10**6), ("nonsense", 10**6)],
)  # fmt: skip
def test_a_containers_limit_counts(tmp_path: Path, quota: str, most: int) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    own = len(os.sched_getaffinity(0))
    assert usable_processors(tmp_path) == min(own, most)
    assert usable_processors(tmp_path / "missing") == own


@pytest.mark.parametrize(("quota", "most"), [("100000", 1), ("50000", 1), ("-1", 10**6)])
def test_a_containers_limit_counts_in_the_older_form(tmp_path: Path, quota: str, most: int) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000")
    assert usable_processors(tmp_path) == min(len(os.sched_getaffinity(0)), most)
