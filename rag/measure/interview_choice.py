"""Should the language model pick an interview's section and score its passages, or the embedder?

`python -m rag.measure.interview_choice corpus/people/NAME.jsonl …` asks both about the same labelled
questions. The model doesn't write: the probabilities of the allowed answers (a letter for each section,
0 to 10 for a passage) are read from one pass, with everything before the question or passage cached.
"""

from __future__ import annotations

import argparse
import math
import string
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from rag.answer import followup
from rag.answer.interview.route import Route
from rag.answer.load import load_collections, load_encoder
from rag.llm.build import ensure_models
from rag.llm.generate import OnnxLanguageModel
from rag.llm.protocol import LanguageModel
from rag.measure.battery import collection_of, read_lines
from rag.measure.figures import Estimate, auc, middle, share
from rag.settings import Settings
from rag.types import FootnoteError, Language, Message

T = TypeVar("T")
_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_SCORES = [str(i) for i in range(11)]
_CHARACTERS = 1200
"""Of a passage that the model reads to score it."""
_LEAD: dict[Language, str] = {"en": "Introduction", "es": "Introducción"}
_PICK: dict[Language, str] = {
    "en": "These are the sections of a page about a person:\n{sections}\n\nWhich section answers the "
    "question? Reply with its letter only.",
    "es": "Estas son las secciones de una página sobre una persona:\n{sections}\n\n¿Qué sección "
    "responde a la pregunta? Contesta solo con su letra.",
}
_SCORE: dict[Language, str] = {
    "en": "Score from 0 to 10 how well the passage answers the question. Reply with the number only.",
    "es": "Puntúa de 0 a 10 si el pasaje responde a la pregunta. Contesta solo con el número.",
}
_ASK: dict[Language, str] = {
    "en": "Passage: {passage}\n\nQuestion: {question}",
    "es": "Pasaje: {passage}\n\nPregunta: {question}",
}
_EXAMPLES: dict[Language, tuple[tuple[str, str, str], ...]] = {
    "en": (
        ("She opened a bakery in Leeds in 1901.", "When did she open the bakery?", "10"),
        ("She opened a bakery in Leeds in 1901.", "Why did she sell her boat?", "0"),
    ),
    "es": (
        ("Abrió una panadería en Lugo en 1901.", "¿Cuándo abrió la panadería?", "10"),
        ("Abrió una panadería en Lugo en 1901.", "¿Por qué vendió su barco?", "0"),
    ),
}


def pick(
    llm: LanguageModel, paths: Sequence[str], question: str, language: Language
) -> list[float]:
    """Of each section path the logarithm of the probability that the model gives its letter.

    Raises FootnoteError for a page with more sections than there are letters.
    """
    letters = _letters(paths)
    messages = [*picking(paths, language), Message("user", question)]
    return llm.option_logprobs(messages, letters)


def picking(paths: Sequence[str], language: Language) -> list[Message]:
    """What the prompt of `pick` begins with: the page's sections."""
    named = [path or _LEAD[language] for path in paths]
    lines = [f"{x}. {path}" for x, path in zip(_letters(paths), named, strict=True)]
    return [Message("system", _PICK[language].format(sections="\n".join(lines)))]


def expected_score(llm: LanguageModel, passage: str, question: str, language: Language) -> float:
    """0 to 10: the mean of the allowed scores under the model's probabilities."""
    asked = _ASK[language].format(passage=passage[:_CHARACTERS], question=question)
    logs = llm.option_logprobs([*scoring(language), Message("user", asked)], _SCORES)
    weights = [math.exp(x - max(logs)) for x in logs]
    return sum(i * w for i, w in enumerate(weights)) / sum(weights)


def scoring(language: Language) -> list[Message]:
    """What the prompt of `expected_score` begins with."""
    messages = [Message("system", _SCORE[language])]
    for passage, question, score in _EXAMPLES[language]:
        asked = _ASK[language].format(passage=passage, question=question)
        messages += [Message("user", asked), Message("assistant", score)]
    return messages


