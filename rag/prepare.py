"""What `build_index.py` and the first start do: load the models, build, say what happened."""

from __future__ import annotations

import argparse
import re
import sqlite3
import time
from collections.abc import Callable, Sequence

from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.build import Built, Plan, build_collection
from rag.demo import demo_plans
from rag.ingest.sources import Source, SourceKind
from rag.llm.build import ensure_embedder, model_description
from rag.llm.encoder import OnnxEncoder
from rag.llm.engine import load_llm
from rag.llm.question_writer import QuestionWriter
from rag.progress import Bars
from rag.search.analyse import fold
from rag.search.gate import Gate
from rag.search.search import Searcher
from rag.search.stores import open_store
from rag.settings import Settings
from rag.types import FootnoteError

SOURCES: tuple[SourceKind, ...] = ("sitemap", "feed", "urls", "html", "wikipedia")


def build_demo(settings: Settings, *, only_missing: bool) -> None:
    """Builds the demo collections, or those of them that are missing or another embedder's."""
    fingerprint = model_description(ensure_embedder(settings))["fingerprint"]
    collections = open_store(settings)
    with demo_plans() as plans:
        wanted = [
            plan
            for plan in plans
            if not only_missing or not collections.is_made_with(plan.name, fingerprint)
        ]
        build(wanted, settings)


def build_from(kind: SourceKind, options: argparse.Namespace, settings: Settings) -> None:
    """Builds the collection that the command line asks for."""
    target = getattr(options, kind)
    name = options.name or _name(target)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
        raise FootnoteError(f"--name {name!r}: use letters, digits, - and _ only, up to 64.")
    source = Source(
        kind, target, tuple(options.include), tuple(options.exclude), language=options.lang
    )
    plan = Plan(
        name, source, options.title, options.mode, options.lang, options.limit, options.delay,
        options.battery, options.let_through, options.force, allow_private=options.allow_private,
    )  # fmt: skip
    build([plan], settings)


def build(plans: Sequence[Plan], settings: Settings) -> None:
    """Builds each plan, with progress on stderr and a summary on stdout at the end."""
    if not plans:
        return
    encoder = OnnxEncoder(ensure_embedder(settings), settings.threads)
    llm = load_llm(settings)
    writer = QuestionWriter(llm)

    def answers(searcher: Searcher, gate: Gate) -> Callable[[str], bool]:
        name = searcher.stored.manifest.name
        answerer = Answerer({name: Collection(searcher, gate)}, llm, settings)
        return lambda question: answerer.ask(question, name).outcome == "answered"

    for plan in plans:
        started = time.monotonic()
        with Bars(plan.name) as bars:
            try:
                built = build_collection(plan, settings, encoder, writer.write, bars.show, answers)
            except (OSError, sqlite3.OperationalError) as error:
                raise FootnoteError(
                    f"Building {plan.name} stopped: {error}. It writes to {settings.pages_dir} and "
                    f"{settings.artifacts_dir}; free some space there, or set RAG_PAGES_DIR or --out "
                    "to a folder that can be written."
                ) from error
        print("\n".join(_summary(built, settings, time.monotonic() - started)), flush=True)


def _summary(built: Built, settings: Settings, seconds: float) -> list[str]:
    manifest = built.manifest
    calibration = manifest.calibration
    lines = [
        f"{manifest.name}: “{manifest.title}”, {manifest.pages} pages "
        f"({', '.join(manifest.languages)}), {manifest.chunks} chunks, {seconds:.0f} s "
        f"→ {open_store(settings).place(manifest.name)}",
        *(f"  {line}" for line in built.report.lines()),
    ]
    if "auc" in calibration:
        lines.append(
            f"  gate: {calibration['questions']} questions made from the pages, "
            f"{calibration['answerable_passed']:.1%} pass, "
            f"{calibration['left_out_passed']:.1%} pass with their page left out "
            f"(AUC {calibration['auc']:.3f})"
        )
    return lines


def _name(target: str) -> str:
    """A collection's name out of an address, a folder or a title."""
    bare = re.sub(r"^https?://(?:www\.)?|/+$|\.(?:xml|html?|txt)(?:\.gz)?$", "", target)
    last = re.split(r"/wiki/", bare)[-1]
    return re.sub(r"[^a-z0-9]+", "-", fold(last)).strip("-")[:64] or "collection"
