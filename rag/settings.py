"""The one place that reads the environment. Every setting is listed in the README."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from rag.types import FootnoteError

ModelSource = Literal["auto", "local", "hub", "packages"]
LogFormat = Literal["text", "json"]


@dataclass(frozen=True)
class Settings:
    """Made once by `Settings.from_environment`, then handed down."""

    # models
    model_source: ModelSource = "auto"
    llm: str | None = None
    """A folder (source `local`), a hub repository, or the address of an OpenAI-compatible server;
    None takes the source's default."""
    llm_model: str | None = None
    """The model's name on such a server; None takes its only one."""
    llm_api_key: str | None = field(default=None, repr=False)
    llm_timeout: int = 60
    """Seconds for which such a server may be silent."""

    @property
    def llm_is_served(self) -> bool:
        """Whether `llm` is the address of a server."""
        return bool(self.llm) and str(self.llm).lower().startswith(("http://", "https://"))

    embedder: str | None = None
    models_dir: Path = field(default_factory=lambda: default_cache_dir(os.environ) / "models")
    hub_endpoint: str = "https://huggingface.co"
    threads: int = field(default_factory=lambda: usable_processors())

    # collections
    artifacts_dir: Path = Path("artifacts")
    index: str | None = field(default=None, repr=False)
    """A `postgresql://` address, password and all; None keeps collections in `artifacts_dir`."""
    collection: str = "blog"
    chunk_tokens: int = 400
    chunk_overlap: int = 60

    pages_dir: Path = field(default_factory=lambda: default_cache_dir(os.environ) / "pages")
    """Fetched pages, so that a second build asks only for what changed."""

    # answers
    passages: int = 3
    """At most so many chunks are read for one answer."""
    judge_lets_through: int = 75
    """Percent of the answerable questions, 50 to 99, that the judge lets through on blogs that it
    wasn't fitted on; more answers, and more of them beside the question."""
    max_output_tokens: int = 256
    history_turns: int = 5
    max_question_chars: int = 2000

    # server
    host: str = "127.0.0.1"
    port: int = 7860
    root_path: str = ""
    """The path under which a proxy shows the page, such as `/footnote`."""
    mcp: bool = True
    """Whether the API is offered to agents as an MCP server too."""
    feedback_file: Path | None = None
    """Where readers' thumbs are kept; None shows no thumbs."""

    # limits and what the log says
    max_history_chars: int = 100_000
    max_request_bytes: int = 1_000_000
    max_waiting: int = 64
    """Questions in the queue; a further one is turned away at once."""
    questions_per_minute: int | None = None
    """Of one client; 0 for any number; None for 30, and any number from this machine itself."""
    client_header: str | None = None
    """The header in which the proxy says who asks; None trusts none."""
    proxy_hops: int = 1
    """How many proxies add an address to that header."""
    log_format: LogFormat = "text"
    log_questions: bool = False

    @classmethod
    def from_environment(cls, env: Mapping[str, str] = os.environ) -> Settings:
        """Reads `RAG_*`, `HOST`, `PORT`, `HF_ENDPOINT` and `XDG_CACHE_HOME`.

        Raises FootnoteError that names the variable and what it may be.
        """
        source = _choice(env, "RAG_MODEL_SOURCE", "auto", ModelSource)
        return cls(
            model_source=cast(ModelSource, source),
            llm=env.get("RAG_LLM") or None,
            llm_model=env.get("RAG_LLM_MODEL") or None,
            llm_api_key=env.get("RAG_LLM_API_KEY") or None,
            llm_timeout=_number(env, "RAG_LLM_TIMEOUT", cls.llm_timeout, low=1),
            embedder=env.get("RAG_EMBEDDER") or None,
            models_dir=Path(env.get("RAG_MODELS_DIR") or default_cache_dir(env) / "models"),
            hub_endpoint=env.get("HF_ENDPOINT") or cls.hub_endpoint,
            threads=_number(env, "RAG_THREADS", usable_processors(), low=1),
            artifacts_dir=Path(env.get("RAG_ARTIFACTS_DIR") or cls.artifacts_dir),
            index=_database(env),
            pages_dir=Path(env.get("RAG_PAGES_DIR") or default_cache_dir(env) / "pages"),
            collection=env.get("RAG_COLLECTION") or cls.collection,
            chunk_tokens=_number(env, "RAG_CHUNK_TOKENS", cls.chunk_tokens, low=50),
            chunk_overlap=_number(env, "RAG_CHUNK_OVERLAP", cls.chunk_overlap, low=0),
            passages=_number(env, "RAG_PASSAGES", cls.passages, low=1),
            judge_lets_through=_number(
                env, "RAG_JUDGE_LETS_THROUGH", cls.judge_lets_through, low=50, high=99
            ),
            max_output_tokens=_number(env, "RAG_MAX_OUTPUT_TOKENS", cls.max_output_tokens, low=1),
            history_turns=_number(env, "RAG_HISTORY_TURNS", cls.history_turns, low=0),
            max_question_chars=_number(
                env, "RAG_MAX_QUESTION_CHARS", cls.max_question_chars, low=1
            ),
            host=env.get("HOST") or env.get("RAG_HOST") or cls.host,
            port=_number(env, "PORT", cls.port, low=0),
            root_path=(env.get("RAG_ROOT_PATH") or cls.root_path).rstrip("/"),
            mcp=_switch(env, "RAG_MCP", cls.mcp),
            feedback_file=Path(env["RAG_FEEDBACK_FILE"]) if env.get("RAG_FEEDBACK_FILE") else None,
            max_history_chars=_number(env, "RAG_MAX_HISTORY_CHARS", cls.max_history_chars, low=1),
            max_request_bytes=_number(env, "RAG_MAX_REQUEST_BYTES", cls.max_request_bytes, low=100),
            max_waiting=_number(env, "RAG_MAX_WAITING", cls.max_waiting, low=1),
            questions_per_minute=_number(env, "RAG_QUESTIONS_PER_MINUTE", 0, low=0)
            if env.get("RAG_QUESTIONS_PER_MINUTE")
            else None,
            client_header=_header(env, "RAG_CLIENT_HEADER"),
            proxy_hops=_number(env, "RAG_PROXY_HOPS", cls.proxy_hops, low=1),
            log_format=cast(LogFormat, _choice(env, "RAG_LOG_FORMAT", cls.log_format, LogFormat)),
            log_questions=_choice(env, "RAG_LOG_QUESTIONS", "no", Literal["yes", "no"]) == "yes",
        )


