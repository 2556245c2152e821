"""Decides which source a model comes from."""

from __future__ import annotations

import json
import logging
import threading
import urllib.error
import urllib.request
from pathlib import Path

from rag.llm.catalog import HUB_EMBEDDER, HUB_LLM, PACKAGED, Choice, Kind
from rag.settings import Settings
from rag.types import FootnoteError

# What an unreachable hub may cost in all, name resolution (which has no timeout of its own) included.
_PROBE_SECONDS = 3.0
_VARIABLE = {"llm": "RAG_LLM", "embedder": "RAG_EMBEDDER"}
_HUB_DEFAULT = {"llm": HUB_LLM, "embedder": HUB_EMBEDDER}
log = logging.getLogger(__name__)


def candidates(settings: Settings, kind: Kind) -> list[Choice]:
    """The models that the settings allow, the best first; the hub isn't asked yet.

    Raises FootnoteError for settings that contradict each other.
    """
    named = settings.llm if kind == "llm" else settings.embedder
    source = settings.model_source
    variable = _VARIABLE[kind]
    if named and Path(named).expanduser().is_dir():
        return [Choice(kind, "local", str(Path(named).expanduser().resolve()))]
    if named and (source == "local" or named.startswith((".", "/", "~"))):
        raise FootnoteError(f"{variable} is {named!r}, which is no folder; name a model's folder.")
    if source == "local":
        raise FootnoteError(f"RAG_MODEL_SOURCE is 'local'; set {variable} to the model's folder.")
    packaged = Choice(kind, "packages", PACKAGED[kind].name)
    if source == "packages":
        if named and named != packaged.name:
            raise FootnoteError(
                f"{variable} is {named!r}, but the package index has only {packaged.name}; "
                f"unset {variable} or set RAG_MODEL_SOURCE to 'hub'."
            )
        return [packaged]
    name, _, revision = (named or _HUB_DEFAULT[kind]).partition("@")
    hub = Choice(kind, "hub", name, revision or "main")
    return [hub] if source == "hub" or named else [hub, packaged]


def choose(settings: Settings, options: list[Choice]) -> Choice:
    """The first of `options` that can be had now; one log line says which, and why."""
    first, *rest = options
    if first.source != "hub":
        log.info("%s from source %r: %s (set)", first.kind, first.source, first.name)
        return first
    problem = hub_problem(settings.hub_endpoint, first.name)
    if problem is None:
        log.info("%s from source 'hub': %s (the hub answers)", first.kind, first.name)
        return first
    if not rest:
        raise FootnoteError(
            f"The hub at {settings.hub_endpoint} gave no {first.name}: {problem}; check the "
            "connection and the name, or set RAG_MODEL_SOURCE to 'packages'."
        )
    log.info("%s from source %r: %s (hub: %s)", first.kind, rest[0].source, rest[0].name, problem)
    return rest[0]


def hub_problem(endpoint: str, name: str) -> str | None:
    """Why the hub can't give the repository `name` now; None when it can."""
    found: list[str | None] = []
    probe = threading.Thread(target=lambda: found.append(_ask(endpoint, name)), daemon=True)
    probe.start()
    probe.join(_PROBE_SECONDS)
    return found[0] if found else f"no answer within {_PROBE_SECONDS:.0f} s"


def _ask(endpoint: str, name: str) -> str | None:
    try:
        with urllib.request.urlopen(
            f"{endpoint}/api/models/{name}", timeout=_PROBE_SECONDS
        ) as answer:
            described = json.load(answer)
    except urllib.error.HTTPError as error:
        return f"it answers {error.code} for {name}"
    except (OSError, ValueError) as error:
        return f"it can't be reached ({getattr(error, 'reason', error)})"
    return None if "siblings" in described else "it answers, but not like a hub"
