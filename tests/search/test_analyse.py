from rag.search import analyse


def test_accents_and_case_are_folded_so_that_unaccented_spanish_is_found() -> None:
    assert analyse.fold("Cuantización") == analyse.fold("cuantizacion")
    assert analyse.fold("el Niño's") == "el nino"


def test_code_words_stay_whole_and_give_their_parts() -> None:
    found = analyse.terms("max_output_tokens", "en")
    assert found[0].startswith("max_output_token")
    assert {"max", "output", "token"} <= set(found)


def test_code_words_are_told_from_plain_words() -> None:
    kinds = {w.text: w.is_code for w in analyse.words("useState max_len C++ Python e5-small")}
    assert kinds == {
        "useState": True,
        "max_len": True,
        "C++": True,
        "Python": False,
        "e5-small": False,
    }


def test_numbers_are_one_word() -> None:
    assert [w.text for w in analyse.words("1,000 or 0.5")] == ["1,000", "or", "0.5"]


def test_words_of_the_question_frame_carry_nothing() -> None:
    asked = "Can you please tell me what the post says about chunking?"
    assert [w.text for w in analyse.content_words(asked)] == ["chunking"]
    asked = "¿Me puedes explicar qué dice el artículo sobre la cuantización?"
    assert [w.folded for w in analyse.content_words(asked)] == ["explicar", "cuantizacion"]


def test_rarity_runs_from_everyday_to_unknown() -> None:
    assert analyse.rarity("time") == 0
    assert analyse.rarity("quantisation") == 1
    assert 0 < analyse.rarity("pizza") < 1
