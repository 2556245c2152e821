"""The language model as it serves: a lean loop around an ONNX Runtime session."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from rag.llm.attention import Look
from rag.llm.chat import Chat
from rag.llm.fair_lock import FairLock
from rag.llm.lookup import Lookup
from rag.llm.prefixes import Prefix, PrefixStore, common_prefix
from rag.llm.protocol import Ending, Watch, never
from rag.llm.session import MAX_TOKENS, Session
from rag.types import FootnoteError, Message

_PIECE = 128
"""Tokens of one prefill run: longer ones leave the processor's caches and compute attention that is
masked away, shorter ones waste products of matrices. `stop` is asked between runs."""
_LONG = 512
"""Of more tokens than this each run reads a long cache again: then runs of twice as many pay."""
_GUESSES = 15
"""With the token before them they fill the 16 rows of a processor's matrix unit."""
_NEXT_SENTENCE = re.compile(r"""(?:(?<=[.!?…])|(?<=[.!?…][)"”»]))\n+(?=[^\s`|-])""")
"""The line breaks behind a sentence of prose, but before a list, a table or code."""
_REPEAT = 16
"""A run of so many tokens that stands in the answer already means that the model is in a loop."""
_PREFIX_BYTES = 96 << 20


class OnnxGeneration:
    """`rag.llm.protocol.Generation`, written by a thread of its own."""

    def __init__(self, prompt_tokens: int) -> None:
        self.prompt_tokens = prompt_tokens
        self.cached_tokens = 0
        self.output_tokens = 0
        self.text = ""
        self.ending: Ending | None = None
        self.state: np.ndarray | None = None
        self.looks: np.ndarray | None = None
        self.left = False
        """Nobody reads on."""
        self._pieces: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()

    def __iter__(self) -> Iterator[str]:
        """Pieces of text; leaving the loop early stops the model. Raises what went wrong in it."""
        try:
            while (piece := self._pieces.get()) is not None:
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
        finally:
            self.left = True

    def _write(self, work: Callable[[], Iterator[str]]) -> None:
        try:
            for piece in work():
                if self.left:
                    self.ending = "stopped"
                    break
                self.text += piece
                self._pieces.put(piece)
        except BaseException as error:  # noqa: BLE001 - raised again where the pieces are read
            self._pieces.put(error)
        self._pieces.put(None)


