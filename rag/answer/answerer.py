"""From a question to an answer object: search, gate, read, write, check each sentence."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from rag.answer import followup, language, smalltalk, texts
from rag.answer.collection import Collection
from rag.answer.interview.interview import Interview
from rag.answer.judge import Judge, judge_of
from rag.answer.progress import Progress
from rag.answer.quoting import Quoting
from rag.answer.retrieval import Retrieved, retrieve
from rag.answer.whole import asks_about_the_whole
from rag.answer.writer import SURE, Writer
from rag.llm.protocol import LanguageModel
from rag.search.gate import Verdict
from rag.search.search import Found
from rag.settings import Settings
from rag.types import (
    Answer,
    CollectionInfo,
    FootnoteError,
    Language,
    Message,
    Nearest,
    Turn,
    Unavailable,
)

log = logging.getLogger(__name__)
_NEAREST = 3


class Answerer:
    """Answers questions about the loaded collections. Safe to share between threads."""

    def __init__(
        self,
        collections: Mapping[str, Collection],
        llm: LanguageModel,
        settings: Settings,
        judge: Judge | None = None,
    ) -> None:
        """`judge` stands in for the one that was fitted for `llm`.

        Raises FootnoteError when that one isn't whole.
        """
        self._collections = collections
        self._llm = llm
        self._settings = settings
        if judge is None and llm.tells_state:
            judge = judge_of(llm.name, settings.judge_lets_through)
        self.judge = judge
        """None where the model has none: the gate alone decides."""

    def collections(self) -> list[CollectionInfo]:
        """What can be asked, the default collection first."""
        infos = [collection.info for collection in self._collections.values()]
        return sorted(infos, key=lambda info: (info.name != self._settings.collection, info.name))

    def interview(self, name: str) -> Interview | None:
        """The interview that a collection is, if it is one."""
        chosen = self._collections.get(name)
        return chosen.interview if chosen else None

    def search(self, query: str, collection: str | None = None, k: int = 5) -> Retrieved:
        """Retrieval alone. Raises FootnoteError for a collection that isn't there."""
        name = collection or self._settings.collection
        if name not in self._collections:
            raise FootnoteError(texts.unknown_collection(name, sorted(self._collections), "en"))
        chosen = self._collections[name]
        return retrieve(query, chosen.searcher, chosen.gate, self._settings.passages, k)

    def check(self) -> None:
        """Searches and generates a token. Raises whatever keeps it from answering."""
        for collection in list(self._collections.values())[:1]:
            collection.searcher.search("check", 1, collection.info.language)
        for _ in self._llm.generate([Message("user", "Hello")], max_tokens=1):
            pass

    def ask(
        self, question: str, collection: str | None = None, history: Sequence[Turn] | None = None
    ) -> Answer:
        """The whole answer at once."""
        *_, last = self.stream(question, collection, history)
        return last

    def stream(
        self,
        question: str,
        collection: str | None = None,
        history: Sequence[Turn] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Answer]:
        """Partial answers while it is written; the last one, and only it, has the stage `done`.

        `history` is oldest first and without the question. `stop` is asked at every step; once it
        says True, the answer ends with what has been checked. Nothing that a reader can send
        raises: it becomes an answer with the outcome `error`.
        """
        name = collection or self._settings.collection
        turns = followup.whole_turns(history or (), self._settings.history_turns)
        chosen = self._collections.get(name)
        spoken = _language(question, turns, chosen)
        blank = Answer(
            question=question,
            search_query=question,
            collection=name,
            mode=chosen.info.mode if chosen else "blog",
            language=spoken,
            outcome="answered",
            answer="",
        )
        progress = Progress(time.perf_counter(), blank)
        if chosen is None:
            known = sorted(self._collections)
            yield progress.done("error", texts.unknown_collection(name, known, spoken))
            return
        try:
            yield from self._answer(question, turns, chosen, spoken, progress, stop)
        except Unavailable as error:
            log.error("%s", error)
            yield progress.done(
                "error", chosen.voice(spoken).away(), citations=(), nearest=(), withheld=0
            )
        except Exception:
            log.exception("answering failed")
            yield progress.done(
                "error", chosen.voice(spoken).failed(), citations=(), nearest=(), withheld=0
            )

    def _answer(
        self,
        question: str,
        history: Sequence[Turn],
        collection: Collection,
        spoken: Language,
        progress: Progress,
        stop: Callable[[], bool],
    ) -> Iterator[Answer]:
        voice = collection.voice(spoken, question)
        interview = collection.interview
        if not question.strip():
            yield progress.done("error", voice.empty())
            return
        if len(question) > self._settings.max_question_chars:
            yield progress.done("error", voice.too_long(self._settings.max_question_chars))
            return
        suggestions = _suggestions(collection, spoken)
        kind = interview.smalltalk(question, history) if interview else smalltalk.classify(question)
        if kind:
            yield progress.done("greeting", voice.smalltalk(kind), suggestions=suggestions)
            return
        yield progress.partial("searching")
        query, found, verdict, route = self._find(question, history, collection, spoken)
        progress.timings = replace(progress.timings, retrieve_ms=progress.milliseconds())
        progress.answer = replace(progress.answer, search_query=query.text, route=route)
        nearest = interview.nearest(found) if interview else _nearest(found)
        judge = None if interview else self.judge
        if not (judge.may_look(verdict.score) if judge else verdict.passes):
            best = nearest[0].title if nearest else None
            yield progress.done(
                "refused",
                voice.refusal(verdict.missing, best),
                nearest=nearest,
                suggestions=suggestions,
            )
            return
        yield progress.partial("reading", nearest=nearest, passages=len(found.hits))
        context = query.context if query.rewritten else None
        # A model on a server may be a large one, whose own words and choice are to be had.
        points = self._settings.llm_is_served
        blog = partial(collection.reading, translations=points, abroad=judge is not None)
        make = interview.reading if interview else blog
        reading = make(question, context, found, spoken, self._llm.count_tokens)
        most = self._settings.max_output_tokens
        if not (interview or points or "overview" in route):
            quoting = Quoting(self._llm, most, judge, verdict.score)
            yield from quoting.write(reading, spoken, progress, stop)
        else:
            writer = Writer(self._llm, most)
            yield from writer.write(reading, spoken, progress, stop)
            sure = interview or verdict.score >= SURE
            if sure and not progress.answer.citations and not stop():
                reading = make(question, context, found, spoken, self._llm.count_tokens)
                yield from writer.quote(reading, spoken, progress)
        if progress.answer.citations:
            route = (*progress.answer.route, "verified")
            asked = [question, *(turn.content for turn in history if turn.role == "user")]
            cited = progress.answer.citations
            suggestions = collection.suggester.suggest(cited, spoken, asked)
            yield progress.done(
                "answered",
                progress.answer.answer,
                route=route,
                nearest=(),
                suggestions=suggestions,
            )
        elif stop():
            yield progress.done("error", voice.stopped(), nearest=())
        else:
            best = nearest[0].title if nearest else None
            yield progress.done(
                "refused", voice.nothing_held(best), nearest=nearest, suggestions=suggestions
            )

    def _find(
        self, question: str, history: Sequence[Turn], collection: Collection, spoken: Language
    ) -> tuple[followup.Query, Found, Verdict, tuple[str, ...]]:
        """Searches; once more with the earlier question when nothing passes the gate.

        A question about the whole collection has its page, and needs no gate.
        """
        if collection.interview:
            return collection.interview.find(question, history, self._settings.passages, spoken)
        if asks_about_the_whole(question, in_conversation=bool(history)):
            found = collection.searcher.overview(question, self._settings.passages, spoken)
            if found.hits:
                query = followup.Query(question, False, None)
                return query, found, Verdict(True, float("inf"), ()), ("overview",)
        query = followup.resolve(question, history)
        found, verdict = self._search(query.text, collection, spoken)
        route = ("dense", "lexical")
        alone = query.rewritten or followup.names_its_subject(question)
        if not verdict.passes and query.context and not alone:
            wider = followup.Query(followup.join(query.context, question), True, query.context)
            again, second = self._search(wider.text, collection, spoken)
            if second.passes and not set(verdict.missing) & set(second.missing):
                return wider, again, second, (*route, "context-retry")
        return query, found, verdict, route

    def _search(
        self, query: str, collection: Collection, spoken: Language
    ) -> tuple[Found, Verdict]:
        found = collection.searcher.search(query, self._settings.passages, spoken)
        asked_in = language.detect(query, spoken)
        return found, collection.gate.decide(query, found, asked_in)


def _language(question: str, history: Sequence[Turn], collection: Collection | None) -> Language:
    """Of the reply: asked for, else the question's, else the conversation's, else the collection's."""
    asked_for = followup.wanted_language(question)
    if asked_for:
        return asked_for
    spoken: Language = collection.info.language if collection else "en"
    for turn in history:
        if turn.role == "user":
            spoken = followup.wanted_language(turn.content) or language.detect(turn.content, spoken)
    return language.detect(question, spoken)


def _nearest(found: Found) -> tuple[Nearest, ...]:
    pages: dict[str, Nearest] = {}
    for hit in found.hits:
        if hit.chunk.kind != "overview":
            pages.setdefault(
                hit.chunk.page, Nearest(hit.chunk.title, hit.chunk.url, round(hit.score, 3))
            )
    return tuple(pages.values())[:_NEAREST]


def _suggestions(collection: Collection, spoken: Language) -> tuple[str, ...]:
    openers = dict(collection.info.suggestions)
    return openers.get(spoken) or next(iter(openers.values()), ())
