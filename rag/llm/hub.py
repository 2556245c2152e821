"""Source `hub`: a repository's files, each checked against what the hub announces."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path

from rag.llm.catalog import Choice
from rag.llm.export_llm import READY_MADE
from rag.types import FootnoteError

_SMALL = (".json", ".jinja", ".txt", ".model")
_WEIGHTS = (".safetensors", ".safetensors.index.json")
_TIMEOUT = 30.0
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Remote:
    path: str
    size: int
    sha256: str | None
    git_sha1: str
    """Of git's blob object: the hub announces it for every file, the SHA-256 for large ones."""


@dataclass(frozen=True)
class Fetched:
    """What was downloaded: the commit, the licence that the model's card names, the files' hashes."""

    commit: str
    licence: str | None
    sha256: dict[str, str]


def fetch_repository(choice: Choice, endpoint: str, folder: Path) -> Fetched:
    """Downloads what `choice` needs into `folder`.

    A branch is resolved to its commit first, all files are of that commit. What a killed run left
    is gone on with.

    Raises FootnoteError when the hub can't be reached, lacks the repository, or a file isn't what
    it announces.
    """
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError
    from requests.exceptions import RequestException

    folder.mkdir(parents=True, exist_ok=True)
    try:
        api = HfApi(endpoint=endpoint)
        info = api.model_info(
            choice.name, revision=choice.revision, files_metadata=True, timeout=_TIMEOUT
        )
        commit = str(info.sha)
        wanted = [
            _Remote(s.rfilename, s.size or 0, s.lfs.sha256 if s.lfs else None, s.blob_id or "")
            for s in info.siblings or []
            if s.rfilename in _needed(choice, [f.rfilename for f in info.siblings or []])
        ]
        for remote in wanted:
            hf_hub_download(
                choice.name,
                remote.path,
                revision=commit,
                endpoint=endpoint,
                local_dir=folder,
            )
    except (HfHubHTTPError, RequestException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None and not _is_network(error):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise FootnoteError(
            f"{choice.name} could not be had from {endpoint}: {reason}; check the connection and "
            "the name, then run this again."
        ) from error
    hashes = {remote.path: _check(remote, folder / remote.path, choice.name) for remote in wanted}
    licence = info.card_data.get("license") if info.card_data else None
    return Fetched(commit, licence, hashes)


def _is_network(error: OSError) -> bool:
    from requests.exceptions import RequestException

    return isinstance(error, RequestException | ConnectionError | TimeoutError)


def _needed(choice: Choice, names: list[str]) -> set[str]:
    """A ready int8 graph if there is one, else the safetensors; and what describes the model."""
    small = {n for n in names if n.endswith(_SMALL) and not n.startswith(("onnx/", "openvino/"))}
    small -= {n for n in small if n.endswith(".safetensors.index.json")}
    graph = next((n for n in READY_MADE if n in names), None) if choice.kind == "llm" else None
    if graph is not None:
        return small | {n for n in names if n == graph or n.startswith(graph + "_data")}
    weights = {n for n in names if n.endswith(_WEIGHTS) and not n.startswith("onnx/")}
    if not weights:
        raise FootnoteError(f"{choice.name} has neither safetensors nor an int8 ONNX graph.")
    return small | weights


def _check(remote: _Remote, path: Path, name: str) -> str:
    """The file's SHA-256, once it is what the hub announced."""
    sha256, git = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            sha256.update(piece)
            git.update(piece)
    found = sha256.hexdigest() if remote.sha256 else git.hexdigest()
    expected = remote.sha256 or remote.git_sha1
    if found != expected:
        path.unlink()
        raise FootnoteError(
            f"{remote.path} of {name} has the checksum {found}, not the announced {expected}; it "
            "was deleted, run this again."
        )
    return sha256.hexdigest()
