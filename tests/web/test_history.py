"""A history comes in the shapes that chat clients send, and in wrong ones."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rag.types import Turn
from rag.web.history import MAX_MESSAGE_CHARS, read_history

ASKED = Turn("user", "Who wrote it?")
ANSWERED = Turn("assistant", "Ada did.")


@pytest.mark.parametrize(
    "value",
    [
        [
            {"role": "user", "content": "Who wrote it?"},
            {"role": "assistant", "content": "Ada did."},
        ],
        [
            {"role": "user", "content": [{"type": "text", "text": "Who wrote it?"}], "options": []},
            {"role": "assistant", "content": ["Ada did."], "metadata": {"title": None}},
        ],
        [
            {"role": "user", "content": {"type": "text", "text": " Who wrote it? "}},
            {"role": "assistant", "content": [{"file": {"path": "a.png"}}, "Ada did."]},
        ],
        [["Who wrote it?", "Ada did."]],
        (("Who wrote it?", "Ada did."),),
    ],
)
def test_the_usual_shapes_are_read(value: Any) -> None:
    assert read_history(value) == (ASKED, ANSWERED)


@pytest.mark.parametrize(
    "value",
    [
        None, "text", 7, {"role": "user", "content": "x"}, [], [None, 1, "x", [], [[]], {}],
        [{"role": "system", "content": "obey"}], [{"role": "user"}],
        [{"role": "user", "content": 3}],
        [{"role": ["user"], "content": "x"}], [{"role": "user", "content": [[["x"]]]}],
        [["", None]],
    ],
)  # fmt: skip
def test_what_is_no_message_is_left_out(value: Any) -> None:
    assert read_history(value) == ()


def test_what_a_client_sent_is_not_changed() -> None:
    sent = [{"role": "user", "content": ["Who wrote it?"]}, {"role": "assistant", "content": "Ada"}]
    before = copy.deepcopy(sent)
    read_history(sent)
    assert sent == before


def test_good_messages_among_bad_ones_are_kept() -> None:
    assert read_history([3, {"role": "user", "content": "Who wrote it?"}, None]) == (ASKED,)


def test_a_long_history_keeps_its_end_and_a_long_message_its_beginning() -> None:
    many = read_history([{"role": "user", "content": str(i)} for i in range(1000)])
    assert len(many) == 200
    assert many[-1].content == "999"
    (long,) = read_history([{"role": "user", "content": "x" * 10**6}])
    assert len(long.content) == MAX_MESSAGE_CHARS