def _database(env: Mapping[str, str]) -> str | None:
    address = env.get("RAG_INDEX") or None
    if address and not address.startswith(("postgresql://", "postgres://")):
        raise FootnoteError(
            "RAG_INDEX is no address of a database; it looks like "
            "postgresql://USER@HOST/DATABASE, and without it collections are files."
        )
    return address


def default_cache_dir(env: Mapping[str, str]) -> Path:
    """`footnote` in the user's cache folder."""
    cache = env.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "footnote"


def usable_processors(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Processors that this process may use: its affinity, and the container's CPU quota.

    The quota and its period, in microseconds, stand in `cpu.max` as "QUOTA PERIOD" (cgroup v2), or
    in `cpu/cpu.cfs_quota_us` and `cpu/cpu.cfs_period_us` (cgroup v1); "max" and -1 mean none.
    """
    count = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join((cgroup / name).read_text() for name in files).split()
        except (OSError, ValueError):
            continue
        if quota not in ("max", "-1"):
            count = max(1, min(count, int(quota) // int(period)))
    return count


def _switch(env: Mapping[str, str], name: str, default: bool) -> bool:
    text = env.get(name)
    if text not in (None, "", "0", "1"):
        raise FootnoteError(f"{name} is {text!r}; it must be 0 or 1.")
    return text == "1" if text else default


def _choice(env: Mapping[str, str], name: str, default: str, kind: Any) -> str:
    """One of the words of a `Literal`."""
    value = env.get(name) or default
    if value not in get_args(kind):
        choices = ", ".join(get_args(kind))
        raise FootnoteError(f"{name} is {value!r}; it may be one of {choices}.")
    return value


def _header(env: Mapping[str, str], name: str) -> str | None:
    """The name of an HTTP header (RFC 9110's token)."""
    value = env.get(name) or None
    if value and not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", value):
        raise FootnoteError(f"{name} is {value!r}; it must be a header's name: X-Forwarded-For.")
    return value


def _number(
    env: Mapping[str, str], name: str, default: int, *, low: int, high: int | None = None
) -> int:
    text = env.get(name)
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low or (high is not None and value > high):
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise FootnoteError(f"{name} is {text!r}; it must be a whole number {bounds}.")
    return value
