"""The files of a deployment agree with each other and with the commands that they call."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.deploy.image import instructions

ROOT = Path(__file__).parents[2]
DOCKERFILE = list(instructions(ROOT / "Dockerfile"))
WORKFLOW = (ROOT / ".github/workflows/refresh.yml").read_text("utf-8")


def test_the_image_runs_as_a_plain_user_and_says_when_it_is_well() -> None:
    names = [name for name, _ in DOCKERFILE]
    last = dict(DOCKERFILE[len(names) - names[::-1].index("FROM") - 1 :])
    assert last["USER"] == "1000"
    assert "/healthz" in last["HEALTHCHECK"]
    assert names.count("FROM") == 2


def test_the_space_is_told_the_port_that_the_image_listens_on() -> None:
    front = yaml.safe_load((ROOT / "README.md").read_text("utf-8").split("---")[1])
    assert front["sdk"] == "docker"
    assert f"PORT={front['app_port']}" in dict(DOCKERFILE)["ENV"]
    assert dict(DOCKERFILE)["EXPOSE"] == str(front["app_port"])
    assert len(front["short_description"]) <= 60


def test_the_workflow_is_one_and_runs_commands_that_exist() -> None:
    steps = yaml.safe_load(WORKFLOW)["jobs"]["refresh"]["steps"]
    run = "\n".join(step["run"] for step in steps if "run" in step)
    for target in re.findall(r"^make (\w+)", run, re.MULTILINE):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text()
    for file in re.findall(r"-r (\S+)", run):
        assert (ROOT / file).is_file()


@pytest.mark.parametrize("command", [["build_index.py"], ["-m", "rag", "search"]])
def test_the_flags_of_the_workflow_exist(command: list[str]) -> None:
    line = next(x for x in WORKFLOW.splitlines() if f"python {' '.join(command)}" in x)
    done = subprocess.run(
        [sys.executable, *command, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    for flag in re.findall(r"--[a-z]+", line):
        assert flag in done.stdout
