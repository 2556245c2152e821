from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag.llm.build import Models, ensure_models
from rag.settings import Settings
from tests.llm.hub_server import HubServer
from tests.llm.tiny import make_embedder, make_llm


@dataclass(frozen=True)
class TinyHub:
    """A hub with both tiny models, and what was built from it."""

    server: HubServer
    llm: Path
    embedder: Path

    def settings(self, models_dir: Path) -> Settings:
        return Settings(
            model_source="hub",
            llm="tiny/chat",
            embedder="tiny/encoder",
            hub_endpoint=self.server.url,
            models_dir=models_dir,
            threads=1,
        )


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyHub]:
    folder = tmp_path_factory.mktemp("hub")
    llm, embedder = make_llm(folder / "chat"), make_embedder(folder / "encoder")
    with HubServer({"tiny/chat": llm, "tiny/encoder": embedder}) as server:
        yield TinyHub(server, llm, embedder)


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def tiny(hub: TinyHub, models_dir: Path) -> Models:
    """Both tiny models, got from the hub and built."""
    return ensure_models(hub.settings(models_dir))
