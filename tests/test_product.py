"""The whole product with the real models and the demo collections."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from rag.answer.answerer import Answerer
from rag.answer.load import load_encoder
from rag.build import overview_pages
from rag.demo import demo_plans
from rag.ingest.sources import Report, collect
from rag.search import store
from rag.settings import Settings
from rag.types import Document, Turn
from tests.schema import faults

pytestmark = pytest.mark.models
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def pages() -> dict[str, str]:
    """Address → extracted text of every page of the demo, read anew from `corpus/`."""
    texts: dict[str, str] = {}
    with demo_plans() as plans:
        for plan in plans:
            documents: list[Document] = list(collect(plan.source, Report(), delay=0.0))
            for page in (*documents, *overview_pages(documents)):
                texts[page.url] = texts.get(page.url, "") + "\n\n" + page.text
    return texts


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is recall@k?", "en"),
        ("What topics does this blog cover?", "en"),
        ("¿Qué es un entorno virtual?", "es"),
        ("que es la cuantizacion", "es"),
        ("what is a near negitive", "en"),
    ],
)
def test_a_question_about_a_post_is_answered_with_a_quote_from_it(
    product: Answerer, pages: dict[str, str], question: str, language: str
) -> None:
    answer = product.ask(question, "blog")
    assert (answer.outcome, answer.language) == ("answered", language), answer.answer
    assert faults(answer.as_json(), pages) == []


@pytest.mark.parametrize(
    "question",
    ["What is the best pizza dough?", "What is the capital of France?", "How do React hooks work?",
     "What is the Vue composition API?", "Who won the 2022 World Cup?", "¿Quién es Taylor Swift?",
     "blorf wibnak tzuu"],
)  # fmt: skip
def test_what_is_not_in_the_posts_is_refused_without_the_model(
    product: Answerer, question: str
) -> None:
    answer = product.ask(question, "blog")
    assert answer.outcome == "refused"
    assert answer.timings.output_tokens == answer.timings.prompt_tokens == 0
    assert answer.nearest
    assert answer.citations == ()


def test_a_follow_up_finds_what_it_leans_on(product: Answerer) -> None:
    history = [Turn("user", "What is BM25?"), Turn("assistant", "A ranking function.")]
    answer = product.ask("And who worked it out?", "blog", history)
    assert answer.search_query == "What is BM25? And who worked it out?"
    assert answer.outcome == "answered"
    assert "bm25" in answer.citations[0].url


def test_fifty_questions_in_a_batch_keep_every_promise(
    tmp_path: Path, pages: dict[str, str], settings: Settings
) -> None:
    out = tmp_path / "answers.jsonl"
    command = [sys.executable, "-m", "rag", "batch", "tests/data/fifty.jsonl", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(answers) == 50
    wrong = {answer["id"]: found for answer in answers if (found := faults(answer, pages))}
    assert wrong == {}
    answered = sum(answer["outcome"] == "answered" for answer in answers)
    assert answered >= 35, [a["question"] for a in answers if a["outcome"] != "answered"]


def test_memory_while_answering_stays_under_two_and_a_half_gib(tmp_path: Path) -> None:
    questions = tmp_path / "in.jsonl"
    questions.write_text(
        "\n".join(
            json.dumps({"id": i, "question": "What is dynamic quantisation?"}) for i in range(3)
        )
    )
    command = [sys.executable, "-m", "rag", "batch", str(questions), str(tmp_path / "out.jsonl")]
    process = psutil.Popen(command, cwd=ROOT)
    most = 0
    while process.poll() is None:
        most = max(most, process.memory_info().rss) if process.is_running() else most
        try:
            process.wait(0.05)
        except psutil.TimeoutExpired:
            continue
    assert process.returncode == 0
    assert most < 2.5 * 2**30, f"{most / 2**30:.2f} GiB"


def test_ask_prints_one_answer_object_and_nothing_else(pages: dict[str, str]) -> None:
    command = [sys.executable, "-m", "rag", "ask", "What is recall@k?", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert faults(json.loads(done.stdout), pages) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ask", "x", "--collection", "nope"], "no collection 'nope'"),
        (["batch", "missing.jsonl", "out.jsonl"], "Cannot read missing.jsonl"),
        (["ask", "x", "--history", "missing.json"], "Cannot read missing.json"),
    ],
)
def test_what_a_user_can_cause_is_one_line_and_status_1(arguments: list[str], says: str) -> None:
    command = [sys.executable, "-m", "rag", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_collection_built_from_saved_pages_can_be_asked(
    tmp_path: Path, settings: Settings
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    prose = "The harbour of Veldt was dug in 1911 by forty men. " * 3
    (folder / "a.html").write_text(
        f"<html lang=en><title>Harbour</title><main><h1>Harbour</h1><p>{prose}</p></main></html>"
    )
    command = [sys.executable, "build_index.py", "--html", str(folder), "--name", "veldt",
               "--out", str(tmp_path / "out")]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    encoder = load_encoder(settings)
    read = store.load(tmp_path / "out" / "veldt", encoder.fingerprint, encoder.dimension)
    assert read.manifest.title == "Harbour"
    assert any("1911" in chunk.text for chunk in read.chunks)
