"""Building a collection, with an encoder that needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag.build import Answers, Built, Plan, build_collection
from rag.ingest.sources import Source
from rag.search import store
from rag.settings import Settings
from rag.types import FootnoteError
from tests.words import WordEncoder


class CountingEncoder(WordEncoder):
    """Remembers the texts that it had to embed."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def encode_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded += texts
        return super().encode_passages(list(texts))


def page(folder: Path, name: str, text: str, language: str = "en") -> None:
    folder.mkdir(exist_ok=True)
    prose = f"<p>{text}</p><p>The keeper of {name} writes every evening about the day's work.</p>"
    (folder / f"{name}.html").write_text(
        f"<html lang={language}><title>{name} | Coast Notes</title>"
        f'<meta property="og:site_name" content="Coast Notes">'
        f"<main><h1>{name}</h1>{prose}</main></html>"
    )


def build(
    tmp_path: Path, encoder: WordEncoder, answers: Answers | None = None, **changes: object
) -> Built:
    settings = Settings(artifacts_dir=tmp_path / "out", pages_dir=tmp_path / "pages")
    plan = Plan("coast", Source("html", str(tmp_path / "site")), **changes)  # type: ignore[arg-type]
    written: list[str] = []

    def write(title: str, passage: str, language: str) -> str:
        written.append(passage)
        return f"Who is the keeper of {title}?"

    built = build_collection(
        plan, settings, encoder, write, lambda what, done, total: None, answers
    )
    build.written = written  # type: ignore[attr-defined]
    return built


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name in ("Harbour", "Lighthouse", "Ferry"):
        page(
            tmp_path / "site", name, f"The {name} stands by the sea and was painted white in 1911."
        )
    return tmp_path / "site"


def load(tmp_path: Path) -> store.Stored:
    encoder = WordEncoder()
    return store.load(tmp_path / "out" / "coast", encoder.fingerprint, encoder.dimension)


def test_a_build_writes_a_collection_with_an_overview_in_both_languages(
    tmp_path: Path, site: Path
) -> None:
    built = build(tmp_path, WordEncoder())
    read = load(tmp_path)
    assert read.manifest.built == built.manifest.built
    assert (read.manifest.title, read.manifest.mode, read.manifest.pages) == (
        "Coast Notes",
        "blog",
        3,
    )
    assert {c.language for c in read.chunks if c.kind == "overview"} == {"en", "es"}
    assert any("painted white in 1911" in c.text for c in read.chunks)
    assert read.manifest.topics["en"] == ["Ferry", "Harbour", "Lighthouse"]
    assert read.manifest.suggestions["en"][0] == "What topics does this blog cover?"


def test_a_second_build_embeds_only_what_is_new(tmp_path: Path, site: Path) -> None:
    build(tmp_path, CountingEncoder())
    again = CountingEncoder()
    build(tmp_path, again)
    assert again.embedded == []
    assert build.written == []  # type: ignore[attr-defined]
    page(site, "Ferry", "The Ferry sank in 1950 and was raised by divers.")
    third = CountingEncoder()
    build(tmp_path, third)
    assert third.embedded
    assert all("Ferry" in text for text in third.embedded)
    assert any("1950" in chunk.text for chunk in load(tmp_path).chunks)


def test_a_question_that_is_not_answered_invites_nobody(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three pages are too few for a gate that is sure of any question.
    monkeypatch.setattr("rag.build.invitations", lambda searcher, gate, battery, k: battery)

    def invited() -> set[str]:
        manifest = load(tmp_path).manifest
        after = [q for pages in manifest.questions.values() for qs in pages.values() for q in qs]
        return {*after, *(q for qs in manifest.suggestions.values() for q in qs[1:])}

    build(tmp_path, WordEncoder())
    assert "Who is the keeper of Ferry?" in invited()
    build(tmp_path, WordEncoder(), lambda searcher, gate: lambda question: "Ferry" not in question)
    assert invited() == {"Who is the keeper of Harbour?", "Who is the keeper of Lighthouse?"}


def test_force_embeds_everything_anew(tmp_path: Path, site: Path) -> None:
    first, again = CountingEncoder(), CountingEncoder()
    build(tmp_path, first)
    build(tmp_path, again, force=True)
    assert sorted(again.embedded) == sorted(first.embedded)


def test_a_build_that_finds_nothing_leaves_the_last_good_one(tmp_path: Path, site: Path) -> None:
    build(tmp_path, WordEncoder())
    for path in site.iterdir():
        path.unlink()
    with pytest.raises(FootnoteError, match="No page of"):
        build(tmp_path, WordEncoder())
    assert load(tmp_path).manifest.pages == 3
