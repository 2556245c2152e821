"""`python -m rag ask | batch | search | evaluate | bench`."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from rag.progress import Bars
from rag.settings import Settings
from rag.types import Answer, FootnoteError, Turn


def main(arguments: list[str] | None = None) -> int:
    """Runs one command. 0 done, 1 a failure explained in a line on stderr, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        settings = Settings.from_environment()
        if options.collection:
            settings = replace(settings, collection=options.collection)
        options.run(options, settings)
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output left; nothing can be said any more
        return 0
    return 0


def ask(options: argparse.Namespace, settings: Settings) -> None:
    """One answer on the terminal, streamed, with its footnotes."""
    from rag.answer.load import load_answerer

    history = turns(_read_json(options.history), str(options.history)) if options.history else []
    answerer, _ = load_answerer(settings)
    if options.json:
        answer = answerer.ask(options.question, settings.collection, history)
        print(json.dumps(answer.as_json(), ensure_ascii=False))
        return
    shown = ""
    for answer in answerer.stream(options.question, settings.collection, history):
        print(answer.answer.removeprefix(shown), end="", flush=True)
        shown = answer.answer
    print()
    for citation in answer.citations:
        where = " > ".join(filter(None, (citation.title, citation.section)))
        print(f"\n[{citation.n}] {where}\n    {citation.url}\n    “{citation.quote}”")


def batch(options: argparse.Namespace, settings: Settings) -> None:
    """Many questions with one loaded model; an answer object a line."""
    from rag.answer.load import load_answerer

    questions = list(_read_lines(options.input))
    answerer, _ = load_answerer(settings)
    try:
        with options.output.open("w", encoding="utf-8") as out:
            _answer_all(questions, answerer, settings, out)
    except OSError as error:
        raise FootnoteError(f"Cannot write {options.output}: {error.strerror}.") from error


def search(options: argparse.Namespace, settings: Settings) -> None:
    """Retrieval alone: hits with their scores, and whether the gate would let them through."""
    from rag.answer.load import load_collections, load_encoder
    from rag.answer.retrieval import retrieve

    collection = load_collections(settings, load_encoder(settings))[settings.collection]
    found = retrieve(
        options.question, collection.searcher, collection.gate, settings.passages, options.k
    )
    if options.json:
        print(json.dumps(found.as_json(), ensure_ascii=False))
        return
    print(f"{'passes' if found.verdict.passes else 'refused'} ({found.verdict.score:+.2f})")
    for hit in found.hits:
        where = " > ".join(filter(None, (hit.chunk.title, hit.chunk.section)))
        print(f"{hit.fused:.3f}  cosine {hit.score:.3f}  lexical {hit.lexical:5.2f}  {where}")


def evaluate(options: argparse.Namespace, settings: Settings) -> None:
    """The figures of SQuAD-format files (every paragraph indexed), batteries or conversations."""
    from rag.measure.evaluate import evaluate as measure

    with Bars("evaluate") as bars:
        report = measure(
            options.files, settings, bars.show, answers=options.answers, search=options.search
        )
    print(report.as_text())
    if options.out:
        _write(options.out, json.dumps(report.as_json(), ensure_ascii=False, indent=1))


def bench(options: argparse.Namespace, settings: Settings) -> None:
    """How fast is it? Cold questions on the demo blog; or how cost grows, or what a build costs."""
    from rag.measure.figures import lines

    with Bars("bench") as bars:
        result = _measured(options, settings, bars)
    if options.out:
        _write(options.out, json.dumps(result, indent=1))
    if options.markdown:
        from rag.measure.bench import markdown

        print(markdown(result))
    else:
        print(json.dumps(result) if options.json else "\n".join(lines(result)))


def _measured(options: argparse.Namespace, settings: Settings, bars: Bars) -> dict[str, Any]:
    if options.scale:
        from rag.measure.scale import scale

        return scale(settings, _asked(options.questions), bars.show, options.chunks)
    if options.build:
        from rag.measure.index_build import index_build

        return index_build(settings, bars.show)
    if options.interview:
        from rag.measure.bench_interview import bench_interview

        questions = _asked(options.questions)
        return bench_interview(settings, questions, options.interview, options.limit, bars.show)
    from rag.measure.bench import bench as cold

    return cold(
        settings,
        _asked(options.questions)[: options.limit],
        bars.show,
        compare=options.compare,
        without_guesses=options.without_guesses,
    )


