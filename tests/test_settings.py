from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag.settings import Settings, usable_processors
from rag.types import FootnoteError

HERE = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "100000 100000\n"}, 1),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, HERE),
        ({"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, HERE),
        ({}, HERE),
    ],
)
def test_threads_follow_the_containers_quota(
    tmp_path: Path, files: dict[str, str], expected: int
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert usable_processors(tmp_path) == expected


def test_what_is_secret_is_not_shown() -> None:
    env = {"RAG_LLM_API_KEY": "sk-secret", "RAG_INDEX": "postgresql://me:hush@db/blog"}
    settings = Settings.from_environment(env)
    assert (settings.llm_api_key, settings.index) == ("sk-secret", env["RAG_INDEX"])
    assert "secret" not in repr(settings)
    assert "hush" not in repr(settings)


def test_an_index_that_is_no_database_is_refused_without_repeating_it() -> None:
    with pytest.raises(FootnoteError, match="RAG_INDEX is no address") as error:
        Settings.from_environment({"RAG_INDEX": "mysql://me:hush@db/blog"})
    assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("llm", "served"),
    [
        ("http://127.0.0.1:8000", True),
        ("HTTPS://x/v1", True),
        ("models/qwen", False),
        (None, False),
    ],
)
def test_a_server_is_told_from_a_folder(llm: str | None, served: bool) -> None:
    assert Settings(llm=llm).llm_is_served is served


@pytest.mark.parametrize("value", ["49", "100", "many"])
def test_a_share_that_the_judge_has_no_point_for_is_refused(value: str) -> None:
    with pytest.raises(FootnoteError, match=r"RAG_JUDGE_LETS_THROUGH .* from 50 to 99"):
        Settings.from_environment({"RAG_JUDGE_LETS_THROUGH": value})
