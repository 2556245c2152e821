"""The Gradio API: `/ask`, `/search` and `/collections`, behind Gradio's queue; the MCP server's tools."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.state_holder import SessionState

from rag.settings import Settings
from rag.types import Answer, CollectionInfo, FootnoteError, Language
from rag.web.history import read_history
from rag.web.protocol import Answerer
from rag.web.streaming import stream_latest

log = logging.getLogger(__name__)

MAX_WAITING = 64
"""Questions in the queue; a further one is turned away at once."""

EMPTY = {
    "en": "There was no question. Please send one as text.",
    "es": "No había ninguna pregunta. Envía una en forma de texto.",
}
BAD_COLLECTION = {
    "en": "The collection must be given by its name. These can be asked: {names}.",
    "es": "La colección se indica por su nombre. Se puede preguntar a: {names}.",
}
FAILED = {
    "en": "The answer broke off because of a fault here. The next question will work.",
    "es": "La respuesta se interrumpió por un fallo nuestro. La próxima pregunta funcionará.",
}


class Blocks(gr.Blocks):
    """Gradio's application, in which a caller may leave out trailing arguments everywhere.

    Gradio's own client fills them in; a bare HTTP call with only the question would be refused.
    """

    async def preprocess_data(
        self,
        block_fn: BlockFunction,
        inputs: list[Any],
        state: SessionState | None,
        explicit_call: bool = False,
    ) -> list[Any]:
        """Gradio's, after the missing arguments were added as None."""
        missing = len(block_fn.inputs) - len(inputs)
        return await super().preprocess_data(
            block_fn, [*inputs, *[None] * missing], state, explicit_call
        )


def build_blocks(answerer: Answerer, settings: Settings) -> gr.Blocks:
    """Gradio's application: three endpoints and no components; the page is its own client.

    Their docstrings are what the API's and the MCP server's users read.
    """

    async def ask(
        question: str, collection: str | None = None, history: list | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Answer a question from the passages of a collection. Each sentence has a marker [n] of
        the citation that supports it, with a verbatim quote; what the passages don't say is refused.

        Parameters:
            question: the question, in English or Spanish
            collection: the name of a collection; without it the default one is asked
            history: earlier messages, oldest first: {"role": "user" | "assistant", "content"}
        """
        problem = _problem(answerer, settings, question, collection)
        if problem:
            yield problem.as_json()
            return
        turns = read_history(history)
        last: Answer | None = None

        def produce(stop: Callable[[], bool]) -> Iterator[Answer]:
            return answerer.stream(question, collection or None, turns, stop)

        try:
            async for last in stream_latest(produce):
                yield last.as_json()
        except Exception:
            # A fault of ours: the log gets the traceback, the reader a sentence, and the queue
            # goes on with the next question.
            log.exception("The answer to %r failed", question)
            yield _error(answerer, settings, question, collection, FAILED, last).as_json()

    def search(question: str, collection: str | None = None, k: int = 5) -> dict[str, Any]:
        """Find the passages of a collection that are nearest to a question, without an answer:
        each with its scores, and whether the question would be answered from them (`passes`).

        Parameters:
            question: the question or words, in English or Spanish
            collection: the name of a collection; without it the default one is searched
            k: how many passages, at most 50
        """
        problem = _problem(answerer, settings, question, collection)
        if problem:
            raise _refused(problem.answer)
        count = k if isinstance(k, int) else 5
        try:
            return answerer.search(question, collection or None, count).as_json()
        except FootnoteError as error:
            raise _refused(str(error)) from error

    def collections() -> list[dict[str, Any]]:
        """List what can be asked: names, titles, languages, sizes, and questions to begin with."""
        return [info.as_json() for info in answerer.collections()]

    with Blocks(title="Footnote", analytics_enabled=False) as blocks:
        gr.api(ask, api_name="ask", concurrency_limit=1)
        gr.api(search, api_name="search", concurrency_limit=1)
        gr.api(collections, api_name="collections", concurrency_limit=None)
    blocks.queue(max_size=MAX_WAITING)
    return blocks


def endpoint_index(blocks: gr.Blocks, name: str) -> int:
    """The number by which Gradio's queue knows an endpoint."""
    return next(index for index, fn in blocks.fns.items() if fn.api_name == name)


def _refused(text: str) -> gr.Error:
    """What a caller reads; the log needs no traceback of it."""
    return gr.Error(text, print_exception=False)


def _problem(
    answerer: Answerer, settings: Settings, question: Any, collection: Any
) -> Answer | None:
    if not isinstance(question, str) or not question.strip():
        return _error(answerer, settings, question, collection, EMPTY)
    if collection is not None and not isinstance(collection, str):
        return _error(answerer, settings, question, collection, BAD_COLLECTION)
    return None


def _error(
    answerer: Answerer,
    settings: Settings,
    question: Any,
    collection: Any,
    texts: dict[str, str],
    partial: Answer | None = None,
) -> Answer:
    infos = answerer.collections()
    name = collection if isinstance(collection, str) and collection else settings.collection
    info: CollectionInfo | None = next((i for i in infos if i.name == name), None)
    language: Language = partial.language if partial else info.language if info else "en"
    typed = question if isinstance(question, str) else ""
    return Answer(
        question=typed,
        search_query=typed,
        collection=name,
        mode=info.mode if info else "blog",
        language=language,
        outcome="error",
        answer=texts[language].format(names=", ".join(i.name for i in infos)),
    )
