"""Whether a run of capitals in English text is another person, and of which gender.

Only as much as telling "she" from "she" needs: titles, family words, common first names, and what
the same page says of a surname elsewhere.
"""

from __future__ import annotations

import re
from typing import Literal

PersonGender = Literal["m", "f", "?"]

RELATIONS: dict[str, PersonGender] = {
    **dict.fromkeys(
        """mother sister wife daughter grandmother aunt niece stepmother stepdaughter half-sister
        girlfriend fiancée widow governess housekeeper mistress queen princess countess duchess
        woman lady heiress baroness empress actress nun goddaughter""".split(), "f"),
    **dict.fromkeys(
        """father brother husband son grandfather uncle nephew stepfather stepson half-brother
        boyfriend fiancé widower king prince earl duke man gentleman baron emperor headmaster
        priest bishop pope monk""".split(), "m"),
    **dict.fromkeys(
        """tutor teacher professor friend colleague assistant doctor physician lawyer biographer
        partner director editor publisher student cousin neighbour neighbor judge artist painter
        guest pupil child physicist mathematician philosopher president minister officer captain
        manager producer musician singer actor writer poet historian critic author""".split(), "?"),
}  # fmt: skip
_TITLES: dict[str, PersonGender] = {
    **dict.fromkeys("Mr Mr. Sir Lord King Prince Father Brother Count Duke Earl Baron Pope".split(), "m"),
    **dict.fromkeys("Mrs Mrs. Ms Ms. Miss Lady Queen Princess Madame Dame Sister Countess".split(), "f"),
    **dict.fromkeys("Dr Dr. Professor Prof. Colonel Captain General President Rev. Bishop".split(), "?"),
}  # fmt: skip
_MEN = frozenset(
    """Adam Adrian Alan Albert Aleister Alex Alexander Alfred Allan Allen Alonzo Andrew Andreas Anthony
    Antoine Antonio Arnold Arthur Augustus Barry Ben Benjamin Bernard Bertrand Bill Bob Brian Bruce
    Carl Carlos Charles Charlie Chris Christian Christopher Claude Clive Craig Daniel Dave David Dennis
    Derek Dominic Donald Doron Doug Douglas Duncan Edgar Edmund Eduard Edward Edwin Emilio Enrico Eric
    Ernest Erwin Felix Ferdinand Francis Francisco Frank Franz Fred Frederick Friedrich Gary Geoffrey
    Georg George Gerald Gilbert Giovanni Glyn Gordon Graham Greg Gustav Hans Harold Harry Heinrich Henri
    Henry Herbert Howard Hugh Hugo Ian Ignatius Isaac Ivan Jack Jacob Jacques Jakob James Jason Jean
    Jeff Jeremy Jim Joe Johann Johannes John Jonathan Jorge Jose Joseph José Juan Julian Julius Karl
    Keith Ken Kenneth Kevin Konrad Kurt Larry Lawrence Leo Leon Leonard Leonhard Leopold Lewis Louis
    Luigi Luis Luke Marcel Marcus Marian Mark Martin Matthew Maurice Max Michael Miguel Mike Neil
    Nicholas Nick Niels Nigel Nikola Noel Norman Oliver Oscar Otto Pablo Patrick Paul Pedro Percy Pete
    Peter Phil Philip Philipp Pierre Ralph Ramón Raymond Reginald Rene Richard Robert Robin Roger Roland
    Ron Ronald Roy Rudolf Rupert Samuel Santiago Sebastian Sidney Simon Stanley Stephen Steve Steven
    Stuart Theodore Thomas Tim Timothy Tom Tommy Tony Victor Vincent Walter Werner Wilfrid Wilhelm Will
    William Winston Wolfgang Woronzow""".split()
)  # fmt: skip
_WOMEN = frozenset(
    """Ada Agnes Alice Amanda Amelia Amy Andrea Angela Ann Anna Annabella Anne Annie Antonia Barbara
    Beatrice Betty Brigitte Carmen Caroline Carol Catherine Charlotte Christina Christine Clara Claire
    Constance Deborah Diana Dora Doris Dorothy Edith Eleanor Elisabeth Eliza Elizabeth Ella Ellen Elsa
    Emilia Emily Emma Ethel Eva Evelyn Fiona Florence Frances Françoise Gertrude Grace Greta Hannah
    Harriet Helen Helena Hilda Ida Inge Irene Isabel Isabella Jane Janet Jean-Anne Jennifer Jessica Jo
    Joan Joanna Josephine Judith Judy Julia Julie Karen Kate Katharina Katharine Katherine Kathleen
    Laura Lily Linda Lisa Louisa Louise Lucy Lydia Margaret Margarete Margarethe Maria Marian-Anne Marie
    Marion Martha Mary Matilda Maud Mileva Millicent Monica Nancy Natalie Nora Olga Olivia Patricia
    Pauline Phoebe Rachel Rebecca Rosa Rosalind Rose Ruth Sally Sara Sarah Silveria Sophia Sophie Stella
    Susan Susanna Sylvia Teresa Theresa Ursula Vera Victoria Violet Virginia Wendy""".split()
)  # fmt: skip
_NO_PERSON = frozenset(
    """University College School Institute Institution Society Academy Association Museum Library Park
    Street Road Avenue Place Terrace House Hall Palace Castle Abbey Church Cathedral Hospital Station
    Bridge Engine Machine Act Law War Battle Prize Award Medal Office Department Ministry Committee
    Council Company Press Journal Club Laboratory Laboratories Labs Bank Service Empire Kingdom States
    Republic Union County Day Test Theory Theorem Order Court Party Army Navy Force Strike Ocean Sea
    River Mountain Island Islands Islas North South East West New Old San Saint St Santa Los Las Great
    Royal British English French German American January February March April May June July August
    September October November December Note Table Part
    Chapter Book Volume Monday Tuesday Wednesday Thursday Friday Saturday Sunday""".split()
)
_NAME = r"(?:(?:Mrs?|Ms|Dr|Prof|Rev|St|[A-ZÀ-Þ])\.|[A-ZÀ-Þ][\w'’-]*)"
_RUN = re.compile(rf"{_NAME}(?: (?:(?:de|von|van|der|di|da|al|ibn|bin) )*{_NAME})*")
_PLACE_BEFORE = re.compile(r"\b(?:at|in|from|near|to|the|of|for)\s+$")


