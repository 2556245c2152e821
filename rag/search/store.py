"""A collection on disk: `index.faiss`, `chunks.json`, `manifest.json`, `sentences.npy`, `lexical/`.

A build is written beside the last good one and swapped in by two renames; `recover` finishes or
undoes a swap that was cut short, so a killed build leaves a whole collection in every case.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from rag.search.arrays import map_array
from rag.search.lexical import LexicalIndex
from rag.search.vectors import FaissIndex, SentenceVectors, VectorIndex
from rag.types import Card, Chunk, CollectionInfo, FootnoteError, Mode

T = TypeVar("T")

FORMAT = 2
_REBUILD = "build it again with build_index.py"


@dataclass(frozen=True)
class Manifest:
    """What a collection was made from and with."""

    name: str
    title: str
    mode: Mode
    language: str
    languages: tuple[str, ...]
    source: str
    built: str
    """ISO 8601, UTC."""
    embedder: str
    embedder_fingerprint: str
    dimension: int
    chunk_tokens: int
    chunk_overlap: int
    pages: int
    chunks: int
    sentences: int
    suggestions: dict[str, list[str]] = field(default_factory=dict)
    """Opening questions per language, each let through by the gate."""
    questions: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Per language and page (of an article, section), what may be asked next; the gate lets it through."""
    topics: dict[str, list[str]] = field(default_factory=dict)
    """What the collection is about, per language, for the written replies."""
    calibration: dict[str, Any] = field(default_factory=dict)
    question_means: dict[str, list[float]] = field(default_factory=dict)
    """Per language, the mean vector of questions about the collection (`rag.search.balance`)."""
    card: Card | None = None
    """Where this is an interview."""
    format: int = FORMAT

    def info(self) -> CollectionInfo:
        """What a reader may know of the collection."""
        return CollectionInfo(
            name=self.name,
            title=self.title,
            mode=self.mode,
            language="es" if self.language == "es" else "en",
            languages=self.languages,
            pages=self.pages,
            chunks=self.chunks,
            built=self.built,
            source=self.source,
            suggestions=tuple((k, tuple(v)) for k, v in self.suggestions.items()),
            card=self.card,
        )


@dataclass(frozen=True)
class Stored:
    """A collection as loaded: chunks, their vectors, and one vector a sentence."""

    manifest: Manifest
    chunks: tuple[Chunk, ...]
    index: VectorIndex
    sentence_vectors: SentenceVectors
    """One row a sentence of all chunks in order."""
    lexical: LexicalIndex | None = None
    """None where it isn't stored, or can't be used: it is then made from the chunks."""