class OnnxLanguageModel:
    """`rag.llm.protocol.LanguageModel` over a folder that `export_llm` wrote.

    `threads` is how many processors a run may use, 0 for all; `guesses` how many tokens are guessed
    from the prompt at each step, 0 for none.
    """

    def __init__(self, folder: Path, threads: int = 0, *, guesses: int = _GUESSES) -> None:
        built = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        self.name: str = built["name"]
        self.fingerprint: str = built["fingerprint"]
        self._chat = Chat(folder)
        capacity = min(self._chat.context, MAX_TOKENS)
        self._session = Session(folder / "model.onnx", threads, capacity)
        self.tells_state = self._session.hidden is not None
        self._guesses = guesses
        self._lock = FairLock()
        self._prefixes = PrefixStore(_PREFIX_BYTES)
        self._cached: list[int] = []
        """The tokens whose keys and values the session's cache holds."""

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        begin: str = "",
        stop: Callable[[], bool] = never,
        watch: Watch | None = None,
    ) -> OnnxGeneration:
        """Starts on the assistant's turn after `messages`; see the protocol."""
        look = self._look(messages, watch) if watch and self._session.looks else None
        prompt = self._prompt(messages, begin)
        made = OnnxGeneration(len(prompt))
        limit = min(max_tokens, self._session.capacity - len(prompt))
        # Sentences that stand on lines of their own are copied one behind the other: other tokens.
        flowing = self._chat.encode(_NEXT_SENTENCE.sub(" ", messages[-1].content))

        def work() -> Iterator[str]:
            with self._lock:
                yield from self._decode(
                    prompt, flowing, limit, lambda: made.left or stop(), made, look
                )

        threading.Thread(target=made._write, args=[work], daemon=True).start()
        return made

    def option_logprobs(
        self, messages: Sequence[Message], options: Sequence[str], *, begin: str = ""
    ) -> list[float]:
        """The natural logarithm of each option's probability as the next text."""
        prompt = self._prompt(messages, begin)
        scores = []
        with self._lock:
            logits, cached = self._prefill(prompt, never)
            assert logits is not None
            if cached < len(prompt) - 1:
                self._remember(prompt)
            first = logits[-1].copy()  # the next run overwrites it
            for option in options:
                ids = self._chat.encode(option)
                rows = [first]
                if len(ids) > 1:
                    rows += list(self._run(ids[:-1], len(prompt), len(ids) - 1))
                scores.append(
                    float(sum(_log_softmax(row)[i] for row, i in zip(rows, ids, strict=True)))
                )
        return scores

    def keep(self, messages: Sequence[Message]) -> None:
        """Reads messages that many prompts will start with, and remembers them for good."""
        ids = self._chat.prompt(messages, reply=False)
        with self._lock:
            self._prefill(ids, never)
            self._remember(ids, keep=True)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, without special ones."""
        return self._chat.count(text)

    @property
    def waiting(self) -> int:
        """Calls that wait for their turn."""
        return self._lock.waiting

    def _prompt(self, messages: Sequence[Message], begin: str) -> list[int]:
        prompt = self._chat.prompt(messages, begin)
        if len(prompt) >= self._session.capacity:
            raise FootnoteError(
                f"The prompt has {len(prompt)} tokens, and the model reads {self._session.capacity} "
                "at most; ask a shorter question or send fewer passages."
            )
        return prompt

    def _decode(
        self,
        prompt: list[int],
        likely: list[int],
        limit: int,
        stop: Callable[[], bool],
        made: OnnxGeneration,
        look: Look | None,
    ) -> Iterator[str]:
        logits, made.cached_tokens = self._prefill(prompt, stop, look)
        if logits is None:
            made.ending = "stopped"
            return
        made.state = self._session.state
        made.looks = look.result() if look else None
        try:
            lookup = Lookup([*prompt, *likely])
            yield from self._write(prompt, logits, lookup, limit, stop, made)
        finally:  # nobody waits for a copy of the cache any more
            # What is looked from is read anew even where all before it was remembered.
            if made.cached_tokens < (look.first if look else len(prompt) - 1):
                self._remember(prompt)

    def _write(
        self,
        prompt: list[int],
        logits: np.ndarray,
        lookup: Lookup,
        limit: int,
        stop: Callable[[], bool],
        made: OnnxGeneration,
    ) -> Iterator[str]:
        """The turn's text behind a prompt that has been read."""
        text = self._chat.stream(prompt[-1])
        answer: list[int] = []
        seen: set[tuple[int, ...]] = set()
        fresh = [int(logits[-1].argmax())]
        while True:
            for i, token in enumerate(fresh):
                if token in self._chat.end_ids:
                    made.ending, fresh = "end", fresh[:i]
                    break
                if made.output_tokens + i == limit:
                    made.ending, fresh = "length", fresh[:i]
                    break
            answer += fresh
            made.output_tokens = len(answer)
            piece = text.add(fresh)
            if piece:
                yield piece
            if made.ending is None and len(answer) == limit:
                made.ending = "length"
            if made.ending is None and _repeats(answer, len(fresh), seen):
                made.ending = "repetition"
            if made.ending is None and stop():
                made.ending = "stopped"
            if made.ending is not None:
                return
            lookup.add(fresh)
            room = min(self._guesses, limit - len(answer) - 1)
            guesses = lookup.guess(room) if room > 0 else []
            start = len(prompt) + len(answer) - 1
            rows = self._run([answer[-1], *guesses], start, 1 + len(guesses))
            choices = rows.argmax(axis=1).tolist()
            right = common_prefix(guesses, choices)
            fresh = choices[: right + 1]

    def _look(self, messages: Sequence[Message], watch: Watch) -> Look | None:
        places = self._chat.places(messages, [watch.question, *watch.sentences])
        return Look(*places) if places else None

    def _prefill(
        self, prompt: list[int], stop: Callable[[], bool], look: Look | None = None
    ) -> tuple[np.ndarray | None, int]:
        """Logits of the prompt's last token, None when stopped; and the tokens that were cached."""
        # What is asked for is run in any case: the last token for its logits, the question's looks.
        wanted = prompt[: look.first if look else -1]
        cached = common_prefix(self._cached, wanted)
        prefix, shared = self._prefixes.find(wanted)
        if prefix is not None and shared > cached:
            self._cached = []
            self._session.write_cache(prefix.cache[:, :, :shared])
            self._cached = list(prefix.ids[:shared])
            cached = shared
        logits = None
        size = 2 * _PIECE if len(prompt) - cached > _LONG else _PIECE
        for start in range(cached, len(prompt), size):
            if stop():
                return None, cached
            logits = self._run(prompt[start : start + size], start, 1)
            end = min(start + size, len(prompt))
            if look and end > look.first:
                rows = min(end - look.first, end - start)
                look.add(self._session.looked_at(rows, end, look.sentences))
        return logits, cached

    def _remember(self, prompt: list[int], *, keep: bool = False) -> None:
        """Stores the cache of a prompt that has just been read."""
        cache = self._session.read_cache(0, len(prompt))
        self._prefixes.add(Prefix(tuple(prompt), cache), keep=keep)

    def _run(self, ids: Sequence[int], start: int, logits: int) -> np.ndarray:
        # Should the run fail, what lies behind `start` is unknown.
        del self._cached[start:]
        found = self._session.run(ids, start, logits)
        self._cached += ids
        return found


def _repeats(answer: list[int], fresh: int, seen: set[tuple[int, ...]]) -> bool:
    """Whether one of the runs that end in the last `fresh` tokens has been there before."""
    again = False
    for end in range(len(answer) - fresh + 1, len(answer) + 1):
        if end >= _REPEAT:
            run = tuple(answer[end - _REPEAT : end])
            again = again or run in seen
            seen.add(run)
    return again


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())
