"""Keeps Gradio's queue from growing: it remembers every event and session that it ever saw."""

from __future__ import annotations

import sys
import time
from collections import OrderedDict
from collections.abc import Callable

import gradio as gr

KEEP_SECONDS = 300.0
"""So long a client may take to fetch what was answered."""
KEEP_MOST = 64
"""Answers that nobody has fetched yet; the oldest go first."""


class Upkeep:
    """Call `tidy` with each question; it costs microseconds, and nothing grows without questions."""

    def __init__(self, blocks: gr.Blocks, clock: Callable[[], float] = time.monotonic) -> None:
        self._blocks = blocks
        self._clock = clock
        self._ended: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """Event → its session, and when it was first seen to be over."""
        # A table of all events so far, made anew after each one, for a page that isn't served.
        blocks._queue.ANAYLTICS_CACHE_FREQUENCY = sys.maxsize

    def tidy(self) -> None:
        """Drops what is left of events that are over and fetched, or were left unfetched too long."""
        queue = self._blocks._queue
        alive = {
            event._id
            for one in queue.event_queue_per_concurrency_id.values()
            for event in one.queue
        }
        alive |= {event._id for job in queue.active_jobs if job for event in job}
        now = self._clock()
        for key, event in queue.event_ids_to_events.items():
            if key not in alive and key not in self._ended:
                self._ended[key] = (event.session_hash, now)
        for key in self._gone(now):
            self._drop(key)
        for key in [k for k in queue.event_analytics if k not in alive and k not in self._ended]:
            del queue.event_analytics[key]
        queue._asyncio_tasks[:] = [task for task in queue._asyncio_tasks if not task.done()]

    def _gone(self, now: float) -> list[str]:
        """Events over and fetched, or unfetched too long, or too many of them."""
        pending = self._blocks._queue.pending_event_ids_session
        gone: list[str] = []
        kept: list[str] = []
        for key, (session, ended) in self._ended.items():
            fetched = key not in pending.get(session, ())
            (gone if fetched or now - ended > KEEP_SECONDS else kept).append(key)
        return gone + kept[:-KEEP_MOST]

    def _drop(self, key: str) -> None:
        queue, app = self._blocks._queue, self._blocks._queue.server_app
        session, _ = self._ended.pop(key)
        queue.event_ids_to_events.pop(key, None)
        queue.event_analytics.pop(key, None)
        if app is not None:
            app.iterators_to_reset.discard(key)
        left = queue.pending_event_ids_session.get(session, set())
        left.discard(key)
        if left:
            return
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)
        self._blocks.pending_streams.pop(session, None)
        self._blocks.pending_diff_streams.pop(session, None)
        if app is not None:
            app.state_holder.session_data.pop(session, None)
            app.state_holder.time_last_used.pop(session, None)
