"""A model's server that is away: a sentence for the reader, one line for the operator."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.llm.served import ServedLanguageModel
from rag.search.gate import SAME_LANGUAGE, Gate, Weights
from rag.search.search import Searcher
from rag.settings import Settings
from tests.llm.chat_server import Behaviour, chat_server
from tests.words import WordEncoder, chunk, stored

ROOT = Path(__file__).parents[2]
GOOD = "A falcon dives at two hundred miles an hour."
SIZE = len(SAME_LANGUAGE.weight)
OPEN = Weights((0.0,) * SIZE, (1.0,) * SIZE, (1.0,) * SIZE, -1e9)


def answerer(address: str) -> Answerer:
    pages = [chunk(f"{GOOD} It nests on cliffs."), chunk("Bread needs flour and time.", "bread")]
    collection = Collection(Searcher(stored(pages), WordEncoder()), Gate(OPEN, OPEN))
    settings = Settings(collection="t", llm=address)
    return Answerer({"t": collection}, ServedLanguageModel(settings), settings)


def test_a_server_that_dies_in_mid_answer_is_one_sentence_and_the_next_answer_works(
    caplog: pytest.LogCaptureFixture,
) -> None:
    does = Behaviour()
    with chat_server(does) as address:
        ask = answerer(address)
        does.reply = lambda messages: GOOD
        does.breaks_after = 4
        broken = ask.ask("How fast does a falcon dive?")
        does.breaks_after = None
        whole = ask.ask("How fast does a falcon dive?")
    away = ask.ask("¿Qué necesita el pan?")
    assert broken.outcome == away.outcome == "error"
    assert broken.answer == (
        "I can't answer right now: a server that I need is away. Please try again later."
    )
    assert "servidor" in away.answer
    assert broken.citations == ()
    assert (whole.outcome, whole.answer) == ("answered", f"{GOOD} [1]")
    assert [r.levelno for r in caplog.records if r.name.startswith("rag")] == [logging.ERROR] * 2
    assert "Traceback" not in caplog.text


@pytest.mark.models
def test_a_server_that_is_down_at_start_is_one_line_and_status_1() -> None:
    env = {**os.environ, "RAG_LLM": "http://127.0.0.1:9/v1", "RAG_LLM_API_KEY": "sk-secret"}
    command = [sys.executable, "app.py", "--port", "0"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    *_, said = done.stderr.strip().splitlines()
    assert said.startswith("The language model's server at http://127.0.0.1:9/v1 can't be reached")
    assert "Traceback" not in done.stderr
    assert "sk-secret" not in done.stderr


@pytest.mark.models
def test_a_database_that_is_down_at_start_is_one_line_and_status_1() -> None:
    env = {**os.environ, "RAG_INDEX": "postgresql://me:hush@127.0.0.1:9/blog"}
    command = [sys.executable, "-m", "rag", "search", "x"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "'blog' at 127.0.0.1 gives no answer" in done.stderr
    assert "hush" not in done.stderr
