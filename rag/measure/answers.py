"""How good are the answers? Questions of SQuAD-format files, asked of the whole product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from rag.answer.answerer import Answerer
from rag.answer.collection import Collection
from rag.llm.protocol import LanguageModel
from rag.llm.question_writer import QuestionWriter
from rag.measure.figures import mean, ratio, share
from rag.measure.second_check import Inspection, inspect
from rag.measure.squad import Paragraphs, holds, index
from rag.search.battery import make_battery
from rag.search.calibrate import calibrate, gate_of
from rag.search.search import Searcher
from rag.settings import Settings
from rag.types import Encoder, Language, Message, Progress

_ALONE_TOKENS = 64
_ALONE: dict[Language, str] = {
    "en": "Answer the question from the text.\n\nText: {text}\n\nQuestion: {question}",
    "es": "Responde a la pregunta con el texto.\n\nTexto: {text}\n\nPregunta: {question}",
}


def evaluate_answers(
    pages: Paragraphs,
    number: int,
    collection: Collection,
    llm: LanguageModel,
    settings: Settings,
    progress: Progress,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of `number` questions, drawn evenly, and each question with its answer.

    `collection` holds all paragraphs; see `collect`. "The model alone" gets the right paragraph in a
    plain prompt: what search, gate and check have to live up to.
    """
    answerer = Answerer({"squad": collection}, llm, replace(settings, collection="squad"))
    chunks = {chunk.page: [chunk] for chunk in collection.searcher.stored.chunks}
    chosen = drawn(len(pages.questions), number)
    asked: list[dict[str, Any]] = []
    inspections: list[Inspection] = []
    for done, i in enumerate(chosen, 1):
        question, wanted = pages.questions[i], pages.answers[i]
        answer = answerer.ask(question, "squad").as_json()
        alone = _alone(llm, question, pages.paragraphs[pages.gold[i]], pages.language)
        entry = {
            "set": pages.name, "question": question, "gold": wanted, "page": f"p{pages.gold[i]}",
            "answered": answer["outcome"] == "answered", "answer": answer, "alone": alone,
            "alone holds gold": holds(alone, wanted, pages.language),
        }  # fmt: skip
        entry["holds gold"] = entry["answered"] and holds(answer["answer"], wanted, pages.language)
        if entry["answered"]:
            inspections.append(inspect(answer, pages.language, chunks))
            entry["second check"] = asdict(inspections[-1])
        asked.append(entry)
        progress(f"answers of {pages.name}", done, len(chosen))
    answered = [entry for entry in asked if entry["answered"]]
    cited = [
        citation["url"] == entry["page"]
        or holds(citation["passage"], entry["gold"], pages.language)
        for entry in answered
        for citation in entry["answer"]["citations"]
    ]
    gold = [entry["holds gold"] for entry in asked]
    alone_gold = [entry["alone holds gold"] for entry in asked]
    row = {
        "set": f"answers of {pages.name}",
        "answered": share([entry["answered"] for entry in asked]),
        "gold string in the answer": share(gold),
        "gold string in what the model says alone": share(alone_gold),
        "ratio of the two": ratio(gold, alone_gold),
        **checked(inspections),
        "citations of the right passage": share(cited),
        "sentences withheld per answer": mean([e["answer"]["withheld"] for e in answered]),
    }
    return row, asked


def drawn(total: int, number: int) -> list[int]:
    """The positions of `number` of `total` questions, evenly spread; parallel files get the same."""
    return [int(i) for i in np.linspace(0, total - 1, min(number, total)).round()]


def checked(inspections: Sequence[Inspection]) -> dict[str, Any]:
    """The figures of the second check."""
    clean: list[bool] = []
    for inspection in inspections:
        offences = len(inspection.offences)
        clean += [False] * offences + [True] * (inspection.statements - offences)
    return {
        "sentences with nothing that their passage lacks": share(clean),
        "quotes verbatim in their page": share([v for i in inspections for v in i.verbatim]),
        "answers in the question's language": share(
            [i.in_language for i in inspections if i.in_language is not None]
        ),
        "answers that quote a page in another language": share(
            [i.quotes_another for i in inspections]
        ),
    }


def collect(
    pages: Paragraphs,
    encoder: Encoder,
    llm: LanguageModel,
    settings: Settings,
    progress: Progress,
) -> Collection:
    """All paragraphs, with a gate that is calibrated as a build does it: on the model's questions."""
    stored = index(pages, range(len(pages.paragraphs)), encoder, progress)
    searcher = Searcher(stored, encoder)
    battery = make_battery(stored.chunks, QuestionWriter(llm).write, progress)
    calibration = calibrate(searcher, battery, settings.passages, progress=progress)
    manifest = replace(stored.manifest, calibration=calibration.as_json())
    searcher = Searcher(replace(stored, manifest=manifest), encoder)
    return Collection(searcher, gate_of(manifest))


def _alone(llm: LanguageModel, question: str, paragraph: str, language: Language) -> str:
    prompt = _ALONE[language].format(text=paragraph, question=question)
    return "".join(llm.generate([Message("user", prompt)], max_tokens=_ALONE_TOKENS))
