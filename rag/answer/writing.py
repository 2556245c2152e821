"""The text of an answer while the model writes it: whole sentences are checked and kept or held back."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from rag.answer.check import Checker, Support, Unsupported
from rag.answer.footnotes import Footnotes
from rag.ingest.sentences import sentences
from rag.types import Language

log = logging.getLogger(__name__)
_ONLY_MARKS = re.compile(r"[\W_]*\Z")


class Writing:
    """Takes the model's pieces; what has been checked stands in `footnotes`."""

    def __init__(
        self,
        checker: Checker,
        footnotes: Footnotes,
        language: Language,
        first: Callable[[str], Support | Unsupported] | None = None,
    ) -> None:
        """`first` decides what the first sentence becomes, in the checker's place; it is asked with
        an empty one where the model wrote none."""
        self.footnotes = footnotes
        self.withheld = 0
        """Sentences that the model wrote and the check kept back."""
        self.closed = False
        """Nothing of what comes is wanted any more."""
        self._checker = checker
        self._language = language
        self._pending = ""
        self._first = first

    @property
    def draft(self) -> str:
        """The sentence that is being written; empty once it has something that no passage has."""
        if self._pending and self._checker.may_go_on(self._pending):
            return self.footnotes.bare(self._pending).lstrip()
        return ""

    @property
    def is_over(self) -> bool:
        """Whether the model has begun to repeat itself; nothing new comes after that."""
        return self._checker.exhausted

    def add(self, piece: str) -> None:
        """Takes a piece of text, and settles the sentences that it completes."""
        whole, self._pending = _split(self._pending + piece, self._language)
        for sentence in whole:
            if not self.closed:
                self._settle(sentence)
        if self.closed:
            self._pending = ""

    def end(self) -> None:
        """The model's turn is over: what is pending is its last sentence."""
        rest, self._pending = self._pending, ""
        if not self.is_over and not self.closed:
            self._settle(rest)
        if self._first is not None and not self.closed:
            self._take("", self._first(""))

    def drop(self) -> None:
        """What is being written is not wanted any more, nor what comes."""
        self._pending = ""
        self.closed = True

    def _settle(self, sentence: str) -> None:
        bare = self.footnotes.bare(sentence).strip()
        if _ONLY_MARKS.match(bare):
            return
        decide, self._first = self._first or self._checker.check, None
        self._take(bare, decide(bare))

    def _take(self, sentence: str, result: Support | Unsupported) -> None:
        if isinstance(result, Support):
            self.footnotes.add(result)
        else:
            self.withheld += bool(sentence)
            log.debug("withheld (%s): %s", result.reason, sentence)

    def quote(self, passage: int, sentence: int) -> bool:
        """Adds a passage's own sentence; whether it holds as an answer."""
        result = self._checker.quote(passage, sentence)
        if isinstance(result, Support):
            self.footnotes.add(result)
            return True
        log.debug("not quoted (%s)", result.reason)
        return False


def _split(text: str, language: Language) -> tuple[list[str], str]:
    """The whole sentences at the front of a text that is still being written, and the rest.

    Inside an open code fence nothing is whole.
    """
    if text.count("```") % 2:
        return [], text
    found = sentences(text, language)
    if len(found) < 2:
        return [], text
    return found[:-1], text[text.rindex(found[-1]) :]
