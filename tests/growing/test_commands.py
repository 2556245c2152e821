"""A collection built into PostgreSQL by the command, questions written by a model on a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag.llm.build import ensure_embedder
from rag.settings import Settings
from tests.llm.chat_server import Behaviour, chat_server

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[2]
PROSE = "The harbour of Veldt was dug in 1911 by forty men. Its lighthouse burnt oil until 1950."


def test_one_process_builds_and_another_searches_what_it_built(
    tmp_path: Path, database: str, settings: Settings
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.html").write_text(
        f"<html lang=en><title>Harbour</title><main><h1>Harbour</h1><p>{PROSE * 3}</p></main></html>"
    )
    # A models folder that holds the embedder alone: no language model may be wanted.
    models = tmp_path / "models"
    models.mkdir()
    embedder = ensure_embedder(settings)
    (models / embedder.name).symlink_to(embedder)
    does = Behaviour(reply=lambda messages: "When was the harbour of Veldt dug?", continues=False)
    with chat_server(does) as address:
        env = {
            **os.environ,
            "RAG_INDEX": database,
            "RAG_LLM": address,
            "RAG_MODELS_DIR": str(models),
            "RAG_ARTIFACTS_DIR": str(tmp_path / "artifacts"),
            "RAG_PAGES_DIR": str(tmp_path / "pages"),
        }

        def run(*arguments: str) -> str:
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=ROOT, env=env, capture_output=True, text=True, timeout=200,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            return done.stdout

        said = run("build_index.py", "--html", str(tmp_path / "site"), "--name", "veldt")
        assert "→ veldt in the database" in said
        asked = run("-m", "rag", "search", "Who dug it in 1911?", "--collection", "veldt", "--json")
    texts = [hit["text"] for hit in json.loads(asked)["hits"]]
    assert any("1911" in text for text in texts), texts
    assert does.asked
    assert not (tmp_path / "artifacts").exists()
    assert [p.name for p in models.iterdir() if not p.name.startswith(".")] == [embedder.name]