def _asked(path: Path) -> list[tuple[str, str]]:
    """The answerable questions of a battery, each with its language."""
    lines = [line for line in _read_lines(path) if line.get("answerable", True)]
    return [(line["question"], str(line.get("language", "en"))) for line in lines]


def turns(value: Any, where: str) -> list[Turn]:
    """A history as JSON: a list of `{"role", "content"}`. Raises FootnoteError for another shape."""
    good = isinstance(value, list) and all(
        isinstance(turn, dict)
        and turn.get("role") in ("user", "assistant")
        and isinstance(turn.get("content"), str)
        for turn in value
    )
    if not good:
        raise FootnoteError(
            f'{where}: a history is a list of {{"role": "user" or "assistant", "content": text}}.'
        )
    return [Turn(turn["role"], turn["content"]) for turn in value]


def _answer_all(
    questions: list[dict[str, Any]], answerer: Any, settings: Settings, out: TextIO
) -> None:
    from tqdm import tqdm

    for line in tqdm(questions, unit="question", disable=not sys.stderr.isatty()):
        history = turns(line.get("history") or [], f"question {line['id']}")
        answer: Answer = answerer.ask(
            line["question"], line.get("collection") or settings.collection, history
        )
        out.write(json.dumps({"id": line["id"], **answer.as_json()}, ensure_ascii=False) + "\n")
        out.flush()


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FootnoteError(f"Cannot write {path}: {error.strerror}.") from error


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FootnoteError(f"Cannot read {path}: {error}.") from error
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise FootnoteError(f"{path}, line {number} is no JSON: {error}.") from error
        if not isinstance(value, dict) or not isinstance(value.get("question"), str):
            raise FootnoteError(f'{path}, line {number} has no "question".')
        yield {"id": number, **value}


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FootnoteError(f"Cannot read {path} as JSON: {error}.") from error


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rag", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        sub.add_argument("--collection", help="the collection to ask (default: RAG_COLLECTION)")
        sub.set_defaults(run=run)
        return sub

    sub = command("ask", ask)
    sub.add_argument("question")
    sub.add_argument("--history", type=Path, help="a JSON file with earlier turns")
    sub.add_argument("--json", action="store_true", help="print the answer object alone")
    sub = command("batch", batch)
    sub.add_argument("input", type=Path, help='JSON lines: {"id", "question", "history"?}')
    sub.add_argument("output", type=Path)
    sub = command("search", search)
    sub.add_argument("question")
    sub.add_argument("--k", type=int, default=5)
    sub.add_argument("--json", action="store_true")
    sub = command("evaluate", evaluate)
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE")
    sub.add_argument("--out", type=Path, help="also write the figures and answers as JSON")
    sub.add_argument(
        "--answers",
        type=_count,
        default=0,
        metavar="N",
        help="answer N questions of each SQuAD-format file end to end",
    )
    sub.add_argument(
        "--no-search",
        dest="search",
        action="store_false",
        help="leave out search and gate of SQuAD-format files",
    )
    sub = command("bench", bench)
    sub.add_argument("--questions", type=Path, default=Path("corpus/battery.jsonl"))
    sub.add_argument("--json", action="store_true", help="print one object, last on stdout")
    sub.add_argument("--out", type=Path, help="also write the figures as JSON")
    sub.add_argument("--limit", type=int, metavar="N", help="ask the first N questions only")
    sub.add_argument("--compare", choices=("llama-cpp",), help="ask llama.cpp each question too")
    sub.add_argument("--without-guesses", action="store_true", help="ask again without guesses")
    other = sub.add_mutually_exclusive_group()
    other.add_argument("--markdown", action="store_true", help="print the docs' table")
    other.add_argument("--scale", action="store_true", help="measure how cost grows instead")
    sub.add_argument("--chunks", type=int, nargs="+", default=[1000, 10_000, 100_000], metavar="N",
                     help="sizes of the collections of --scale")  # fmt: skip
    other.add_argument("--interview", type=Path, nargs="+", metavar="FILE",
                       help="measure the first word beside these interviews instead")  # fmt: skip
    other.add_argument("--build", action="store_true", help="measure the index build instead")
    return parser


if __name__ == "__main__":
    sys.exit(main())
