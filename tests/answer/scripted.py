"""A language model that says what a test wants, for the flow around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rag.llm.protocol import Ending, Watch
from rag.types import Message


class ScriptedGeneration:
    """Words of a prepared text, one piece each; raises where the text is an exception."""

    prompt_tokens, cached_tokens = 10, 2

    def __init__(
        self,
        text: str | Exception,
        stop: Callable[[], bool],
        state: np.ndarray | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        self._at_once = at_once
        self._text = text
        self._stop = stop
        self.output_tokens = 0
        self.text = ""
        self.ending: Ending | None = None
        self.state = state
        self.looks: np.ndarray | None = None

    def __iter__(self) -> Iterator[str]:
        if isinstance(self._text, Exception):
            raise self._text
        for word in [self._text] if self._at_once else self._text.split(" "):
            if self._stop():
                return
            self.output_tokens += 1
            yield word + " "


class ScriptedModel:
    """Gives `replies` in turn, and remembers what it was asked. `state` is that of each prompt."""

    name = fingerprint = "scripted"
    tells_state = True
    waiting = 0

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[Message, ...]] = []
        self.begun: list[str] = []
        self.state: np.ndarray | None = None
        self.looks: Callable[[Watch, str], np.ndarray] | None = None
        """What it looks at, by what is watched and the last message's text."""
        self.watched: list[Watch | None] = []
        self.at_once = False
        """Whether each text comes in one piece."""
        self.generations: list[ScriptedGeneration] = []
        self.limits: list[int] = []

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        begin: str = "",
        stop: Callable[[], bool] = lambda: False,
        watch: Watch | None = None,
    ) -> ScriptedGeneration:
        self.watched.append(watch)
        self.asked.append(tuple(messages))
        self.begun.append(begin)
        self.limits.append(max_tokens)
        made = ScriptedGeneration(self.replies.pop(0), stop, self.state)
        if self.looks and watch:
            made.looks = self.looks(watch, messages[-1].content)
        self.generations.append(made)
        return made

    def option_logprobs(
        self, messages: Sequence[Message], options: Sequence[str], *, begin: str = ""
    ) -> list[float]:
        return [0.0 for _ in options]

    def keep(self, messages: Sequence[Message]) -> None:
        """Nothing is read ahead."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())
