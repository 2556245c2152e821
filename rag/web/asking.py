"""One question from its turn to its end: limits, the stream, and what is noted of it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

from rag import logs
from rag.answer import language
from rag.settings import Settings
from rag.types import Answer, CollectionInfo, Language
from rag.web import texts
from rag.web.calls import text_of
from rag.web.health import Health
from rag.web.history import read_history
from rag.web.metrics import Metrics
from rag.web.protocol import Answerer
from rag.web.streaming import stream_latest
from rag.web.visit import Visit

log = logging.getLogger(__name__)

FINISH_SECONDS = 4.0
"""So long an answer under way may go on when the server is told to end; the rest is told."""
_TOLD_FROM = 200
"""Characters of a question that its language is told from."""


class Asking:
    """Stands between the API and the answerer. Every question ends in one whole answer object."""

    def __init__(
        self, answerer: Answerer, settings: Settings, metrics: Metrics, health: Health
    ) -> None:
        self._answerer = answerer
        self._settings = settings
        self._metrics = metrics
        self._health = health
        self.running = 0
        self.closing = False
        self._cut = False
        """Answers under way have to end now."""

    async def answer(
        self, question: Any, collection: Any, history: Any, visit: Visit
    ) -> AsyncIterator[Answer]:
        """Partial answers and, last, the whole one, whatever the arguments are."""
        logs.request_id.set(visit.request_id)
        self._metrics.waited(time.perf_counter() - visit.arrived)
        if isinstance(question, str):
            question = text_of(question)
        problem = self.turned_away(question, collection, history, visit)
        if problem:
            self._note(problem, problem.outcome, question)
            yield problem
            return
        turns = read_history(history)
        last: Answer | None = None
        failed = False

        def produce(stop: Callable[[], bool]) -> Iterator[Answer]:
            def over() -> bool:
                return stop() or self._cut

            for answer in self._answerer.stream(question, collection or None, turns, over):
                self._health.moved()
                yield answer

        self.running += 1
        self._health.began()
        try:
            async for last in stream_latest(produce):
                if last.stage != "done" or not self._cut:
                    yield last
            if self._cut:
                last = self._cut_short(last, question, collection)
                yield last
            elif last is None or last.stage != "done":
                raise RuntimeError("the answerer ended without a whole answer")
        except Exception:
            # A fault of ours: the log gets the traceback, the reader a sentence, and the queue
            # goes on with the next question.
            log.exception("An answer failed")
            failed = True
            last = self._error(question, collection, texts.FAILED, last)
            yield last
        finally:
            self.running -= 1
            over = last is not None and last.stage == "done"
            wrote = last is not None and last.outcome == "answered"
            failed = failed or bool(over and last and last.outcome == "error" and not self._cut)
            self._health.ended(wrote=wrote, failed=failed)
            self._note(last, last.outcome if last and over else "left", question)

    async def close(self, waiting: Callable[[], int]) -> None:
        """Lets the answers under way end, within `FINISH_SECONDS`; who waits or comes is told."""
        self.closing = True
        end = time.monotonic() + FINISH_SECONDS
        while (self.running or waiting()) and time.monotonic() < end:
            await asyncio.sleep(0.05)
        self._cut = True
        end = time.monotonic() + 1
        while (self.running or waiting()) and time.monotonic() < end:
            await asyncio.sleep(0.05)

    def turned_away(
        self, question: Any, collection: Any, history: Any, visit: Visit
    ) -> Answer | None:
        """The answer to what can't be asked or not now, before anything is read."""
        settings = self._settings
        if self.closing:
            return self._error(question, collection, texts.STOPPING)
        if visit.wait:
            seconds = max(1, round(visit.wait))
            return self._error(
                question, collection, texts.TOO_MANY, limit=visit.limit, seconds=seconds
            )
        if not isinstance(question, str) or not question.strip():
            return self._error(question, collection, texts.EMPTY)
        if collection is not None and not isinstance(collection, str):
            return self._error(question, collection, texts.BAD_COLLECTION)
        if len(question) > settings.max_question_chars:
            limit = settings.max_question_chars
            cut = question[:_TOLD_FROM]
            return self._error(cut, collection, texts.QUESTION_TOO_LONG, limit=limit)
        if sum(len(turn.content) for turn in read_history(history)) > settings.max_history_chars:
            limit = settings.max_history_chars
            return self._error(question, collection, texts.HISTORY_TOO_LONG, limit=limit)
        return None

    def _error(
        self,
        question: Any,
        collection: Any,
        sentences: texts.Texts,
        partial: Answer | None = None,
        **values: object,
    ) -> Answer:
        infos = self._answerer.collections()
        name = collection if isinstance(collection, str) and collection else ""
        name = name or self._settings.collection
        info: CollectionInfo | None = next((i for i in infos if i.name == name), None)
        typed = question if isinstance(question, str) else ""
        spoken: Language = info.language if info else "en"
        spoken = partial.language if partial else language.detect(typed[:_TOLD_FROM], spoken)
        names = ", ".join(i.name for i in infos)
        return Answer(
            question=typed,
            search_query=typed,
            collection=name,
            mode=info.mode if info else "blog",
            language=spoken,
            outcome="error",
            answer=sentences[spoken].format(names=names, **values),
        )

    def _cut_short(self, last: Answer | None, question: Any, collection: Any) -> Answer:
        """What there is of an answer that the server's end cut off, and that it did."""
        if last is None or not last.citations:
            return self._error(question, collection, texts.STOPPING, last)
        told = f"{last.answer}\n\n{texts.STOPPING[last.language]}"
        return replace(last, answer=told, draft="", stage="done")

    def _note(self, answer: Answer | None, outcome: str, question: Any) -> None:
        """One line in the log and in the figures; the question itself only where a setting asks."""
        collection = answer.collection if answer else ""
        self._metrics.answered(answer, collection, outcome)
        fields: dict[str, Any] = {"event": "question", "outcome": outcome}
        if answer:
            fields |= {"collection": collection, "language": answer.language}
            fields |= {"route": list(answer.route), "withheld": answer.withheld}
            fields |= vars(answer.timings)
        if self._settings.log_questions and isinstance(question, str):
            fields["question"] = question[: self._settings.max_question_chars]
        total = answer.timings.total_ms if answer else 0
        shown = f": {fields['question']!r}" if "question" in fields else ""
        log.info("question %s in %d ms%s", outcome, total, shown, extra=fields)
