"""The language model on a server that speaks OpenAI's chat protocol: vLLM, llama.cpp, Ollama, …

Only what such servers share is used: `GET /models` and a streamed `POST /chat/completions`
(https://platform.openai.com/docs/api-reference/chat). What a server can't do is learnt at start, by
trying, and `docs/deploy.md` says what follows.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx
import numpy as np

from rag.llm.protocol import Ending, Watch, never
from rag.llm.server_errors import explained, refuse_status, server_sent
from rag.settings import Settings
from rag.types import FootnoteError, Message, Unavailable

_CONNECT_SECONDS = 5.0
_STOP_SECONDS = 0.1
"""How often `stop` is asked while the server is silent."""
_CHARACTERS_A_TOKEN = 3.0
"""Rather too few: Qwen2.5 reads 3.7 of the demo's English sentences, 3.2 of its Spanish ones."""
# How servers are told to go on with the last message: llama.cpp and Ollama do so without a word.
_CONTINUE: tuple[Mapping[str, Any], ...] = (
    {"add_generation_prompt": False, "continue_final_message": True},
    {},
)
_COUNT = [
    Message("user", "Write the numbers from one to ten as words, in order."),
    Message("assistant", "one two three four"),
]
# What the templates of the usual models take for the end of a turn.
_CONTROL = re.compile(r"<(?=[|｜]|/?s>|(?:start|end)_of_turn>|[be]os>)|\[(?=/?INST\])")


class ServedGeneration:
    """`rag.llm.protocol.Generation`: the request is sent when the first piece is asked for."""

    def __init__(
        self,
        pieces: Callable[[ServedGeneration], AsyncIterator[str]],
        stop: Callable[[], bool],
        prompt_tokens: int,
    ) -> None:
        self.prompt_tokens = prompt_tokens
        """Estimated until the server says, at the end of a turn."""
        self.cached_tokens = 0
        self.output_tokens = 0
        self.text = ""
        self.ending: Ending | None = None
        self.state: np.ndarray | None = None
        self.looks: np.ndarray | None = None
        self._pieces = pieces
        self._stop = stop

    def __iter__(self) -> Iterator[str]:
        """Pieces of text; leaving early closes the connection, which ends the server's work."""
        pieces = self._pieces(self)
        with asyncio.Runner() as runner:
            try:
                while (piece := runner.run(self._next(pieces))) is not None:
                    self.text += piece
                    yield piece
            finally:
                self.ending = self.ending or "stopped"
                runner.run(_close(pieces))

    async def _next(self, pieces: AsyncIterator[str]) -> str | None:
        """The next piece; None at the end, or once `stop` says so."""
        waiting = asyncio.ensure_future(anext(pieces, None))
        while not waiting.done():
            if self._stop():
                waiting.cancel()
                await asyncio.wait({waiting})
                return None
            await asyncio.wait({waiting}, timeout=_STOP_SECONDS)
        piece: str | None = waiting.result()
        return piece