def save(
    folder: Path,
    manifest: Manifest,
    chunks: Sequence[Chunk],
    index: FaissIndex,
    sentence_vectors: NDArray[np.floating],
) -> None:
    """Writes the collection whole or not at all. Raises FootnoteError when it can't be written."""
    building = _building(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        recover(folder)
        with _lock(folder):
            building.mkdir()
            index.save(building / "index.faiss")
            np.save(building / "sentences.npy", sentence_vectors.astype(np.float16))
            entries = [asdict(chunk) for chunk in chunks]
            _write_json(building / "chunks.json", {"format": FORMAT, "chunks": entries})
            _write_json(building / "manifest.json", asdict(manifest))
            LexicalIndex.of(chunks).save(building / "lexical")
            for path in building.rglob("*"):
                _sync(path)
            _sync(building)
            (building / _COMPLETE).touch()
            _swap(folder)
    except OSError as error:
        if building.exists():
            shutil.rmtree(building, ignore_errors=True)
        raise FootnoteError(
            f"Cannot write the collection to {folder}: {error.strerror or error}. "
            "Free some space or choose another folder with --out."
        ) from error


def load(folder: Path, embedder_fingerprint: str, dimension: int) -> Stored:
    """Reads a collection. Raises FootnoteError when it is missing, broken or made otherwise."""
    recover(folder)
    manifest_path = folder / "manifest.json"
    if not manifest_path.is_file():
        known = ", ".join(names(folder.parent)) or "none"
        raise FootnoteError(
            f"There is no collection {folder.name!r} in {folder.parent} (there: {known}); "
            "make it with build_index.py."
        )
    manifest = read_manifest(
        _read_json(manifest_path), str(folder), embedder_fingerprint, dimension
    )
    chunks_path = folder / "chunks.json"
    chunks = tuple(
        read_chunk(entry, str(chunks_path)) for entry in _entries(_read_json(chunks_path))
    )
    index = FaissIndex.load(folder / "index.faiss", (manifest.chunks, dimension))
    try:
        sentence_vectors = map_array(folder / "sentences.npy", np.float16, 2)
    except (OSError, ValueError) as error:
        raise FootnoteError(f"{folder / 'sentences.npy'} cannot be read; {_REBUILD}.") from error
    lexical = LexicalIndex.load(folder / "lexical", len(chunks))
    stored = Stored(manifest, chunks, index, sentence_vectors, lexical)
    return whole(stored, f"The files in {folder}")


def read_manifest(
    raw: dict[str, Any], where: str, embedder_fingerprint: str, dimension: int
) -> Manifest:
    """Raises FootnoteError when it is of another format or another embedder."""
    if raw.get("format") != FORMAT:
        raise FootnoteError(
            f"{where} has format {raw.get('format')!r}, this version reads {FORMAT}; {_REBUILD}."
        )
    manifest = _record(_MANIFEST, raw, where)
    if any(len(mean) != manifest.dimension for mean in manifest.question_means.values()):
        raise FootnoteError(f"{where} has means of another width; {_REBUILD}.")
    if manifest.embedder_fingerprint != embedder_fingerprint or manifest.dimension != dimension:
        raise FootnoteError(
            f"{where} was made with the embedder {manifest.embedder} ({manifest.dimension} wide, "
            f"{manifest.embedder_fingerprint}), the loaded one is {dimension} wide "
            f"({embedder_fingerprint}); {_REBUILD} --name {manifest.name}."
        )
    return manifest


def whole(stored: Stored, parts: str) -> Stored:
    """The collection. Raises FootnoteError when its `parts` are not of one build."""
    manifest, index = stored.manifest, stored.index
    sentences = sum(len(chunk.sentences) for chunk in stored.chunks)
    counts = {len(stored.chunks), len(index), manifest.chunks}
    if (
        len(counts) > 1
        or stored.sentence_vectors.shape != (sentences, manifest.dimension)
        or index.dimension != manifest.dimension
    ):
        raise FootnoteError(f"{parts} don't belong together; {_REBUILD}.")
    return stored


def is_made_with(folder: Path, embedder_fingerprint: str) -> bool:
    """Whether a collection is there, in this format, and its vectors are this embedder's."""
    recover(folder)
    path = folder / "manifest.json"
    if not path.is_file():
        return False
    raw = _read_json(path)
    return (raw.get("format"), raw.get("embedder_fingerprint")) == (FORMAT, embedder_fingerprint)


def names(artifacts: Path) -> list[str]:
    """The collections in a folder, by name."""
    if not artifacts.is_dir():
        return []
    for leftover in artifacts.glob(".*.old"):
        recover(artifacts / leftover.name[1:-4])
    return sorted(p.parent.name for p in artifacts.glob("[!.]*/manifest.json"))


def recover(folder: Path) -> None:
    """Finishes a swap that was cut short, and clears what an unfinished build left.

    Waits while another process writes: what lies there then is no leftover.
    """
    building, old = _building(folder), _old(folder)
    if not building.exists() and not old.exists():
        return
    with _lock(folder):
        if (building / _COMPLETE).exists():
            _swap(folder)
        shutil.rmtree(building, ignore_errors=True)
        if old.exists() and not folder.exists():
            os.replace(old, folder)
        shutil.rmtree(old, ignore_errors=True)


_MANIFEST = TypeAdapter(Manifest)
_CHUNK = TypeAdapter(Chunk)
_COMPLETE = ".complete"


def _building(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.building")


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _lock(folder: Path) -> FileLock:
    return FileLock(folder.with_name(f".{folder.name}.lock"))


def _swap(folder: Path) -> None:
    building, old = _building(folder), _old(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, old)
    os.replace(building, folder)
    (folder / _COMPLETE).unlink(missing_ok=True)
    shutil.rmtree(old, ignore_errors=True)


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = from_json(path.read_bytes())
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise FootnoteError(f"{path} cannot be read as JSON ({why}); {_REBUILD}.") from error
    if not isinstance(value, dict):
        raise FootnoteError(f"{path} holds no JSON object; {_REBUILD}.")
    return value


def _entries(value: dict[str, Any]) -> list[Any]:
    chunks = value.get("chunks")
    return chunks if isinstance(chunks, list) else []


def read_chunk(raw: Any, where: str) -> Chunk:
    """A chunk out of `asdict`'s JSON. Raises FootnoteError when it isn't whole."""
    chunk = _record(_CHUNK, raw, where)
    last = len(chunk.text)
    if any(not 0 <= start <= end <= last for start, end in chunk.sentences):
        raise FootnoteError(
            f"{where}: chunk {chunk.id!r} has sentences outside its text; {_REBUILD}."
        )
    return chunk


def _record(record: TypeAdapter[T], value: Any, where: str) -> T:
    """A record out of JSON, each field of its type; fields of later versions are ignored."""
    try:
        return record.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        raise FootnoteError(
            f"{where} holds a record that is not whole ({place}: {first['msg']}); {_REBUILD}."
        ) from error
