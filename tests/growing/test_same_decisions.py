"""The demo blog's battery, asked of the embedded default and of both ways to grow: one gate.

Each question runs as it would for a reader, up to the moment when the model would begin to write.
With `RAG_LLM` set to a server, that one is asked too (`docs/deploy.md` says how).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.answer.answerer import Answerer
from rag.answer.load import load_answerer, load_encoder
from rag.search.postgres import PostgresStore
from rag.search.stores import FileStore
from rag.settings import Settings
from tests.llm.chat_server import Behaviour, chat_server

pytestmark = pytest.mark.models
BATTERY = [
    json.loads(line) for line in Path("corpus/battery.jsonl").read_text("utf-8").splitlines()
]


def decisions(answerer: Answerer) -> dict[str, Any]:
    """Question → whether it passes the gate, by which way, and what was found."""
    found = {}
    for entry in BATTERY:
        for answer in answerer.stream(entry["question"], "blog"):
            if answer.stage in ("reading", "done"):
                passes = answer.stage == "reading"
                nearest = [(page.url, page.score) for page in answer.nearest]
                found[entry["question"]] = (passes, answer.route, answer.outcome, nearest)
                break
    return found


@pytest.fixture(scope="module")
def embedded(settings: Settings) -> dict[str, Any]:
    """What the files of the demo blog decide, with the model built in."""
    answerer, _ = load_answerer(replace(settings, llm=None, index=None))
    answerer.judge = None  # it belongs to the built-in model: a model on a server tells no state
    decided = decisions(answerer)
    assert {passes for passes, *_ in decided.values()} == {True, False}
    return decided


@pytest.fixture
def copied(settings: Settings, database: str) -> Iterator[str]:
    """The address of a database that holds what the files hold."""
    encoder = load_encoder(settings)
    store = PostgresStore(database)
    files = FileStore(settings.artifacts_dir)
    blog = files.load("blog", encoder.fingerprint, encoder.dimension)
    vectors = blog.index.vectors(list(range(len(blog.index))))
    sentences = np.arange(blog.sentence_vectors.shape[0])
    store.save(blog.manifest, blog.chunks, vectors, blog.sentence_vectors[sentences])
    store.close()
    yield database


def test_an_index_in_postgresql_decides_alike(
    settings: Settings, embedded: dict[str, Any], copied: str
) -> None:
    with chat_server(Behaviour()) as address:
        answerer, _ = load_answerer(replace(settings, index=copied, llm=address))
        assert decisions(answerer) == embedded


def test_a_model_on_a_server_leaves_the_decisions_alike(
    settings: Settings, embedded: dict[str, Any]
) -> None:
    with chat_server(Behaviour()) as address:
        answerer, about = load_answerer(replace(settings, llm=address))
        assert decisions(answerer) == embedded
    assert about["Language model"] == "small (on a server)"


def test_the_server_that_the_settings_name_answers_with_the_same_decisions(
    settings: Settings, embedded: dict[str, Any]
) -> None:
    if not settings.llm_is_served:
        pytest.skip("RAG_LLM names no server")
    answerer, _ = load_answerer(settings)
    assert decisions(answerer) == embedded
    answer = answerer.ask("What is dynamic quantisation?", "blog")
    assert answer.outcome == "answered", answer.answer
    assert answer.citations
    refused = answerer.ask("What is the best pizza dough?", "blog")
    assert (refused.outcome, refused.timings.prompt_tokens) == ("refused", 0)
