"""A text's language doesn't decide what is near; its meaning does."""

import numpy as np
from numpy.typing import NDArray

from rag.search.balance import Balance, question_means

SUBJECTS, SIZE = 12, 48
random = np.random.default_rng(7)
MEANING = random.normal(size=(SUBJECTS, SIZE))
SPOKEN = {"en": random.normal(size=SIZE) * 3, "es": random.normal(size=SIZE) * 3}


def said(subjects: list[int], language: str) -> NDArray[np.float32]:
    """Texts about subjects in a language, most of whose vector is the language."""
    rows = MEANING[subjects] + SPOKEN[language]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


ENGLISH, SPANISH = list(range(SUBJECTS)), list(range(1, SUBJECTS))
CHUNKS = np.vstack((said(ENGLISH, "en"), said(SPANISH, "es")))
LANGUAGES = ["en"] * len(ENGLISH) + ["es"] * len(SPANISH)
QUESTIONS = {
    language: np.array(mean, dtype=np.float32)
    for language, mean in question_means(CHUNKS, LANGUAGES).items()
}


def test_a_question_finds_the_one_text_about_its_subject_in_the_other_language() -> None:
    asked = said([0], "es")[0]
    assert LANGUAGES[int(np.argmax(CHUNKS @ asked))] == "es"  # without balance: any Spanish text
    balance = Balance(CHUNKS, LANGUAGES, QUESTIONS)
    question = balance.question(asked, "es")
    cosines = {
        language: balance.cosines(question, said(subjects, language), language)
        for language, subjects in (("en", ENGLISH), ("es", SPANISH))
    }
    assert int(np.argmax(cosines["en"])) == 0
    assert cosines["en"][0] > max(cosines["es"])


def test_one_language_alone_needs_no_balance_and_a_few_texts_are_none() -> None:
    assert not Balance(CHUNKS[:SUBJECTS], LANGUAGES[:SUBJECTS], {}).needed
    few = SUBJECTS + 3
    assert not Balance(CHUNKS[:few], LANGUAGES[:few], {}).needed
    assert Balance(CHUNKS, LANGUAGES, {}).needed


def test_a_question_of_an_unknown_language_stays_as_it_is() -> None:
    asked = said([0], "es")[0]
    assert np.array_equal(Balance(CHUNKS, LANGUAGES, {}).question(asked, "es"), asked)
