"""The language model on a server: streams, begun turns, keys, and every way to be let down."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag.llm.served import ServedLanguageModel
from rag.settings import Settings
from rag.types import FootnoteError, Message, Unavailable
from tests.llm.chat_server import COUNTED, Behaviour, chat_server

ASK = [Message("system", "Be brief."), Message("user", "Count.")]


@pytest.fixture
def does() -> Behaviour:
    return Behaviour()


@pytest.fixture
def settings(does: Behaviour) -> Iterator[Settings]:
    with chat_server(does) as address:
        yield Settings(llm=address, llm_timeout=2)


def text(model: ServedLanguageModel, begin: str = "", most: int = 50) -> str:
    return "".join(model.generate(ASK, max_tokens=most, begin=begin))


def test_the_reply_streams_in_pieces_and_the_counts_are_the_servers(settings: Settings) -> None:
    made = ServedLanguageModel(settings).generate(ASK, max_tokens=50)
    pieces = list(made)
    assert len(pieces) == 10
    assert "".join(pieces) == made.text == COUNTED
    assert (made.ending, made.prompt_tokens, made.cached_tokens) == ("end", 77, 33)
    assert made.output_tokens == 10


def test_without_usage_the_prompts_size_is_estimated(settings: Settings, does: Behaviour) -> None:
    does.usage = False
    made = ServedLanguageModel(settings).generate(ASK, max_tokens=50)
    list(made)
    assert 2 <= made.prompt_tokens <= 10
    assert made.output_tokens == 10


def test_the_limit_ends_the_turn(settings: Settings) -> None:
    made = ServedLanguageModel(settings).generate(ASK, max_tokens=3)
    assert "".join(made) == "one two three"
    assert made.ending == "length"


def test_a_begun_turn_goes_on_where_it_was_left(settings: Settings, does: Behaviour) -> None:
    assert text(ServedLanguageModel(settings), "one two").split() == COUNTED.split()[2:]
    assert does.asked[-1]["continue_final_message"] is True


def test_a_server_that_needs_no_word_for_it_gets_none(settings: Settings, does: Behaviour) -> None:
    does.rejects_unknown = True
    assert text(ServedLanguageModel(settings), "one two").split() == COUNTED.split()[2:]
    assert "continue_final_message" not in does.asked[-1]


def test_a_server_that_starts_anew_counts_from_behind_the_beginning(
    settings: Settings, does: Behaviour
) -> None:
    does.continues = False
    assert text(ServedLanguageModel(settings), "one two").split() == COUNTED.split()[2:]


def test_a_reply_that_does_not_take_the_beginning_up_is_no_turn(
    settings: Settings, does: Behaviour
) -> None:
    does.continues = False
    assert text(ServedLanguageModel(settings), "Something else") == ""
    assert text(ServedLanguageModel(settings), "¿") == COUNTED


def test_marks_of_turns_in_a_page_are_broken_up(settings: Settings, does: Behaviour) -> None:
    said = "x <|im_end|> </s> [/INST] <end_of_turn> <div> a[i]"
    list(ServedLanguageModel(settings).generate([Message("user", said)], max_tokens=1))
    sent = does.asked[-1]["messages"][0]["content"]
    assert sent == "x < |im_end|> < /s> [ /INST] < end_of_turn> <div> a[i]"


def test_leaving_the_loop_closes_the_connection(settings: Settings, does: Behaviour) -> None:
    model = ServedLanguageModel(settings)
    does.silent_after = 3
    for _ in model.generate(ASK, max_tokens=50):
        break
    assert does.left.wait(2)


def test_stop_is_heeded_while_the_server_is_silent(settings: Settings, does: Behaviour) -> None:
    model = ServedLanguageModel(settings)
    does.silent_after = 0
    started = time.monotonic()
    made = model.generate(ASK, max_tokens=50, stop=lambda: time.monotonic() - started > 0.3)
    assert list(made) == []
    assert time.monotonic() - started < 1.5
    assert made.ending == "stopped"
    assert does.left.wait(2)


def test_the_only_model_needs_no_name(settings: Settings) -> None:
    assert ServedLanguageModel(settings).name == "small"


def test_with_several_models_one_must_be_named(settings: Settings, does: Behaviour) -> None:
    does.models = ("small", "large")
    with pytest.raises(FootnoteError, match=r"small, large\); set RAG_LLM_MODEL"):
        ServedLanguageModel(settings)
    with pytest.raises(FootnoteError, match="has no model 'huge'"):
        ServedLanguageModel(replace(settings, llm_model="huge"))
    assert ServedLanguageModel(replace(settings, llm_model="large")).name == "large"
    assert does.asked[-1]["model"] == "large"


def test_the_key_is_sent_and_never_told(
    settings: Settings, does: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    does.key = "sk-secret"
    right = replace(settings, llm_api_key="sk-secret")
    with caplog.at_level(logging.DEBUG):
        assert text(ServedLanguageModel(right)) == COUNTED
        with pytest.raises(Unavailable, match=r"refuses the key \(401\); set RAG_LLM_API_KEY") as e:
            ServedLanguageModel(replace(settings, llm_api_key="sk-wrong"))
    assert set(does.keys[:3]) == {"Bearer sk-secret"}
    told = f"{caplog.text} {right} {e.value} {e.value.__cause__}"
    assert "sk-" not in told


def test_an_address_with_a_password_is_refused_without_repeating_it(settings: Settings) -> None:
    with pytest.raises(FootnoteError, match="RAG_LLM_API_KEY") as error:
        ServedLanguageModel(replace(settings, llm="http://me:hush@127.0.0.1:1/v1"))
    assert "hush" not in str(error.value)


def test_a_server_that_is_down_is_one_sentence() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(Unavailable, match=r"can't be reached .*; start it") as error:
            ServedLanguageModel(Settings(llm=address))
    assert f"{address}/v1" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_server_of_another_kind_is_one_sentence(settings: Settings) -> None:
    with pytest.raises(Unavailable, match="answers 404"):
        ServedLanguageModel(replace(settings, llm=f"{settings.llm}/other"))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"breaks_after": 3}, "broke off"),
        ({"error_after": 3}, "the GPU is gone"),
        ({"status": 500}, "answers 500: out of memory"),
    ],
)
def test_a_turn_that_breaks_off_raises_what_happened_and_the_next_one_works(
    settings: Settings, does: Behaviour, fault: dict[str, int], says: str
) -> None:
    model = ServedLanguageModel(settings)
    for name, value in fault.items():
        setattr(does, name, value)
    with pytest.raises(Unavailable, match=says) as error:
        text(model)
    assert "\n" not in str(error.value)
    for name in fault:
        setattr(does, name, None)
    assert text(model) == COUNTED


def test_a_server_that_falls_silent_is_given_up(settings: Settings, does: Behaviour) -> None:
    model = ServedLanguageModel(replace(settings, llm_timeout=1))
    does.silent_after = 2
    does.reply = lambda messages: COUNTED
    started = time.monotonic()
    with pytest.raises(Unavailable, match="fell silent"):
        text(model)
    assert time.monotonic() - started < 5


def test_how_probable_a_text_is_cannot_be_asked(settings: Settings) -> None:
    with pytest.raises(FootnoteError, match="can't tell how probable"):
        ServedLanguageModel(settings).option_logprobs(ASK, ["yes", "no"])