class ServedLanguageModel:
    """`rag.llm.protocol.LanguageModel` over HTTP; the server decides who waits for whom.

    Raises Unavailable when the server can't be reached or refuses the key, and FootnoteError when
    it has no such model.
    """

    waiting = 0

    def __init__(self, settings: Settings) -> None:
        self.address = _address(settings.llm or "")
        self._key = settings.llm_api_key
        self._seconds = float(settings.llm_timeout)
        self._timeout = httpx.Timeout(self._seconds, connect=_CONNECT_SECONDS)
        self._certificates = httpx.create_ssl_context()  # slow to make
        self.name = self._named(settings.llm_model)
        self.tells_state = False
        self.fingerprint = hashlib.sha256(f"{self.address} {self.name}".encode()).hexdigest()[:16]
        self._continue = next((how for how in _CONTINUE if self._goes_on(how)), None)

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        begin: str = "",
        stop: Callable[[], bool] = never,
        watch: Watch | None = None,
    ) -> ServedGeneration:
        """Starts on the assistant's turn after `messages`; see the protocol. A server tells no looks.

        A server that can't go on with a begun turn gets `begin` as the assistant's earlier message.
        Its reply counts only from where it takes the beginning up; else the turn stays empty.
        """
        begun = [*messages, Message("assistant", begin)] if begin else list(messages)
        repeats = bool(begin) and self._continue is None
        how = (self._continue or {}) if begin else {}

        def pieces(made: ServedGeneration) -> AsyncIterator[str]:
            written = self._written(begun, max_tokens, how, made)
            return _without(begin, written) if repeats else written

        return ServedGeneration(pieces, stop, sum(self.count_tokens(m.content) for m in begun))

    def option_logprobs(
        self, messages: Sequence[Message], options: Sequence[str], *, begin: str = ""
    ) -> list[float]:
        """Always raises FootnoteError: the protocol gives only the likeliest tokens' probabilities."""
        raise FootnoteError(
            f"The language model's server at {self.address} can't tell how probable a given text "
            "is; unset RAG_LLM to use the built-in model."
        )

    def keep(self, messages: Sequence[Message]) -> None:
        """Nothing: which beginnings of prompts are remembered is the server's to decide."""

    def count_tokens(self, text: str) -> int:
        """An estimate that is rather too high; the server's tokenizer isn't known here."""
        return math.ceil(len(text) / _CHARACTERS_A_TOKEN)

    async def _written(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        how: Mapping[str, Any],
        made: ServedGeneration,
    ) -> AsyncIterator[str]:
        body = {
            "model": self.name,
            "messages": [{"role": m.role, "content": _plain(m.content)} for m in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **how,
        }
        try:
            async with (
                httpx.AsyncClient(timeout=self._timeout, verify=self._certificates) as client,
                client.stream(
                    "POST", f"{self.address}/chat/completions", json=body, headers=self._headers()
                ) as response,
            ):
                if response.is_error:
                    await response.aread()
                refuse_status(response, self.address)
                async for sent in server_sent(response, self.address, self._seconds):
                    piece = _read(sent, made)
                    if piece:
                        made.output_tokens += 1
                        yield piece
                    # A server that doesn't keep to its limit is left.
                    if made.output_tokens >= max_tokens and made.ending is None:
                        made.ending = "length"
                        break
        except httpx.HTTPError as error:
            raise Unavailable(explained(error, self.address)) from error

    def _goes_on(self, how: Mapping[str, Any]) -> bool:
        """Whether the server, told so, goes on with a begun message, and begins no new one."""
        made = ServedGeneration(lambda made: self._written(_COUNT, 4, how, made), never, 0)
        try:
            return "".join(made).lstrip(" ,\n").lower().startswith("five")
        except Unavailable as error:
            if isinstance(error.__cause__, httpx.HTTPStatusError):  # it doesn't know the request
                return False
            raise

    def _named(self, wanted: str | None) -> str:
        """The model's name; without one in the settings the server must have just one."""
        names = self._models()
        if wanted is None and len(names) == 1:
            return names[0]
        if wanted in names:
            return str(wanted)
        has = ", ".join(names[:8]) or "none"
        problem = f"has no model {wanted!r}" if wanted else "has not just one model"
        raise FootnoteError(
            f"The language model's server at {self.address} {problem} (there: {has}); set "
            "RAG_LLM_MODEL to one of its models."
        )

    def _models(self) -> list[str]:
        try:
            response = httpx.get(
                f"{self.address}/models",
                headers=self._headers(),
                timeout=self._timeout,
                verify=self._certificates,
            )
            refuse_status(response, self.address)
            return [str(model["id"]) for model in response.json()["data"]]
        except httpx.HTTPError as error:
            raise Unavailable(explained(error, self.address)) from error
        except (ValueError, KeyError, TypeError) as error:
            raise Unavailable(
                f"What answers at {self.address} is no OpenAI-compatible server; correct RAG_LLM, "
                "which usually ends in /v1."
            ) from error

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}


def _address(text: str) -> str:
    """The server's base address; `/v1` where the setting has no path. Raises FootnoteError."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise FootnoteError(f"RAG_LLM is no address that can be read ({error}).") from error
    if url.userinfo or url.query:
        raise FootnoteError(
            "RAG_LLM must hold no password and no query; a server's key is set by RAG_LLM_API_KEY."
        )
    path = url.path.rstrip("/").removesuffix("/chat/completions")
    return str(url.copy_with(path=path or "/v1"))


def _plain(text: str) -> str:
    """What a page or a reader says can't end its own turn: marks of turns are broken up."""
    return _CONTROL.sub(lambda mark: f"{mark.group()} ", text)


def _read(sent: dict[str, Any], made: ServedGeneration) -> str:
    """The text of one event; notes what else it tells of the turn."""
    usage = sent.get("usage")
    if isinstance(usage, dict):
        made.prompt_tokens = usage.get("prompt_tokens") or made.prompt_tokens
        made.output_tokens = usage.get("completion_tokens") or made.output_tokens
        details = usage.get("prompt_tokens_details") or {}
        made.cached_tokens = details.get("cached_tokens") or 0
    for choice in sent.get("choices") or []:
        if choice.get("finish_reason"):
            made.ending = "length" if choice["finish_reason"] == "length" else "end"
        return str((choice.get("delta") or {}).get("content") or "")
    return ""


async def _without(begin: str, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """A reply from behind `begin`; nothing of a reply that doesn't start with it.

    A beginning without letters, such as ¿, may be missing.
    """
    text = ""
    async for piece in pieces:
        text += piece
        if len(text.lstrip()) > len(begin):
            break
    text = text.lstrip()
    if text.startswith(begin):
        yield text[len(begin) :]
    elif any(c.isalnum() for c in begin):
        return
    else:
        yield text
    async for piece in pieces:
        yield piece


async def _close(pieces: AsyncIterator[str]) -> None:
    if close := getattr(pieces, "aclose", None):
        await close()
