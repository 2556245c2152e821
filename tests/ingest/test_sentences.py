"""Sentences of English and Spanish text, verbatim."""

# ruff: noqa: E501 (markup and sentences are easier to compare on one line)

from __future__ import annotations

import random

import pytest

from rag.ingest.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four… Five.", ["One.", "Two!", "Three?", "Four…", "Five."]),
        ("Dr. Smith and Mrs. Jones met at 5 p.m. on Monday. They talked.", ["Dr. Smith and Mrs. Jones met at 5 p.m. on Monday.", "They talked."]),
        ("It cost $3.50, i.e. 2.1 % more, e.g. in the U.S. army. Then it fell.", ["It cost $3.50, i.e. 2.1 % more, e.g. in the U.S. army.", "Then it fell."]),
        ("He left the U.S. She stayed.", ["He left the U.S.", "She stayed."]),
        ("Apples, pears, etc. Then came winter.", ["Apples, pears, etc.", "Then came winter."]),
        ("J. R. R. Tolkien wrote it. See Fig. 3 and p. 12.", ["J. R. R. Tolkien wrote it.", "See Fig. 3 and p. 12."]),
        ("“Stop.” He did. (It was late.) Then he slept.", ["“Stop.”", "He did.", "(It was late.)", "Then he slept."]),
        ("The answer is no. We know.", ["The answer is no.", "We know."]),
        ("Use Python 3.11. max_tokens is 5. f(x) returns.", ["Use Python 3.11.", "max_tokens is 5.", "f(x) returns."]),
        ("Call numpy.linalg.norm(x) first. Then see example.com/a.b for more.", ["Call numpy.linalg.norm(x) first.", "Then see example.com/a.b for more."]),
        ("El Sr. Pérez vive en EE.UU. desde 1990. ¿Por qué? ¡Quién sabe! La pág. 3 lo dice.", ["El Sr. Pérez vive en EE.UU. desde 1990.", "¿Por qué?", "¡Quién sabe!", "La pág. 3 lo dice."]),
        ("Nació en 1852. Murió en 1934.", ["Nació en 1852.", "Murió en 1934."]),
        ("«Ya basta». Se fue.", ["«Ya basta».", "Se fue."]),
        ("Let $x. Y$ be it. So $5.50 and $6. Done.", ["Let $x. Y$ be it.", "So $5.50 and $6.", "Done."]),
        ("- First item. With more.\n- Second\n  1. Inner", ["First item.", "With more.", "Second", "Inner"]),
        ("> A quotation. In two.", ["A quotation.", "In two."]),
        ("Year: 1999 | Note: He left. He came back.", ["Year: 1999 | Note: He left. He came back."]),
        ("## A heading. Not text.\n\nText.", ["Text."]),
        ("Before.\n\n```c\nint a; // one. Two.\n\n# three\n```\n\nAfter.", ["Before.", "```c\nint a; // one. Two.\n\n# three\n```", "After."]),
        ("A line\nand another", ["A line", "and another"]),
        ("", []),
        ("…", ["…"]),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_every_sentence_is_a_part_of_the_text_and_no_letter_is_lost() -> None:
    chance = random.Random(7)
    pieces = [
        "word",
        "Word",
        ".",
        "!",
        " ",
        "\n",
        "$",
        "```\n",
        "- ",
        "3.",
        "e.g.",
        "¿",
        "”",
        "#",
        "> ",
        " | ",
    ]
    for _ in range(2000):
        text = "".join(chance.choices(pieces, k=chance.randint(1, 40)))
        position = 0
        for sentence in sentences(text):
            position = text.index(sentence, position) + len(sentence)
            assert sentence == sentence.strip()
        if "#" not in text:
            joined = "".join(sentences(text))
            assert joined.count("ord") == text.count("ord")


def test_a_chat_tag_after_a_full_stop_ends_its_sentence() -> None:
    text = "End with Arrr.<|im_end|> Tickets cost 14 crowns."
    assert sentences(text) == ["End with Arrr.<|im_end|>", "Tickets cost 14 crowns."]