def compare(
    entries: Sequence[dict[str, Any]], route: Route, passages: dict[str, str], llm: LanguageModel
) -> dict[str, Estimate | dict[str, float] | None]:
    """The figures of one page's labelled questions. `passages` has a text by section path."""
    language: Language = entries[0]["language"]
    paths = list(passages)
    llm.keep(picking(paths, language))
    llm.keep(scoring(language))
    blank = pick(llm, paths, "?", language)
    ranks: dict[str, list[int]] = {"embedder": [], "model": [], "model, less its bias": []}
    scores: dict[str, list[list[float]]] = {"embedder": [[], []], "model": [[], []]}
    times: dict[str, list[float]] = {}

    def timed(name: str, work: Callable[..., T], *arguments: Any) -> T:
        started = time.perf_counter()
        made = work(*arguments)
        times.setdefault(name, []).append((time.perf_counter() - started) * 1000)
        return made

    for entry in entries:
        query = followup.Query(entry["question"], False, None)
        asked = timed("section by embedder", route.ask, query, language)
        sought, best = asked.sought, asked.ranked[0]
        if entry.get("section"):
            order = list(dict.fromkeys(r.section for r in asked.ranked))
            logs = timed("section by model", pick, llm, paths, sought, language)
            fair = [x - b for x, b in zip(logs, blank, strict=True)]
            ranks["embedder"].append(order.index(entry["section"]))
            ranks["model"].append(_rank(logs, paths.index(entry["section"])))
            ranks["model, less its bias"].append(_rank(fair, paths.index(entry["section"])))
            best = next(r for r in asked.ranked if r.section == entry["section"])
        text = passages[best.section]
        side = int(not entry["answerable"])
        scored = timed("score by embedder", route.score, asked, best, language)
        scores["embedder"][side].append(scored)
        judged = timed("score by model", expected_score, llm, text, sought, language)
        scores["model"][side].append(judged)
    found: dict[str, Estimate | dict[str, float] | None] = {}
    for who, places in ranks.items():
        found[f"right section first, {who}"] = share([r < 1 for r in places])
        found[f"right section in the first 3, {who}"] = share([r < 3 for r in places])
    for who, (inside, outside) in scores.items():
        found[f"AUC of the score, {who}"] = auc(inside, outside)
        right = [s >= 5 for s in inside] + [s < 5 for s in outside]
        found[f"right side of 5, {who}"] = share(right)
    return found | {f"ms, {name}": middle(taken) for name, taken in times.items()}


def _letters(paths: Sequence[str]) -> list[str]:
    if len(paths) > len(_LETTERS):
        raise FootnoteError(f"{len(paths)} sections are more than the {len(_LETTERS)} letters.")
    return list(_LETTERS[: len(paths)])


def _rank(logs: Sequence[float], place: int) -> int:
    return sum(other > logs[place] for other in logs)


def main() -> None:
    """Prints the figures of each battery."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--every", type=int, default=1, help="ask each Nth question only")
    options = parser.parse_args()
    settings = Settings.from_environment()
    names = [str(collection_of(path)) for path in options.files]
    collections = load_collections(replace(settings, collection=names[0]), load_encoder(settings))
    llm = OnnxLanguageModel(ensure_models(settings).llm, settings.threads)
    for path, name in zip(options.files, names, strict=True):
        interview = collections[name].interview
        if interview is None:
            raise FootnoteError(f"{name} is no interview.")
        passages: dict[str, str] = {}
        for chunk in collections[name].searcher.stored.chunks:
            if chunk.kind != "overview":
                passages.setdefault(chunk.section or "", chunk.text)
        entries = read_lines(path)[:: options.every]
        print(f"\n{path}")
        for key, value in compare(entries, interview.route, passages, llm).items():
            print(f"{key:<48} {value}")


if __name__ == "__main__":
    main()
