"""English sentences about a person, turned to the first person: "He was born" → "I was born".

A pronoun is only turned when it can mean nobody else: the page's subject is who it is about as long
as no other person of the same gender is the subject of its clause or of the sentence before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.ingest.first_person.english_reference import (
    Clauses,
    Other,
    is_subject,
    means_subject,
    object_or_possessive,
)
from rag.ingest.first_person.english_words import (
    AFTER_OBJECT,
    AUXILIARY,
    CONTRACTED,
    KIN,
    NAMING,
    NO_VERB_S,
    OLD,
    OWN_ROLE,
    OWN_ROLES,
    PAST_OR_MODAL,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATE,
    TITLES,
    Word,
    first_form,
    polished,
    tokenise,
)
from rag.ingest.first_person.people import RELATIONS, People, runs
from rag.ingest.first_person.subject import Subject


class EnglishTurner:
    """Turns a page's sentences in their order; remembers who the last one was about."""

    def __init__(self, subject: Subject, text: str) -> None:
        self._subject = subject
        self._people = People(text, subject.names)
        self._pronouns = PRONOUNS[subject.gender]
        self._other_is_meant = False
        self._was_mentioned = True

    def new_paragraph(self) -> None:
        """A paragraph that begins with a pronoun means the page's subject."""
        self._other_is_meant = False
        self._was_mentioned = True

    def turn(self, sentence: str, *, is_first: bool = False) -> str | None:
        """The sentence in the first person; unchanged when it doesn't speak of the subject.

        None when it can't be turned safely. `is_first` marks the lead's first sentence.
        """
        if is_first and (opened := self._opening(sentence)):
            return opened
        found = self._read(sentence)
        if found is None:
            return None
        edits = found
        out, at = [], 0
        for start, end, text in sorted(edits):
            out += [sentence[at:start], text]
            at = end
        turned = "".join([*out, sentence[at:]])
        return polished(turned)

    def _opening(self, sentence: str) -> str | None:
        """ "Ann Lee (1900–1990) was a …" → "I, Ann Lee (1900–1990), was a …"."""
        verb = re.search(r"\)?,? (was|is) (?=an? |the |one )", sentence)
        if not sentence.startswith(self._subject.full_name) or not verb:
            return None
        name = sentence[: verb.start(1)].rstrip(" ,")
        said = "am" if verb[1] == "is" else "was"
        rest = self.turn("X" + sentence[verb.end(1) :])
        return None if rest is None else f"I, {name}, {said}{rest[1:]}"

    def _read(self, sentence: str) -> list[tuple[int, int, str]] | None:
        words = tokenise(sentence)
        others = self._others(sentence, words)
        names = self._own_names(sentence, words)
        own = [i for i, w in enumerate(words) if not w.quoted and w.lower in self._pronouns]
        contracted = [
            i for i, w in enumerate(words) if w.lower in CONTRACTED and self._is_own(w.lower)
        ]
        folded = sentence.lower()
        roles = re.search(f"{OWN_ROLES[self._subject.gender]}|{OWN_ROLE}", folded)
        was_other = self._other_is_meant and not (
            self._was_mentioned and not self._opens_with_pronoun(words)
        )
        first_own = min([*own, *contracted, *(i for i, _, _ in names)], default=None)
        self._remember(words, others, names, own, bool(roles), was_other)
        if first_own is None:
            return None if roles else []
        if roles:
            return None
        if names is not None and any(role == "?" for _, _, role in names):
            return None
        if own and was_other and not any(role == "nom" for _, _, role in names):
            return None
        rivals = [(i, o) for i, o in others if o.rivals(self._subject.gender)]
        edits: list[tuple[int, int, str]] = []
        clauses = Clauses(words, [*own, *contracted], names, others)
        for i, end, role in names:
            if role in ("keep", "?"):
                continue
            text = {"nom": "I", "obj": "me", "poss": "my"}[role]
            edits.append((words[i].start, words[end].end, text))
            if role == "nom" and not self._agree(words, end + 1, edits):
                return None
        for i in own:
            kind = self._pronouns[words[i].lower]
            if kind == "her":
                kind = object_or_possessive(words, i, clauses)
            if not means_subject(i, kind, words, rivals, names, own, clauses, self._pronouns):
                return None
            text = {"nom": "I", "obj": "me", "poss": "my", "own": "mine", "self": "myself"}[kind]
            edits.append((words[i].start, words[i].end, text))
            if kind == "nom" and not self._agree(words, i + 1, edits):
                return None
        for i in contracted:
            if rivals and rivals[0][0] < i:
                return None
            edits.append((words[i].start, words[i].end, CONTRACTED[words[i].lower]))
        return edits

    def _opens_with_pronoun(self, words: Sequence[Word]) -> bool:
        """Whether a sentence begins with a pronoun that could go on about another person."""
        kind = self._pronouns.get(words[0].lower) if words else None
        kin = len(words) > 1 and (words[1].lower in RELATIONS or words[1].lower in KIN)
        return kind is not None and not (kind in ("poss", "her") and kin)

    def _is_own(self, contracted: str) -> bool:
        return contracted.startswith("he" if self._subject.gender == "m" else "she")

    def _others(self, sentence: str, words: Sequence[Word]) -> list[tuple[int, Other]]:
        """The other persons of a sentence, by the word that their mention ends with."""
        found: dict[int, Other] = {}
        by_end = {w.end: i for i, w in enumerate(words)}
        for run in runs(sentence):
            bare = re.sub(r"['’]s$", "", run.group())
            if set(bare.split()) & self._subject.names and (
                len(bare.split()) == 1 or self._subject.name in bare
            ):
                continue
            if (
                run.start() == 0
                and len(bare.split()) > 1
                and bare.split()[0].lower() in AFTER_OBJECT
            ):
                bare = bare.split(" ", 1)[1]
            gender = self._people.gender(bare, sentence[: run.start()])
            at = next((i for i, w in enumerate(words) if w.start >= run.start()), None)
            if gender and at is not None:
                last = by_end.get(run.end(), at)
                possessive = run.group() != bare and run.group().endswith(("'s", "’s"))
                found[at] = Other(gender, last, possessive, words[at].quoted)
        for i, word in enumerate(words):
            relation = RELATIONS.get(re.sub(r"['’]s$", "", word.lower))
            before = words[i - 1].lower if i else ""
            if relation and not word.quoted and before not in {"as", "a", "an"} and i not in found:
                found[i] = Other(relation, i, word.lower.endswith("'s"), False)
        return sorted(found.items())

    def _own_names(self, sentence: str, words: Sequence[Word]) -> list[tuple[int, int, str]]:
        """(first word, last word, role) of the subject's names; the role "?" is not to be turned."""
        spans: list[tuple[int, int]] = []
        full = sorted({self._subject.full_name, self._subject.name}, key=len, reverse=True)
        for name in full:
            for match in re.finditer(rf"\b{re.escape(name)}\b", sentence):
                if not any(s < match.end() and match.start() < e for s, e in spans):
                    spans.append(match.span())
        for match in re.finditer(r"\b[A-ZÀ-Þ][\w-]*\b", sentence):
            taken = any(s < match.end() and match.start() < e for s, e in spans)
            if match.group() in self._subject.names and not taken:
                spans.append(match.span())
        found = []
        for start, end in sorted(spans):
            inside = [i for i, w in enumerate(words) if w.start < end and w.end > start]
            if inside and not words[inside[0]].quoted:
                found.append((inside[0], inside[-1], self._name_role(words, inside)))
        return found

    def _name_role(self, words: Sequence[Word], inside: list[int]) -> str:
        first, last = inside[0], inside[-1]
        before = words[first - 1] if first else None
        after = words[last + 1] if last + 1 < len(words) else None
        possessive = words[last].lower.endswith("'s")
        previous = before.lower if before else ""
        if before and (
            (before.text[0].isupper() and previous not in AFTER_OBJECT and first > 1)
            or previous in OLD
            or before.text == "-"
        ):
            is_part = before.text[0].isupper() and previous not in TITLES | OLD
            return "keep" if is_part else "?"
        if before and before.text[0].isupper() and previous in TITLES:
            return "?"
        if previous in {"the", "a", "an", "first"}:
            return "keep"
        if self._is_noun(previous):
            return "keep"  # the programming language Ada
        if previous in NAMING or (previous in self._pronouns and not possessive):
            return "keep"
        if previous == "of" and first > 1 and words[first - 2].text[0].isupper():
            return "keep"
        if after and after.text[0].isupper() and after.text.isalpha() and not possessive:
            return "keep"
        if possessive:
            return "poss"
        is_verb = after is not None and (
            after.lower in AUXILIARY or after.lower in PAST_OR_MODAL
            or after.lower.endswith("ed") or (after.lower.endswith("ly") and last + 2 < len(words))
            or after.lower in {"later", "also", "then", "never", "soon", "himself", "herself", "now"}
        )  # fmt: skip
        if is_verb and previous in PREPOSITIONS - {
            "before",
            "after",
            "since",
            "until",
            "as",
            "for",
        }:
            return "obj"
        if previous in {"", ",", ";", "(", "—", "–"} or previous in SUBORDINATE or is_verb:
            return "nom" if is_verb else "?"
        if previous in PREPOSITIONS or previous.endswith("ed"):
            follows = after is not None and after.text[0].islower()
            return "?" if follows and after and after.lower not in AFTER_OBJECT else "obj"
        return "?"

    @staticmethod
    def _is_noun(word: str) -> bool:
        return word in {"language", "name", "crater", "asteroid", "film", "play", "novel", "ship"}

    def _agree(self, words: Sequence[Word], at: int, edits: list[tuple[int, int, str]]) -> bool:
        """Puts the verb behind "I" into the first person. False when that isn't safe."""
        i = at
        if i < len(words) and words[i].text == "(":  # a name with dates behind it
            return False
        if i < len(words) and words[i].lower == "and":
            partner = words[i + 1] if i + 1 < len(words) else words[i]
            return partner.lower in self._pronouns or partner.text[0].isupper()
        while i < len(words) and (
            words[i].lower.endswith("ly")
            or words[i].lower
            in {
                "also",
                "never",
                "often",
                "then",
                "soon",
                "later",
                "still",
                "now",
                "once",
                "always",
                "sometimes",
                "first",
                "just",
                "even",
                "twice",
            }
        ):
            i += 1
        if i >= len(words):
            return True
        verb = words[i]
        if verb.text == ",":
            return words[at - 1].lower in self._pronouns or True
        if verb.lower in AUXILIARY:
            said = AUXILIARY[verb.lower]
            if said != verb.lower:
                edits.append((verb.start, verb.end, said))
            return True
        if verb.lower in PAST_OR_MODAL or verb.lower.endswith("ed") or verb.quoted:
            return True
        if not verb.lower.endswith("s") or verb.lower in NO_VERB_S or verb.lower.endswith("ss"):
            return True
        edits.append((verb.start, verb.end, first_form(verb.lower)))
        # A second verb would have to follow: "She lives in Rome and works for …".
        return not any(
            words[j].lower in {"and", "or", "but"}
            and words[j + 1].lower.endswith("s")
            and words[j + 1].text.islower()
            for j in range(i + 1, len(words) - 1)
        )

    def _remember(
        self,
        words: Sequence[Word],
        others: Sequence[tuple[int, Other]],
        names: Sequence[tuple[int, int, str]],
        own: Sequence[int],
        has_role: bool,
        was_other: bool,
    ) -> None:
        """Whether "he" at the start of the next sentence would mean somebody else."""
        nominative = [
            i
            for i in own
            if self._pronouns[words[i].lower] in ("nom", "her")
            and (self._pronouns[words[i].lower] == "nom")
        ]
        firsts = [*nominative, *(i for i, _, role in names if role == "nom")]
        own_first = min(firsts, default=len(words))
        subjects = [
            o for i, o in others
            if o.rivals(self._subject.gender) and i < own_first and not o.possessive
            and is_subject(words, i, o.last)
        ]  # fmt: skip
        self._was_mentioned = bool(own or names or has_role)
        if subjects and not has_role:
            self._other_is_meant = True
        elif (firsts and not (was_other and not any(r == "nom" for _, _, r in names))) or (
            not others and not own
        ):
            self._other_is_meant = False