class People:
    """What one page's text says of the other persons in it."""

    def __init__(self, text: str, subject_names: frozenset[str]) -> None:
        self._subject = subject_names
        self._surnames: dict[str, PersonGender] = {}
        for run in _RUN.finditer(text):
            words = _bare(run.group()).split()
            gender = _first_name_gender(words)
            if len(words) > 1 and gender and words[-1] not in _NO_PERSON | subject_names:
                self._surnames.setdefault(words[-1], gender)

    def gender(self, run: str, before: str) -> PersonGender | None:
        """Of the person that a run of capitals names; None when it names no person.

        `before` is the sentence up to the run.
        """
        words = _bare(run).split()
        if not words or words[-1] in _NO_PERSON:
            return None
        if words[0] in _TITLES:
            return _TITLES[words[0]] if len(words) > 1 or words[0] in {"Lord", "Lady"} else None
        named = _first_name_gender(words)
        if named:
            return named
        if words[-1] in self._surnames:
            return self._surnames[words[-1]]
        short = any(len(w) < 3 for w in words)
        unnamed = len(words) < 2 or short or set(words) & _NO_PERSON or _PLACE_BEFORE.search(before)
        return None if unnamed else "?"


def runs(text: str) -> list[re.Match[str]]:
    """The runs of capitalised words in a sentence."""
    return list(_RUN.finditer(text))


def _first_name_gender(words: list[str]) -> PersonGender | None:
    if words and words[0] in _TITLES and len(words) > 1:
        return _TITLES[words[0]]
    if words and words[0] in _WOMEN:
        return "f"
    return "m" if words and words[0] in _MEN else None


def _bare(run: str) -> str:
    return re.sub(r"['’]s\b|[.'’]$", "", run)
