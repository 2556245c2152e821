"""Figures for Prometheus: questions, outcomes, stage times, queue, memory. They hold no texts."""

from __future__ import annotations

from collections.abc import Callable, Collection

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from rag.types import Answer

_SECONDS = (0.01, 0.03, 0.1, 0.3, 0.5, 1, 2, 3, 5, 10, 30, 60, 120)


class Metrics:
    """The figures of one application.

    Memory (`process_resident_memory_bytes`), processor time and open files come from the client
    library's own collector.
    """

    def __init__(self, collections: Collection[str]) -> None:
        self._collections = frozenset(collections)
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._questions = Counter(
            "footnote_questions",
            "Questions by collection and outcome; `left` is a reader who went away.",
            ("collection", "outcome"),
            registry=self.registry,
        )
        self._stages = Histogram(
            "footnote_stage_seconds",
            "Seconds from the question's turn: waiting in the queue before it, then until the "
            "passages were found, the first token could be seen, and all was written.",
            ("stage",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._tokens = Counter(
            "footnote_tokens", "Tokens read and written.", ("kind",), registry=self.registry
        )
        self._withheld = Counter(
            "footnote_withheld_sentences",
            "Sentences that the check kept back.",
            registry=self.registry,
        )
        self._turned_away = Counter(
            "footnote_turned_away",
            "Requests that were refused at the door, by reason.",
            ("reason",),
            registry=self.registry,
        )

    def watch(self, waiting: Callable[[], float], running: Callable[[], float]) -> None:
        """Shows the queue's length and the answers under way as they are when it is asked."""
        queue = Gauge("footnote_waiting", "Questions in the queue.", registry=self.registry)
        queue.set_function(waiting)
        work = Gauge("footnote_running", "Answers under way.", registry=self.registry)
        work.set_function(running)

    def turned_away(self, reason: str) -> None:
        """Counts a request that wasn't let in."""
        self._turned_away.labels(reason).inc()

    def waited(self, seconds: float) -> None:
        """Notes how long a question waited for its turn."""
        self._stages.labels("queue").observe(seconds)

    def answered(self, answer: Answer | None, collection: str, outcome: str) -> None:
        """Counts a question's end. An unknown collection's name is a stranger's word: it is no label."""
        name = collection if collection in self._collections else "other"
        self._questions.labels(name, outcome).inc()
        if answer is None:
            return
        times = answer.timings
        for stage, value in (
            ("retrieve", times.retrieve_ms),
            ("first_token", times.first_token_ms),
            ("total", times.total_ms),
        ):
            if value:
                self._stages.labels(stage).observe(value / 1000)
        self._tokens.labels("prompt").inc(times.prompt_tokens)
        self._tokens.labels("cached").inc(times.cached_tokens)
        self._tokens.labels("output").inc(times.output_tokens)
        self._withheld.inc(answer.withheld)

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self.registry)
