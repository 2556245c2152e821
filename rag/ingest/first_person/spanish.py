"""Spanish sentences about a person, turned to the first person: "Nació en 1852" → "Nací en 1852".

Spanish leaves the subject out, so each verb in the third person singular needs a decision: the
page's subject, unless its clause names another. Where two could be meant, the sentence stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.ingest.first_person import spanish_verbs as verbs
from rag.ingest.first_person.spanish_clauses import (
    Clause,
    clauses_of,
    finite,
    is_finite,
)
from rag.ingest.first_person.spanish_words import (
    ADVERBS,
    BEFALLING,
    CHILDREN,
    CLITICS,
    DETERMINERS,
    ENCLITIC,
    ENCLITIC_SE,
    HAPPENING,
    JOINERS,
    KIN,
    LEANS,
    OWNED,
    PASSIVE,
    POSSESSIVES,
    PREDICATES,
    PREPOSITIONS,
    REFLEXIVE,
    RELATIVES,
    ROLES,
    STARTERS,
    TIME,
    Word,
    cased,
    tokenise,
    unquoted,
)
from rag.ingest.first_person.subject import Subject


class _Unsafe(Exception):
    """Two persons could be meant."""


class SpanishTurner:
    """Turns a page's sentences in their order; remembers who the last one was about."""

    def __init__(self, subject: Subject, text: str) -> None:
        self._subject = subject
        self._pronoun = "él" if subject.gender == "m" else "ella"
        self._direct = "lo" if subject.gender == "m" else "la"
        self._other_is_meant = False
        names = sorted({subject.full_name, subject.name, *subject.names}, key=len, reverse=True)
        self._name = re.compile("|".join(rf"\b{re.escape(n)}\b" for n in names))
        self._others_own = False
        """Whether a possessive of the sentence at hand means another person."""

    def new_paragraph(self) -> None:
        """A paragraph whose first verb has no subject means the page's subject."""
        self._other_is_meant = False

    def turn(self, sentence: str, *, is_first: bool = False) -> str | None:
        """The sentence in the first person; unchanged when it doesn't speak of the subject.

        None when it can't be turned safely. `is_first` marks the lead's first sentence.
        """
        try:
            edits = self._read(sentence, is_first)
        except _Unsafe:
            return None
        out, at = [], 0
        for start, end, text in sorted(edits):
            out += [sentence[at:start], text]
            at = end
        turned = re.sub(r"\s+([,.;:])", r"\1", "".join([*out, sentence[at:]]))
        turned = re.sub(r"  +", " ", turned).strip()
        return turned[:1].upper() + turned[1:] if sentence[:1].isupper() else turned

    def _read(self, sentence: str, is_first: bool) -> list[tuple[int, int, str]]:
        words = tokenise(sentence)
        if LEANS.match(sentence):
            raise _Unsafe
        edits: list[tuple[int, int, str]] = []
        if CHILDREN.match(sentence):
            edits.append((words[0].start, words[0].end, "Tuvimos"))
        named = self._names(sentence, words, is_first, edits)
        if ROLES[self._subject.gender].search(unquoted(sentence).lower()):
            self._other_is_meant = False
            raise _Unsafe
        clauses = clauses_of(words)
        main = "none"
        self._others_own = False
        own_so_far = is_first
        for n, clause in enumerate(clauses):
            self._find_subject(words, clause, named)
            subject = self._resolve(words, clause, main, clauses[:n], own_so_far)
            own_so_far = own_so_far or subject == "own"
            if clause.starter not in RELATIVES | {"donde", "cuando", "cuyo", "cuya", "porque"}:
                main = subject if subject != "none" else main
            self._edit(words, clause, subject, main, edits)
        self._remember(words, clauses)
        if edits and self._others_own:
            raise _Unsafe
        return edits

    # who is meant

    def _names(
        self,
        sentence: str,
        words: Sequence[Word],
        is_first: bool,
        edits: list[tuple[int, int, str]],
    ) -> set[int]:
        """The positions of the subject's own names; those that stand alone are taken out."""
        found: set[int] = set()
        for match in self._name.finditer(sentence):
            inside = [
                i for i, w in enumerate(words) if w.start < match.end() and w.end > match.start()
            ]
            if not inside or words[inside[0]].quoted:
                continue
            first, last = inside[0], inside[-1]
            before = words[first - 1] if first else None
            after = words[last + 1] if last + 1 < len(words) else None
            if (
                (before and before.text[0].isupper() and first > 1)
                or (after and after.text[0].isupper())
                or (before and before.lower in {"instituto", "premio", "hospital", "fundación", "calle"})
                or (before and after and before.text in {",", ":"} and after.text in {",", "y"} and first > 1)
            ):  # fmt: skip
                continue
            if (
                (before and before.lower in PREPOSITIONS | {"y", "e", "o"} | DETERMINERS)
                or (after and after.lower in {"y", "e"})
                or (before and before.text[0].islower() and before.lower not in STARTERS | ADVERBS)
            ):
                raise _Unsafe
            found.update(inside)
            if is_first and first == 0:
                edits.append((words[0].start, words[0].start, "yo, "))
                close = next((w for w in words[last:] if w.text == ")"), None)
                verb = next((w for w in words[last + 1 :] if w.lower in {"fue", "es"}), None)
                if close and verb and sentence[close.end : verb.start] == " ":
                    edits.append((close.end, close.end, ","))
                elif after and verb is after:
                    edits.append((words[last].end, words[last].end, ","))
            else:
                edits.append((words[first].start, words[last].end, ""))
        return found

    def _find_subject(self, words: Sequence[Word], clause: Clause, named: set[int]) -> None:
        """The clause's verb and what its words say of the subject."""
        span = range(clause.first, clause.last + 1)
        for i in span:
            found = finite(words, i)
            if found:
                clause.verb, clause.conjugated = i, found[1]
                low = words[i].lower
                clause.infinitive = found[1][1] if found[1] else verbs.imperfect(low) or ""
                clause.is_present = bool(found[1]) and verbs.preterite(low) is None
                if found[0] == "plural":
                    clause.subject = "plural"
                break
        if clause.verb is None:
            return
        if any(i in named for i in range(clause.first, clause.verb)):
            clause.subject = "own"
            return
        before = [
            i
            for i in range(clause.first, clause.verb)
            if words[i].lower not in CLITICS - {"la", "las", "los", "lo"} or i < clause.verb - 2
        ]
        explicit = self._explicit(words, before, clause)
        if explicit:
            clause.subject = explicit

    def _explicit(self, words: Sequence[Word], before: Sequence[int], clause: Clause) -> str | None:
        """ "own", "person", "thing" or "plural" for a noun phrase that stands bare before the verb."""
        text = " ".join(words[i].text for i in before)
        timed = TIME.match(text)
        skip = len(timed.group().split()) if timed and timed.group().strip() else 0
        inside = skip > 0
        i = skip
        positions = list(before)
        while i < len(positions):
            word = words[positions[i]]
            previous = words[positions[i] - 1].lower if positions[i] else ""
            low = word.lower
            if (
                low in CLITICS
                and positions[i] >= (clause.verb or 0) - 2
                and all(words[j].lower in CLITICS for j in range(positions[i], clause.verb or 0))
            ):
                break
            if low == self._pronoun and previous not in PREPOSITIONS:
                return "own"
            if (
                low in {"él", "ella", "ellos", "ellas", "ambos", "nadie", "alguien"}
                and previous not in PREPOSITIONS
            ):
                return "plural" if low.endswith("s") else "person"
            if low in PREPOSITIONS and not (low == "como" and i == 0):
                inside = True
                i += 2
                continue
            starts = (
                low in DETERMINERS
                or low in {"su", "sus"}
                or (
                    word.text[0].isupper()
                    and positions[i] > 0
                    and previous not in PREPOSITIONS
                    and not words[positions[i] - 1].text[0].isupper()
                )
                or (
                    positions[i] == 0
                    and low not in ADVERBS
                    and not inside
                    and len(positions) > 1
                    and words[1].text[0].isupper()
                )
                or (len(positions) == 1 and word.text[0].isupper() and low not in ADVERBS)
            )
            joined = previous in PREPOSITIONS | {"y", "e", "o"} and positions[i] != before[0]
            if word.quoted:
                i += 1
                continue
            if low in {"este", "esta", "éste", "ésta"} and positions[i] + 1 == clause.verb:
                raise _Unsafe
            if starts and not joined and not (inside and previous in {"todos", "todas", "todo"}):
                clause.phrase = positions[i]
                return self._kind(words, positions[i], clause.verb or 0)
            i += 1
        return None

    def _kind(self, words: Sequence[Word], start: int, verb: int) -> str:
        phrase = words[start:verb]
        heads = [w.lower for w in phrase[:4]]
        if heads[0] in {"los", "las", "unos", "unas", "sus", "estos", "estas", "otros", "otras"}:
            return "plural"
        if set(heads[:2]) & KIN or (phrase[0].text[0].isupper() and start > 0):
            return "person"
        if any(w.text[0].isupper() for w in phrase[1:3]) and set(heads) & {
            "psiquiatra", "médico", "escultor", "suizo", "rey", "reina", "alcalde", "pintor", "escritor"
        }:  # fmt: skip
            return "person"
        person = re.compile(r"(?:ista|dor|tor|iatra|ólogo|ógrafo|nte)$")
        if len(heads) > 1 and (person.search(heads[1]) or heads[1] in {"alcalde", "rey", "reina", "hombre",
                               "mujer", "suizo", "italiano", "francés", "alemán"}):  # fmt: skip
            return "person"
        if (
            start == 0
            and phrase[0].text[0].isupper()
            and heads[0] not in DETERMINERS | {"su", "sus"}
        ):
            return "person"
        return "thing"

    def _resolve(
        self,
        words: Sequence[Word],
        clause: Clause,
        main: str,
        earlier: Sequence[Clause],
        own: bool,
    ) -> str:
        """Who the clause's verb is about."""
        if clause.verb is None:
            return "none"
        clitics = self._clitics(words, clause)
        if clause.subject != "none":
            return clause.subject
        if clause.starter in {"cuyo", "cuya"}:
            return "thing"
        verb = words[clause.verb]
        infinitive = clause.infinitive
        if {"se", "le"} <= clitics:
            return "thing"  # "se le considera"
        if clause.is_present and self._subject.is_dead:
            return "thing"
        following = self._phrase_after(words, clause)
        if verb.lower in {"hay", "había"} and following and verb.lower == "hay":
            return "thing"
        if "se" in clitics:
            if earlier and clause.starter == "" and words[0].lower in DETERMINERS:
                return "thing"
            if infinitive not in REFLEXIVE:
                if not clause.conjugated or (infinitive in PASSIVE and following):
                    return "thing"
                raise _Unsafe
            if following and infinitive not in {"hacer", "convertir"} and clause.conjugated:
                raise _Unsafe
        if clause.starter in RELATIVES:
            return self._relative(words, clause, following, main)
        if following == "bare" and infinitive in HAPPENING:
            return "thing"
        joined = clause.starter in JOINERS | {","} and main in {"own", "person", "thing"}
        if earlier and (joined or (clause.starter == ";" and main in {"own", "person"})):
            return main
        if earlier and clause.starter == "" and words[0].lower in DETERMINERS:
            return "thing"  # "El monumento que le dedicó el escultor se inauguró …"
        if clitics & {"le", self._direct} and main != "own":
            if infinitive in BEFALLING or main in {"person", "thing"}:
                return "thing"
            raise _Unsafe
        if clause.starter in {"donde", "cuando", "mientras", "porque", "aunque", "si", "pues"}:
            if main == "person" and clause.conjugated:
                if any(self._clitics(words, c) & {"le", self._direct} for c in earlier):
                    return "own"
                raise _Unsafe
            return "own"
        if self._other_is_meant and not own and not TIME.match(" ".join(w.text for w in words[:6])):
            raise _Unsafe
        return "own"

    def _relative(
        self, words: Sequence[Word], clause: Clause, following: str | None, main: str
    ) -> str:
        at = clause.first - 2  # before the relative itself
        if at < 0:
            return "own"
        before = words[at]
        previous = before.lower
        second = words[at - 1].lower if at else ""
        if previous in PREPOSITIONS or (previous in DETERMINERS and second in PREPOSITIONS):
            return "thing" if following == "bare" and not clause.conjugated else "own"
        if verbs.preterite(previous) or verbs.imperfect(previous) or is_finite(previous):
            return main if main in {"own", "person"} else "own"
        if not clause.conjugated:
            return "thing"  # its form would be the same
        if previous.endswith("s") and before.text[0].islower():
            return "own"  # "las pagas que cobró": the antecedent is no subject of a singular
        if clause.starter == "quien" or previous in {"lo", "el"}:
            return "person" if clause.starter == "quien" else self._fail()
        if following == "bare" or clause.objects or clause.infinitive in HAPPENING:
            return "thing"
        at = (clause.verb or 0) + 1
        has_object = (
            at < len(words)
            and words[at].text.isalpha()
            and words[at].lower not in (PREPOSITIONS | STARTERS | ADVERBS)
        )
        return "thing" if has_object else self._fail()

    @staticmethod
    def _fail() -> str:
        raise _Unsafe

    def _clitics(self, words: Sequence[Word], clause: Clause) -> set[str]:
        if clause.verb is None:
            return set()
        found: set[str] = set()
        i = clause.verb - 1
        while i >= clause.first and words[i].lower in CLITICS:
            found.add(words[i].lower)
            clause.objects.append(i)
            i -= 1
        return found

    def _phrase_after(self, words: Sequence[Word], clause: Clause) -> str | None:
        """ "bare" when a noun phrase without a preposition follows the verb."""
        i = (clause.verb or 0) + 1
        while i < len(words) and words[i].lower in ADVERBS:
            i += 1
        if i >= len(words) or words[i].quoted:
            return None
        low = words[i].lower
        rest = " ".join(w.text for w in words[i : i + 4])
        if low in {"el", "la", "los", "las", "un", "una", "ese", "aquel"} and TIME.match(rest):
            return None
        bare = low in DETERMINERS or low in POSSESSIVES or words[i].text[0].isupper()
        return "bare" if bare else None

    def _remember(self, words: Sequence[Word], clauses: Sequence[Clause]) -> None:
        mains = [c for c in clauses if c.verb is not None and c.starter not in RELATIVES]
        self._other_is_meant = bool(mains) and mains[0].subject == "person"

    # what changes

    def _edit(
        self,
        words: Sequence[Word],
        clause: Clause,
        subject: str,
        main: str,
        edits: list[tuple[int, int, str]],
    ) -> None:
        other_person = subject == "person" or (subject == "none" and main == "person")
        for i in range(clause.first, clause.last + 1):
            word = words[i]
            if word.quoted:
                continue
            low = word.lower
            previous = words[i - 1].lower if i else ""
            following = words[i + 1].lower if i + 1 < len(words) else ""
            if low in POSSESSIVES:
                if previous in {"fue", "era"} and following in PREDICATES:
                    continue
                is_subject_phrase = i == clause.phrase
                if other_person and not is_subject_phrase:
                    self._others_own = True
                    continue
                elif (
                    subject in {"thing", "plural"}
                    and not is_subject_phrase
                    and following not in OWNED
                ):
                    raise _Unsafe
                edits.append((word.start, word.end, cased(POSSESSIVES[low], word.text)))
            elif low == self._pronoun:
                self._pronoun_edit(words, i, clause, subject, edits)
            elif low in {"sí"} and subject == "own" and following in {"mismo", "misma"}:
                edits.append((word.start, word.end, "mí"))
            elif low == "consigo" and subject == "own":
                edits.append((word.start, word.end, "conmigo"))
            elif ENCLITIC.fullmatch(low) and low.endswith(("le", self._direct)):
                if subject == "own" and clause.verb is not None and i > clause.verb:
                    continue
                if low.endswith("le") or subject in {"person", "plural"}:
                    edits.append((word.end - 2, word.end, "me"))
                else:
                    raise _Unsafe
            elif ENCLITIC_SE.fullmatch(low) and subject == "own":
                edits.append((word.end - 2, word.end, "me"))
        if clause.verb is None:
            return
        clitics = [i for i in clause.objects if words[i].lower in {"le", "se", self._direct}]
        for i in dict.fromkeys(clitics):
            low = words[i].lower
            if low == "se" and subject == "own":
                edits.append((words[i].start, words[i].end, cased("me", words[i].text)))
            elif low in {"le", self._direct} and subject != "own":
                after = words[clause.verb + 1 : clause.verb + 3]
                doubled = (
                    low == "le"
                    and len(after) == 2
                    and (after[0].lower in {"a", "al"} and after[1].text[0].isupper())
                )
                if doubled or (main == "own" and clause.starter not in RELATIVES):
                    raise _Unsafe
                edits.append((words[i].start, words[i].end, cased("me", words[i].text)))
        if (
            subject == "own"
            and clause.conjugated
            and clause.conjugated[0] != words[clause.verb].lower
        ):
            word = words[clause.verb]
            edits.append((word.start, word.end, cased(clause.conjugated[0], word.text)))

    def _pronoun_edit(
        self,
        words: Sequence[Word],
        i: int,
        clause: Clause,
        subject: str,
        edits: list[tuple[int, int, str]],
    ) -> None:
        previous = words[i - 1] if i else None
        word = words[i]
        if previous and previous.lower == "con":
            edits.append((previous.start, word.end, cased("conmigo", previous.text)))
        elif previous and previous.lower in {"como", "según"}:
            edits.append((word.start, word.end, "yo"))
        elif previous and previous.lower in {"de", "en", "sobre", "desde"}:
            raise _Unsafe  # a thing as often as a person
        elif (
            previous
            and previous.lower == "a"
            and any(words[j].lower == self._direct for j in clause.objects)
        ):
            raise _Unsafe  # "lo concedía a Golgi y a él"
        elif (previous and previous.lower in PREPOSITIONS) or (
            previous and previous.lower == "y" and subject != "own"
        ):
            edits.append((word.start, word.end, "mí"))
        else:
            edits.append((word.start, word.end, cased("yo", word.text)))
