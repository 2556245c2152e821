"""Documents name tests and settings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def named() -> list[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for document in ("SECURITY.md", "docs/operation.md"):
        text = (ROOT / document).read_text("utf-8")
        here = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
        assert here, document
        found.update(here)
    return sorted(found)


@pytest.mark.parametrize(("path", "name"), named())
def test_a_promise_names_a_test_that_exists(path: str, name: str) -> None:
    assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8")


def test_every_setting_is_in_the_readme() -> None:
    settings = set(re.findall(r'"(RAG_\w+)"', (ROOT / "rag" / "settings.py").read_text("utf-8")))
    table = (ROOT / "README.md").read_text("utf-8")
    assert settings
    assert [name for name in sorted(settings) if f"`{name}`" not in table] == []
