"""An Answerer whose answers are written down: every state of the page without a model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rag.types import (
    Answer,
    Citation,
    CollectionInfo,
    FootnoteError,
    Nearest,
    Timings,
    Turn,
)
from rag.web.protocol import never

PASSAGE = (
    "Dense retrieval ranks passages by the cosine of two vectors. The vector of a question and "
    "the vector of a passage come from the same encoder. A score of one means the same direction, "
    "and a score near zero means that the two have nothing to do with each other. Thresholds on "
    "that score are not portable between encoders, so they are calibrated on each collection."
)
SECOND_QUOTE = (
    "A score of one means the same direction, and a score near zero means that the two have nothing "
    "to do with each other."
)
CODE_PASSAGE = (
    "## Scales\n\nThe scale is chosen per channel.\n\n"
    "```python\nscale = abs(w).max(axis=1) / 127\nq = (w / scale[:, None]).round()\n```\n\n"
    "| format | size |\n| --- | --- |\n| fp32 | 4 bytes |\n| int8 | 1 byte |\n\n"
    "The error is bounded by $$|w - s q| \\le \\frac{s}{2}$$ for every weight."
)
HOSTILE = (
    '<script>window.pwned=1</script> <img src=x onerror="window.pwned=1"> '
    "<style>body{display:none}</style> **bold** [link](javascript:window.pwned=1) # head"
)

COLLECTIONS = [
    CollectionInfo(
        name="blog",
        title="Notes on small language models",
        mode="blog",
        language="en",
        languages=("en", "es"),
        pages=11,
        chunks=143,
        built="2026-01-31T10:00:00+00:00",
        source="corpus/blog",
        suggestions=(
            ("en", ("What topics does this blog cover?", "How is the gate calibrated?",
                    "Why int8 and not int4?", "How is a chunk longer than the window embedded?")),
            ("es", ("¿De qué trata este blog?", "¿Cómo se calibra el umbral?",
                    "¿Por qué int8 y no int4?")),
        ),
    ),
    CollectionInfo(
        name="people",
        title="Ada Lovelace",
        mode="interview",
        language="en",
        languages=("en",),
        pages=1,
        chunks=58,
        built="2026-02-02T10:00:00+00:00",
        source="Wikipedia",
        suggestions=(("en", ("What did you write about the Analytical Engine?",)),),
    ),
]  # fmt: skip


def citation(n: int, **changes: object) -> Citation:
    """A footnote to a passage of the demo text."""
    return replace(
        Citation(
            n=n,
            title="Choosing a threshold that means something",
            url="https://blog.example/posts/thresholds#calibration",
            section="Retrieval > Calibrating the gate",
            published="2025-11-03",
            quote="Thresholds on that score are not portable between encoders, "
            "so they are calibrated on each collection.",
            score=0.83,
            language="en",
            passage=PASSAGE,
        ),
        **changes,  # type: ignore[arg-type]
    )


QUANTISATION = citation(
    2,
    title="Eight bits are enough",
    url="https://blog.example/posts/int8",
    section="Weights > Scales",
    published="2026-01-12",
    quote="scale = abs(w).max(axis=1) / 127",
    passage=CODE_PASSAGE,
    score=0.78,
)


@dataclass(frozen=True)
class Found:
    """A search's result with one hit."""

    query: str
    collection: str
    k: int

    def as_json(self) -> dict[str, Any]:
        """As the real one's."""
        hit = asdict(citation(1))
        return {**asdict(self), "passes": "pizza" not in self.query, "hits": [hit]}


class ScriptedAnswerer:
    """Chooses its answer by a word in the question; notes when it was told to stop."""

    def __init__(self, pace: float = 0.01) -> None:
        self.pace = pace
        self.asked: list[tuple[str, str | None, tuple[Turn, ...]]] = []
        self.stopped: list[str] = []
        self.finished: list[str] = []
        self.running = 0
        self.most_running = 0
        self.broken: Exception | None = None
        self.lock = threading.Lock()

    def collections(self) -> list[CollectionInfo]:
        """Two collections."""
        return COLLECTIONS

    def search(self, query: str, collection: str | None = None, k: int = 5) -> Found:
        """One hit; there are no other collections."""
        if collection not in (None, *(info.name for info in COLLECTIONS)):
            raise FootnoteError(f"There is no collection {collection!r}.")
        return Found(query, collection or "blog", k)

    def check(self) -> None:
        """Works unless a test said otherwise."""
        if self.broken:
            raise self.broken

    def stream(
        self,
        question: str,
        collection: str | None = None,
        history: Sequence[Turn] | None = None,
        stop: Callable[[], bool] = never,
    ) -> Iterator[Answer]:
        """Streams the scripted answer word by word."""
        with self.lock:
            self.asked.append((question, collection, tuple(history or ())))
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        try:
            yield from self._stream(question, collection or "blog", stop)
        finally:
            with self.lock:
                self.running -= 1
                (self.stopped if stop() else self.finished).append(question)

    def _stream(self, question: str, collection: str, stop: Callable[[], bool]) -> Iterator[Answer]:
        info = next((info for info in COLLECTIONS if info.name == collection), None)
        spanish = "¿" in question or "hola" in question.lower()
        done = Answer(
            question=question,
            search_query=question,
            collection=collection,
            mode=info.mode if info else "blog",
            language="es" if spanish else "en",
            outcome="answered",
            answer="",
            timings=Timings(12, 240, 1800, 310, 120, 80),
        )
        if info is None:
            yield replace(done, outcome="error", answer=f"There is no collection {collection!r}.")
            return
        done = _script(done, question.lower(), spanish)
        yield replace(_empty(done), stage="searching")
        if done.outcome != "answered":
            yield done
            return
        self._wait(stop, 8)
        yield replace(_empty(done), stage="reading")
        self._wait(stop, 8)
        if "silent" in question.lower():  # a long prefill: nothing to say, only stop to watch
            self._wait(stop, 10_000)
        if "explode" in question.lower():
            raise RuntimeError("scripted fault")
        words = done.answer.split(" ")
        for count in range(1, len(words)):
            if stop():
                break
            text = " ".join(words[:count])
            marked = tuple(c for c in done.citations if f"[{c.n}]" in text)
            yield replace(
                done, answer=text, citations=marked, suggestions=(), withheld=0, stage="writing"
            )
            self._wait(stop, 1)
        if stop():
            return
        yield done

    def _wait(self, stop: Callable[[], bool], steps: int) -> None:
        for _ in range(steps):
            if stop():
                return
            time.sleep(self.pace)


