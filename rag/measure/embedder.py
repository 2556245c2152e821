"""`python -m rag.measure.embedder FILE…`: what int8 costs the embedder, and the memory that it takes.

The files are parallel SQuAD-format files, such as XQuAD's in two languages. Every question looks for
its paragraph by cosine alone, with the served graph and with the model in full precision.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from rag.answer.load import load_encoder
from rag.llm.quiet import quiet_libraries
from rag.measure.figures import lines
from rag.measure.index_build import unpacked_embedder
from rag.settings import Settings
from rag.types import FootnoteError

_LONG = "A passage that fills the encoder's window says many things, one after another. " * 40


def read_paragraphs(path: Path) -> tuple[list[str], list[str], list[int]]:
    """Paragraphs, questions, and each question's paragraph. Raises FootnoteError."""
    paragraphs: list[str] = []
    questions: list[str] = []
    gold: list[int] = []
    try:
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                paragraphs.append(paragraph["context"])
                questions += [entry["question"] for entry in paragraph["qas"]]
                gold += [len(paragraphs) - 1] * len(paragraph["qas"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FootnoteError(f"{path} is no SQuAD-format file: {error!r}.") from error
    return paragraphs, questions, gold


def recall(questions: np.ndarray, paragraphs: np.ndarray, gold: list[int], k: int) -> float:
    """Share of questions whose paragraph is among the `k` nearest."""
    cosines = questions @ paragraphs.T
    better = (cosines > cosines[np.arange(len(gold)), gold][:, None]).sum(axis=1)
    return round(float((better < k).mean()), 4)


def compare(settings: Settings, files: list[Path]) -> dict[str, Any]:
    """Recall of both, each language against each, the cosine of their vectors, and the memory."""
    from sentence_transformers import SentenceTransformer

    quiet_libraries()
    read = {path.stem: read_paragraphs(path) for path in files}
    encoder = load_encoder(settings)
    with tempfile.TemporaryDirectory() as folder:
        model = SentenceTransformer(str(unpacked_embedder(settings, Path(folder))), device="cpu")
        sides: dict[str, dict[tuple[str, str], np.ndarray]] = {"full": {}, "int8": {}}
        for name, (paragraphs, questions, _) in read.items():
            full, small = sides["full"], sides["int8"]
            full[name, "p"] = model.encode(paragraphs, prompt_name="passage")
            full[name, "q"] = model.encode(questions, prompt_name="query")
            small[name, "p"] = encoder.encode_passages(paragraphs)
            small[name, "q"] = np.stack([encoder.encode_query(q) for q in questions])
    cosines = np.concatenate(
        [(sides["full"][key] * sides["int8"][key]).sum(axis=1) for key in sides["full"]]
    )
    result: dict[str, Any] = {
        "cosine": {"mean": round(float(cosines.mean()), 5), "least": round(float(cosines.min()), 5)}
    }
    for asked, (_, _, gold) in read.items():
        for pages in read:
            result[f"{asked} → {pages}"] = {
                f"recall@{k} {side}": recall(vectors[asked, "q"], vectors[pages, "p"], gold, k)
                for k in (1, 3)
                for side, vectors in sides.items()
            }
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        result["resident_mb"] = pool.submit(resident, settings).result()
    return result


def resident(settings: Settings) -> int:
    """MiB of this process, which should hold nothing else, with the embedder at work."""
    encoder = load_encoder(settings)
    encoder.encode_query("What is it about?")
    encoder.encode_passages([_LONG] * 4)
    return round(psutil.Process().memory_info().rss / 2**20)


def main() -> int:
    """Prints the table; one JSON object with `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        result = compare(Settings.from_environment(), options.files)
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(result) if options.json else "\n".join(lines(result)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
