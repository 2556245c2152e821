"""Puts a conversation into the form that the model was trained on, and into tokens."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

from rag.types import Message


class Chat:
    """The tokenizer and chat template of a folder that `export_llm` wrote."""

    def __init__(self, folder: Path) -> None:
        described = json.loads((folder / "chat.json").read_text(encoding="utf-8"))
        self.end_ids = frozenset(described["end_ids"])
        self.context: int = described["context"]
        self._names = {key: described[key] for key in ("bos_token", "eos_token")}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._special = [
            token.content
            for token in self._tokenizer.get_added_tokens_decoder().values()
            if token.special
        ]
        # The template is part of a model that anyone may have made.
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self._template = environment.from_string(described["template"])

    def prompt(
        self, messages: Sequence[Message], begin: str = "", *, reply: bool = True
    ) -> list[int]:
        """Tokens of the conversation and, with `reply`, of the start of the assistant's turn.

        Special tokens that stand in a message's text are broken up: what a page or a reader says
        can't end its own turn.
        """
        rendered = self._rendered(messages, reply=reply)
        ids = self._tokenizer.encode(rendered + self._plain(begin), add_special_tokens=False).ids
        return list(ids)

    def places(
        self, messages: Sequence[Message], spans: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int]] | None:
        """The tokens of `prompt` that make up stretches of the last message's text, as (first, end).

        None where the template doesn't give the message as it is.
        """
        rendered, content = self._rendered(messages, reply=True), messages[-1].content
        base = rendered.rfind(self._plain(content))
        if base < 0:
            return None
        offsets = self._tokenizer.encode(rendered, add_special_tokens=False).offsets
        starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
        found = []
        for start, end in spans:
            first, last = (base + len(self._plain(content[:cut])) for cut in (start, end))
            found.append((bisect_right(ends, first), bisect_left(starts, last)))
        return found

    def _rendered(self, messages: Sequence[Message], *, reply: bool) -> str:
        return str(
            self._template.render(
                messages=[{"role": m.role, "content": self._plain(m.content)} for m in messages],
                add_generation_prompt=reply,
                **self._names,
            )
        )

    def count(self, text: str) -> int:
        """Tokens of a text, without special ones."""
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """Tokens of a text that goes on, without special ones."""
        return list(self._tokenizer.encode(self._plain(text), add_special_tokens=False).ids)

    def stream(self, last: int) -> TextStream:
        """What turns tokens into text; `last` is the token before the first."""
        return TextStream(self._tokenizer, last)

    def _plain(self, text: str) -> str:
        for token in self._special:
            if token in text:
                text = text.replace(token, f"{token[:1]} {token[1:]}")
        return text


class TextStream:
    """Text of tokens as they come; a character that spans tokens comes with its last."""

    def __init__(self, tokenizer: Tokenizer, last: int) -> None:
        self._tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=True)
        self._stream.step(tokenizer, last)  # decoders drop the blank before a text's first token

    def add(self, ids: Sequence[int]) -> str:
        """The text that `ids` complete."""
        return "".join(self._stream.step(self._tokenizer, token) or "" for token in ids)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
