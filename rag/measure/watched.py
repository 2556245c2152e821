"""A language model that notes how fast it writes, beside the questions that it is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rag.llm.protocol import Generation, LanguageModel, Watch, never
from rag.types import Message


class Pace:
    """Tokens a second between a turn's first and last piece of text.

    What came with the first piece was waited for before it, and the step that only finds the turn's
    end gives no text: neither counts.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)

    def piece(self, tokens: int) -> None:
        """A piece of text came; `tokens` have been written with it."""
        self._last = (self._clock(), tokens)
        self._first = self._first or self._last

    @property
    def tokens_per_s(self) -> float | None:
        """None for a turn of one piece."""
        if self._first is None or self._first == self._last:
            return None
        (began, before), (ended, after) = self._first, self._last
        return (after - before) / (ended - began)


class WatchedLanguageModel:
    """Another model, and the pace of its last turn."""

    waiting = 0

    def __init__(self, llm: LanguageModel) -> None:
        self._llm = llm
        self.name = llm.name
        self.fingerprint = llm.fingerprint
        self.tells_state = llm.tells_state
        self.pace: Pace | None = None

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        begin: str = "",
        stop: Callable[[], bool] = never,
        watch: Watch | None = None,
    ) -> Generation:
        """The other model's turn, watched."""
        self.pace = Pace()
        turn = self._llm.generate(
            messages, max_tokens=max_tokens, begin=begin, stop=stop, watch=watch
        )
        watched: Generation = _Watched(turn, self.pace)
        return watched

    def option_logprobs(
        self, messages: Sequence[Message], options: Sequence[str], *, begin: str = ""
    ) -> list[float]:
        """The other model's."""
        return self._llm.option_logprobs(messages, options, begin=begin)

    def keep(self, messages: Sequence[Message]) -> None:
        """The other model keeps them."""
        self._llm.keep(messages)

    def count_tokens(self, text: str) -> int:
        """By the other model's tokenizer."""
        return self._llm.count_tokens(text)


class _Watched:
    def __init__(self, turn: Generation, pace: Pace) -> None:
        self._turn = turn
        self._pace = pace

    def __iter__(self) -> Iterator[str]:
        for piece in self._turn:
            self._pace.piece(self._turn.output_tokens)
            yield piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._turn, name)
