"""How cost grows: longer prompts, larger collections, more readers at once."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from rag.answer.answerer import Answerer
from rag.answer.load import load_answerer
from rag.llm.build import ensure_models
from rag.llm.encoder import OnnxEncoder
from rag.llm.generate import OnnxLanguageModel
from rag.llm.session import Session
from rag.measure.figures import middle
from rag.measure.made_up import Corpus, write_collection
from rag.search import store
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import Message

log = logging.getLogger(__name__)
PROMPT_TOKENS = (300, 600, 1200)
PIECES = (32, 64, 128, 256, 512)
READERS = 4
_ROUNDS = 5
_FRAME_END = 5
"""Tokens of a chat template behind a message."""
_QUESTIONS = 40
Progress = Callable[[str, int, int], None]


def scale(
    settings: Settings,
    questions: Sequence[tuple[str, str]],
    progress: Progress,
    sizes: Sequence[int],
) -> dict[str, Any]:
    """Prefill by prompt length, search by collection size, and readers at once.

    Interrupted, it ends with the parts so far.
    """
    folder = ensure_models(settings).llm
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "prefill": lambda: prefill(OnnxLanguageModel(folder, settings.threads), progress),
        "pieces": lambda: pieces(Session(folder / "model.onnx", settings.threads), progress),
        "readers": lambda: readers(
            load_answerer(settings)[0], settings.collection, questions, progress
        ),
    }
    result: dict[str, Any] = {}
    try:
        for name, part in parts.items():
            result[name] = part()
            gc.collect()
        result["collections"] = {}
        for done, size in enumerate(sizes, 1):
            result["collections"][str(size)] = collection(settings, size)
            progress("collections", done, len(sizes))
    except KeyboardInterrupt:
        log.warning("interrupted: these are the parts that were done")
    return result


def prefill(llm: OnnxLanguageModel, progress: Progress) -> dict[str, Any]:
    """Milliseconds to the first token of prompts that share nothing, the lengths in turn."""
    corpus = Corpus(seed=1)
    times: dict[int, list[float]] = {tokens: [] for tokens in PROMPT_TOKENS}
    for _ in llm.generate([Message("user", "Hello")], max_tokens=1):
        pass  # the frame's beginning is remembered from here on
    for done in range(_ROUNDS):
        for tokens in PROMPT_TOKENS:
            text = _of_length(llm, corpus, tokens)
            started = time.perf_counter()
            came = [
                time.perf_counter() for _ in llm.generate([Message("user", text)], max_tokens=1)
            ]  # what is remembered after the answer keeps no reader waiting
            times[tokens].append((came[0] - started) * 1000)
        progress("prefill", done + 1, _ROUNDS)
    shortest, longest = (float(np.median(times[n])) for n in (PROMPT_TOKENS[0], PROMPT_TOKENS[-1]))
    return {
        **{f"{tokens} tokens, ms": middle(values) for tokens, values in times.items()},
        "longest to shortest": round(longest / shortest, 2),
    }


def pieces(session: Session, progress: Progress) -> dict[str, Any]:
    """Milliseconds of prefill by the tokens of one run, the sizes in turn."""
    ids = np.random.default_rng(0).integers(session.vocabulary, size=PROMPT_TOKENS[0]).tolist()
    times: dict[int, list[float]] = {size: [] for size in PIECES}
    for done in range(_ROUNDS):
        for size in PIECES:
            started = time.perf_counter()
            for start in range(0, len(ids), size):
                session.run(ids[start : start + size], start)
            times[size].append((time.perf_counter() - started) * 1000)
        progress("pieces", done + 1, _ROUNDS)
    return {f"{len(ids)} tokens in pieces of {n}, ms": middle(times[n]) for n in PIECES}


def readers(
    answerer: Answerer, collection: str, questions: Sequence[tuple[str, str]], progress: Progress
) -> dict[str, Any]:
    """Cold questions, asked by one reader and by several at once; half of them each."""
    half = len(questions) // 2
    result: dict[str, Any] = {}
    for count, asked in ((1, questions[:half]), (READERS, questions[half:])):
        started = time.perf_counter()
        with ThreadPoolExecutor(count) as pool:
            answers = list(pool.map(lambda q: answerer.ask(q[0], collection), asked))
        seconds = time.perf_counter() - started
        written = [a for a in answers if a.outcome == "answered"]
        result[f"{count} at once"] = {
            "first_token_ms": middle([float(a.timings.first_token_ms) for a in written]),
            "questions_per_minute": round(60 * len(asked) / seconds, 1),
            "tokens_per_s": round(sum(a.timings.output_tokens for a in answers) / seconds, 1),
        }
        progress("readers", count, READERS)
    return result


def collection(settings: Settings, size: int) -> dict[str, Any]:
    """Load time, memory and search time of a made-up collection, in processes of their own."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "made-up"
        for work in (_write, _search):  # what writing needs mustn't count as the reader's memory
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                found = pool.submit(work, settings, place, size).result()
    return found


def _write(settings: Settings, folder: Path, size: int) -> dict[str, Any]:
    encoder = OnnxEncoder(ensure_models(settings).embedder, settings.threads)
    write_collection(folder, size, encoder)
    return {}


def _search(settings: Settings, folder: Path, size: int) -> dict[str, Any]:
    encoder = OnnxEncoder(ensure_models(settings).embedder, settings.threads)
    corpus = Corpus(seed=2)
    questions = [corpus.text(8) for _ in range(_QUESTIONS)]
    encoder.encode_query(questions[0])
    before = psutil.Process().memory_info().rss
    started = time.perf_counter()
    searcher = Searcher(store.load(folder, encoder.fingerprint, encoder.dimension), encoder)
    searcher.search(questions[0], 3, "en")
    loaded = time.perf_counter() - started
    times = []
    for question in questions[1:]:
        started = time.perf_counter()
        searcher.search(question, 3, "en")
        times.append((time.perf_counter() - started) * 1000)
    used = (psutil.Process().memory_info().rss - before) / 2**20
    stored = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
    return {
        "load_s": round(loaded, 2),
        "search_ms": middle(times),
        "memory_mb": round(used),
        "disk_mb": round(stored),
    }


def _of_length(llm: OnnxLanguageModel, corpus: Corpus, tokens: int) -> str:
    """A made-up text of about `tokens`; of the frame around it only the end has to be read, the rest
    is remembered from the prompt before."""
    words = corpus.text(tokens).split()
    empty = len(words)
    while empty and llm.count_tokens(" ".join(words[:empty])) > tokens - _FRAME_END:
        empty -= max(1, empty // 50)
    return " ".join(words[:empty])