def _empty(answer: Answer) -> Answer:
    return replace(
        answer, outcome="error", answer="", citations=(), suggestions=(), nearest=(), withheld=0
    )


def _script(done: Answer, question: str, spanish: bool) -> Answer:
    if question.strip(" !¡") in ("hello", "hola"):
        text = (
            "¡Hola! Pregúntame algo sobre el blog." if spanish else "Hello! Ask me about the blog."
        )
        return replace(done, outcome="greeting", answer=text)
    if "pizza" in question:
        return replace(
            done,
            outcome="refused",
            answer="The posts don't say anything about that, so I can't answer it from them.",
            nearest=(
                Nearest("Choosing a threshold that means something",
                        "https://blog.example/posts/thresholds", 0.31),
                Nearest("Eight bits are enough", "https://blog.example/posts/int8", 0.24),
            ),
            suggestions=("How is the gate calibrated?", "Why int8 and not int4?"),
        )  # fmt: skip
    if "hostile" in question:
        bad = citation(
            1,
            title=HOSTILE,
            url="javascript:window.pwned=1//<script>",
            section=HOSTILE,
            quote=HOSTILE,
            passage=f"Before. {HOSTILE} After.",
        )
        return replace(
            done,
            answer=f"{HOSTILE} [1]\n\n```\n{HOSTILE}\n```",
            citations=(bad,),
            search_query=HOSTILE,
            suggestions=(HOSTILE,),
        )
    if "code" in question or "int8" in question:
        return replace(
            done,
            answer=(
                "Eight bits keep one scale per channel: `scale = abs(w).max(axis=1) / 127`. [2]\n\n"
                "```python\nscale = abs(w).max(axis=1) / 127\n"
                "q = (w / scale[:, None]).round().clip(-127, 127)\n```\n\n"
                "| format | bytes a weight | note |\n| --- | --- | --- |\n"
                "| fp32 | 4 | as trained |\n| int8 | 1 | costs $5 to $10 a month |\n\n"
                "The error stays under half a step: "
                "$$|w - s q| \\le \\frac{s}{2}$$ and the scale is "
                "$s = \\frac{\\max |w|}{127}$. [2]\n\n"
                "- one scale per channel\n- zero stays zero"
            ),
            citations=(QUANTISATION,),
            suggestions=("How is the gate calibrated?", "What is lost by int4?"),
        )
    if "follow" in question:
        return replace(
            done,
            search_query="how is the gate calibrated for Spanish questions",
            answer="In the same way, with near negatives in both languages. [1]",
            citations=(citation(1),),
        )
    if spanish:
        return replace(
            done,
            answer="El umbral se calibra con cada colección, porque un valor no sirve para "
            "otro codificador. [1]",
            citations=(citation(1),),
            suggestions=("¿Por qué int8 y no int4?",),
        )
    text = (
        "The gate is calibrated for each collection, because a cosine from one encoder says "
        "little about a cosine from another. [1] Near negatives decide where it stands: questions "
        "about a neighbour of the subject have to be refused like one about pizza. [1] "
        "The weights behind the encoder are stored in eight bits, one scale per channel. [2]"
    )
    if "long" in question:  # some seconds; a very long one outlasts whatever is done to it
        text = "\n\n".join([text] * (60 if "very long" in question else 8))
    return replace(
        done,
        answer=text,
        citations=(citation(1, quotes=(citation(1).quote, SECOND_QUOTE)), QUANTISATION),
        withheld=1,
        suggestions=("Why int8 and not int4?", "What topics does this blog cover?"),
    )
