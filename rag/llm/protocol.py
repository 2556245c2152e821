"""What the other rooms know of a language model; another engine may stand behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from rag.types import Message

Ending = Literal["end", "length", "stopped", "repetition"]
"""The model ended its turn; `max_tokens` were made; `stop` said so; it began to repeat itself."""


def never() -> bool:
    """A `stop` for what nobody stops."""
    return False


@dataclass(frozen=True)
class Watch:
    """Who looks at what: stretches of the last message's text, as (start, end)."""

    question: tuple[int, int]
    sentences: tuple[tuple[int, int], ...]


class Generation(Protocol):
    """One turn of the model, as it is written."""

    prompt_tokens: int
    cached_tokens: int
    """Tokens of the prompt that didn't have to be computed."""
    output_tokens: int
    text: str
    """All pieces so far."""
    ending: Ending | None
    """None while it goes on."""
    state: np.ndarray | None
    """What the model makes of the prompt: the state of its last token in the middle of the layers,
    float32 of shape (hidden,), from the first piece on. None from a model that doesn't tell."""
    looks: np.ndarray | None
    """What was watched: the share of attention that each sentence got, on average over the question's
    tokens and over those behind it, by each head in the middle of the layers. Float32 of shape
    (2, heads, sentences), from the first piece on. None from a model that doesn't tell."""

    def __iter__(self) -> Iterator[str]:
        """Pieces of text; leaving the loop early stops the model. Raises what went wrong in it."""


class LanguageModel(Protocol):
    """Writes one turn at a time, greedily; calls from several threads wait in order."""

    name: str
    fingerprint: str
    """Changes whenever the answers would."""
    tells_state: bool
    """Whether its generations have a state."""

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        begin: str = "",
        stop: Callable[[], bool] = never,
        watch: Watch | None = None,
    ) -> Generation:
        """Starts on the assistant's turn after `messages`.

        `begin` is how that turn starts; it is read, not repeated. `stop` is asked before each step.
        With `watch` the generation tells what the question looked at.
        Raises FootnoteError when the prompt is longer than the model's memory.
        """

    def option_logprobs(
        self, messages: Sequence[Message], options: Sequence[str], *, begin: str = ""
    ) -> list[float]:
        """The natural logarithm of each option's probability as the next text.

        Raises FootnoteError when the model is on a server, whose protocol can't tell.
        """

    def keep(self, messages: Sequence[Message]) -> None:
        """Reads messages that many prompts will start with, and remembers them for good."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, without special ones; an estimate where the model is on a server."""

    @property
    def waiting(self) -> int:
        """Calls that wait for their turn."""
