import numpy as np

from rag.search.search import PER_PAGE, Searcher, _highest
from tests.words import WordEncoder, chunk, stored

FALCON = chunk("The Millenium Falcon is a fast ship. Han flies it.", "falcon")
BREAD = chunk("Bread needs flour and water. It bakes for an hour.", "bread")
CACHE = chunk("A cache keeps keys and values. It saves work.", "cache")
OTHERS = [
    chunk(f"Filler about subject{i} and matter{i}. More on subject{i}.", f"p{i}") for i in range(8)
]


def searcher(*chunks: object) -> Searcher:
    return Searcher(stored([*chunks]), WordEncoder())  # type: ignore[list-item]


def test_the_right_spelling_finds_a_page_that_misspells_and_says_how() -> None:
    found = searcher(FALCON, BREAD, *OTHERS).search("What is Millennium?", 3, "en")
    assert found.hits[0].chunk is FALCON
    assert [(b.asked, b.found) for b in found.bridges] == [("Millennium", "millenium")]


def test_a_misspelt_question_finds_the_page_that_spells_rightly() -> None:
    found = searcher(BREAD, CACHE, *OTHERS).search("how is braed baked", 3, "en")
    assert found.hits[0].chunk is BREAD


def test_spanish_without_accents_finds_spanish_with_them() -> None:
    spanish = chunk("La cuantización reduce el tamaño.", "cuantizacion", "es")
    found = searcher(BREAD, spanish, *OTHERS).search("que es la cuantizacion", 3, "es")
    assert found.hits[0].chunk is spanish


def test_one_page_cannot_crowd_out_the_rest() -> None:
    crowd = [
        chunk(f"Bread with flour, recipe {i}. Bread bakes.", "bread", id=f"b{i}") for i in range(6)
    ]
    found = searcher(*crowd, CACHE, *OTHERS).search("bread flour recipe", 5, "en")
    assert sum(hit.chunk.page == crowd[0].page for hit in found.hits) == PER_PAGE
    assert len(found.hits) == 5


def test_of_two_language_versions_the_question_language_is_kept() -> None:
    english = chunk("Tokens and cache.", "en/a", "en", alternates=("https://x.example/es/a",))
    spanish = chunk("Tokens y cache.", "es/a", "es", alternates=("https://x.example/en/a",))
    for language, kept in (("en", english), ("es", spanish)):
        hits = searcher(english, spanish, *OTHERS).search("tokens cache", 3, language).hits
        assert kept in [hit.chunk for hit in hits]
        assert len({english.id, spanish.id} & {hit.chunk.id for hit in hits}) == 1


def test_excluded_pages_are_as_if_they_were_not_there() -> None:
    both = searcher(FALCON, BREAD, *OTHERS)
    found = both.search("Millenium Falcon", 3, "en", excluding=frozenset({FALCON.page}))
    assert FALCON not in [hit.chunk for hit in found.hits]
    assert found.hits


def test_asking_for_more_than_there_is_gives_what_there_is() -> None:
    assert len(searcher(FALCON).search("falcon", 5, "en").hits) == 1


def test_the_highest_scores_are_the_candidates_and_zeros_never() -> None:
    scores = np.array([0, 3, 1, 0, 2, 5, 4], np.float32)
    assert set(_highest(scores, 3)) == {1, 5, 6}
    assert set(_highest(scores, 50)) == {1, 2, 4, 5, 6}
    assert _highest(np.zeros(4, np.float32), 2) == []
