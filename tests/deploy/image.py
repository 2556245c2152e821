"""Builds and runs the Dockerfile's image where no container engine is at hand.

    python -m tests.deploy.image build FOLDER [--base ROOT] [--models DIR] [--bind DIR]
    python -m tests.deploy.image serve FOLDER

`build` carries out the Dockerfile, line by line, in a Debian that debootstrap makes (its Python is
the image's 3.11). `serve` runs the result as Docker would with `--read-only --network none`, as its
user: UID 1000, nothing writable but a shared memory of 64 MB, a network namespace with a loopback
of its own. It waits for the health check, asks questions, and ends it with SIGTERM. Needs root.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FROM_HOST = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs", "/etc/pip.conf")
"""What reaching a package index takes on this machine, beside pip's variables; bound for each RUN."""


@dataclass
class Stage:
    """One FROM with what follows it."""

    root: Path
    workdir: str = "/"
    user: str = "0"
    env: dict[str, str] = field(default_factory=dict)
    health: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


def main() -> None:
    """Builds or serves."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=("build", "serve"))
    parser.add_argument("folder", type=Path, help="where the image lies, or will lie")
    parser.add_argument(
        "--base", type=Path, help="a root that debootstrap made (default: make one)"
    )
    parser.add_argument("--models", type=Path, help="built models to copy in, for a quick run")
    parser.add_argument("--bind", action="append", default=[], help="also shown to each RUN")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.what == "build":
        build(folder, options.base, options.models, options.bind)
    else:
        serve(folder)


def build(folder: Path, base: Path | None, models: Path | None, binds: list[str]) -> None:
    """Leaves the last stage in FOLDER/final, and what it runs in FOLDER/image.json."""
    folder.mkdir(parents=True, exist_ok=True)
    if base is None:
        base = folder / "base"
        run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(base)])
    stages: dict[str, Stage] = {}
    for number, (name, value) in enumerate(instructions(PROJECT / "Dockerfile")):
        print(f"[{time.strftime('%H:%M:%S')}] {name} {value[:100]}", flush=True)
        if name == "FROM":
            alias = value.partition(" AS ")[2] or "final"
            stage = stages[alias] = Stage(folder / alias)
            run(["cp", "-a", f"{base}/.", str(stage.root)])
        elif name == "RUN":
            in_root(stage, ["sh", "-c", value], binds)
        elif name == "COPY":
            copy(stage, stages, value)
            if models and number and "Makefile" not in value and alias == "build":
                cache = stage.root / stage.env["XDG_CACHE_HOME"].lstrip("/") / "footnote"
                run(["mkdir", "-p", str(cache)])
                run(["cp", "-a", str(models), str(cache / "models")])
        elif name == "WORKDIR":
            stage.workdir = value
            (stage.root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "ENV":
            stage.env |= dict(pair.split("=", 1) for pair in shlex.split(value))
        elif name == "USER":
            stage.user = value
        elif name == "HEALTHCHECK":
            stage.health = json.loads(value.partition("CMD ")[2])
        elif name == "CMD":
            stage.command = json.loads(value)
        elif name != "EXPOSE":
            raise SystemExit(f"{name} is an instruction that this script doesn't know.")
    described = {k: getattr(stage, k) for k in ("workdir", "user", "env", "health", "command")}
    (folder / "image.json").write_text(json.dumps(described, indent=1))
    run(["du", "-sh", str(stage.root)])


def serve(folder: Path) -> None:
    """Prints what was measured; fails when the image doesn't keep its promises."""
    image = json.loads((folder / "image.json").read_text())
    script = Path(__file__).with_name("serve.sh")
    env = {**image["env"], "PATH": PATH}
    done = subprocess.run(
        ["sh", str(script), str(folder / "final"), image["user"], image["workdir"],
         shlex.join(["env", "-i", *(f"{k}={v}" for k, v in env.items())]),
         shlex.join(image["command"]), shlex.join(image["health"]),
         str(Path(__file__).with_name("ask.py"))],
    )  # fmt: skip
    raise SystemExit(done.returncode)


def instructions(path: Path) -> Iterator[tuple[str, str]]:
    """Name and value of each instruction; comments and continued lines resolved."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, value = line.strip().partition(" ")
            yield name, value


def copy(stage: Stage, stages: dict[str, Stage], value: str) -> None:
    """COPY of whole folders from another stage, or of the project without what is ignored."""
    words = shlex.split(value)
    flags = dict(word.split("=", 1) for word in words if word.startswith("--"))
    *sources, target = [word for word in words if not word.startswith("--")]
    into = stage.root / target.lstrip("/") if target.startswith("/") else inside(stage, target)
    if origin := flags.get("--from"):
        run(["cp", "-a", f"{stages[origin].root / sources[0].lstrip('/')}/.", str(into)])
    elif sources == ["."]:
        ignored = (PROJECT / ".dockerignore").read_text().split()
        shutil.copytree(
            PROJECT, into, symlinks=True, dirs_exist_ok=True,
            ignore=lambda folder, names: {n for n in names if is_ignored(folder, n, ignored)},
        )  # fmt: skip
    else:
        for source in sources:
            shutil.copy2(PROJECT / source, into)
    if owner := flags.get("--chown"):
        run(["chown", "-R", owner, str(into)])


def is_ignored(folder: str, name: str, patterns: list[str]) -> bool:
    """Whether .dockerignore leaves a file out."""
    path = str((Path(folder) / name).relative_to(PROJECT))
    return any(
        fnmatch.fnmatch(name if pattern.startswith("**/") else path, pattern.removeprefix("**/"))
        for pattern in patterns
    )


def inside(stage: Stage, path: str) -> Path:
    """A relative path of a stage, where the host sees it."""
    return stage.root / stage.workdir.lstrip("/") / path


def in_root(stage: Stage, command: list[str], binds: list[str]) -> None:
    """Runs a command in the stage's root, with the host's way to its package index."""
    mounts = ["mount -t proc proc $R/proc"]
    for path in (*FROM_HOST, *binds):
        if Path(path).exists():
            make = "mkdir -p" if Path(path).is_dir() else "touch"
            quoted = shlex.quote(path)
            mounts.append(f"{make} $R{quoted} && mount --bind {quoted} $R{quoted}")
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    env = [f"{k}={v}" for k, v in {"PATH": PATH, **pip, **stage.env}.items()]
    inner = (
        shlex.join(["cd", stage.workdir]) + " && exec " + shlex.join(["env", "-i", *env, *command])
    )
    script = "\n".join(["set -e", f"R={shlex.quote(str(stage.root))}", *mounts,
                        f"exec chroot $R sh -c {shlex.quote(inner)}"])  # fmt: skip
    run(["unshare", "--mount", "sh", "-c", script])


def run(command: list[str]) -> None:
    """Runs a command, and ends with its status when it fails."""
    status = subprocess.run(command).returncode
    if status:
        sys.exit(f"{shlex.join(command)[:300]} ended with {status}")


if __name__ == "__main__":
    main()
