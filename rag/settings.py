"""The one place that reads the environment. Every setting is listed in the README."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from rag.types import FootnoteError

ModelSource = Literal["auto", "local", "hub", "packages"]


@dataclass(frozen=True)
class Settings:
    """Made once by `Settings.from_environment`, then handed down."""

    # models
    model_source: ModelSource = "auto"
    llm: str | None = None
    """A folder (source `local`) or a hub repository; None takes the source's default."""
    embedder: str | None = None
    models_dir: Path = field(default_factory=lambda: default_cache_dir(os.environ) / "models")
    hub_endpoint: str = "https://huggingface.co"
    threads: int = field(default_factory=lambda: usable_processors())

    # collections
    artifacts_dir: Path = Path("artifacts")
    collection: str = "blog"
    chunk_tokens: int = 400
    chunk_overlap: int = 60

    pages_dir: Path = field(default_factory=lambda: default_cache_dir(os.environ) / "pages")
    """Fetched pages, so that a second build asks only for what changed."""

    # answers
    passages: int = 3
    """At most so many chunks are read for one answer."""
    max_output_tokens: int = 256
    history_turns: int = 5
    max_question_chars: int = 2000

    # server
    host: str = "127.0.0.1"
    port: int = 7860
    root_path: str = ""
    """The path under which a proxy shows the page, such as `/footnote`."""
    feedback_file: Path | None = None
    """Where readers' thumbs are kept; None shows no thumbs."""

    @classmethod
    def from_environment(cls, env: Mapping[str, str] = os.environ) -> Settings:
        """Reads `RAG_*`, `HOST`, `PORT`, `HF_ENDPOINT` and `XDG_CACHE_HOME`.

        Raises FootnoteError that names the variable and what it may be.
        """
        source = env.get("RAG_MODEL_SOURCE", "auto")
        if source not in get_args(ModelSource):
            choices = ", ".join(get_args(ModelSource))
            raise FootnoteError(f"RAG_MODEL_SOURCE is {source!r}; it may be one of {choices}.")
        return cls(
            model_source=cast(ModelSource, source),
            llm=env.get("RAG_LLM") or None,
            embedder=env.get("RAG_EMBEDDER") or None,
            models_dir=Path(env.get("RAG_MODELS_DIR") or default_cache_dir(env) / "models"),
            hub_endpoint=env.get("HF_ENDPOINT") or cls.hub_endpoint,
            threads=_number(env, "RAG_THREADS", usable_processors(), low=1),
            artifacts_dir=Path(env.get("RAG_ARTIFACTS_DIR") or cls.artifacts_dir),
            pages_dir=Path(env.get("RAG_PAGES_DIR") or default_cache_dir(env) / "pages"),
            collection=env.get("RAG_COLLECTION") or cls.collection,
            chunk_tokens=_number(env, "RAG_CHUNK_TOKENS", cls.chunk_tokens, low=50),
            chunk_overlap=_number(env, "RAG_CHUNK_OVERLAP", cls.chunk_overlap, low=0),
            passages=_number(env, "RAG_PASSAGES", cls.passages, low=1),
            max_output_tokens=_number(env, "RAG_MAX_OUTPUT_TOKENS", cls.max_output_tokens, low=1),
            history_turns=_number(env, "RAG_HISTORY_TURNS", cls.history_turns, low=0),
            max_question_chars=_number(
                env, "RAG_MAX_QUESTION_CHARS", cls.max_question_chars, low=1
            ),
            host=env.get("HOST") or env.get("RAG_HOST") or cls.host,
            port=_number(env, "PORT", cls.port, low=0),
            root_path=(env.get("RAG_ROOT_PATH") or cls.root_path).rstrip("/"),
            feedback_file=Path(env["RAG_FEEDBACK_FILE"]) if env.get("RAG_FEEDBACK_FILE") else None,
        )


def default_cache_dir(env: Mapping[str, str]) -> Path:
    """`footnote` in the user's cache folder."""
    cache = env.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "footnote"


def usable_processors() -> int:
    """Processors that this process may use: its affinity, and the container's CPU quota.

    The quota stands in `/sys/fs/cgroup/cpu.max` (cgroup v2) as "QUOTA PERIOD" in microseconds.
    """
    count = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        return count
    return count if quota == "max" else max(1, min(count, int(quota) // int(period)))


def _number(env: Mapping[str, str], name: str, default: int, *, low: int) -> int:
    text = env.get(name)
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise FootnoteError(f"{name} is {text!r}; it must be a whole number of at least {low}.")
    return value
