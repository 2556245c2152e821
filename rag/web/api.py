"""The Gradio API: `/ask`, `/search` and `/collections`, behind Gradio's queue; the MCP server's tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.state_holder import SessionState

from rag.settings import Settings
from rag.types import FootnoteError
from rag.web.asking import Asking
from rag.web.protocol import Answerer
from rag.web.visit import KEY, Visit


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


def build_blocks(asking: Asking, answerer: Answerer, settings: Settings) -> gr.Blocks:
    """Gradio's application: three endpoints and no components; the page is its own client.

    Their docstrings are what the API's and the MCP server's users read.
    """

    async def ask(
        question: str,
        collection: str | None = None,
        history: list | None = None,
        request: gr.Request | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Answer a question from the passages of a collection. Each sentence has a marker [n] of
        the citation that supports it, with a verbatim quote; what the passages don't say is refused.

        Parameters:
            question: the question, in English or Spanish
            collection: the name of a collection; without it the default one is asked
            history: earlier messages, oldest first: {"role": "user" | "assistant", "content"}
        """
        async for answer in asking.answer(question, collection, history, _visit(request)):
            yield answer.as_json()

    def search(
        question: str,
        collection: str | None = None,
        k: int = 5,
        request: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Find the passages of a collection that are nearest to a question, without an answer:
        each with its scores, and whether the question would be answered from them (`passes`).

        Parameters:
            question: the question or words, in English or Spanish
            collection: the name of a collection; without it the default one is searched
            k: how many passages, at most 50
        """
        problem = asking.turned_away(question, collection, None, _visit(request))
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
    blocks.queue(max_size=settings.max_waiting, api_open=False)
    return blocks


def endpoint_index(blocks: gr.Blocks, name: str) -> int:
    """The number by which Gradio's queue knows an endpoint."""
    return next(index for index, fn in blocks.fns.items() if fn.api_name == name)


def _visit(request: gr.Request | None) -> Visit:
    """What the door noted of the request that a call came with."""
    found = request.request.scope.get(KEY) if request and request.request else None
    return found or Visit()


def _refused(text: str) -> gr.Error:
    """What a caller reads; the log needs no traceback of it."""
    return gr.Error(text, print_exception=False)
