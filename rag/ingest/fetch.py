"""Polite fetching: a name, robots.txt, a pause, retries, limits, and nothing fetched twice."""

from __future__ import annotations

import email.utils
import logging
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx
from protego import Protego

from rag.ingest.addresses import is_valid, resolve
from rag.ingest.cache import PageCache, Stored, digest
from rag.ingest.connections import Connections, PrivateAddress
from rag.types import FootnoteError

USER_AGENT = "FootnoteBot/0.1 (reads pages once, for a local index of their text)"
HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")
_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 10
_LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more isn't waited for."""

log = logging.getLogger(__name__)


class FetchError(FootnoteError):
    """An address that couldn't be fetched. `reason` says why in a few words."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}.")
        self.url = url
        self.reason = reason


@dataclass(frozen=True)
class Page:
    """What an address gave."""

    url: str
    """The final address, after redirects."""
    requested: str
    body: bytes
    content_type: str
    unchanged: bool = False
    """The body is the one that an earlier fetch stored."""


@dataclass(frozen=True)
class Limits:
    """What a fetch may cost."""

    delay: float = 1.0
    """Seconds between two requests to one host; robots.txt may ask for more."""
    timeout: float = 20.0
    """Seconds for a connection and for each silence of the server; a page may take three times it."""
    attempts: int = 3
    backoff: float = 1.0
    """Seconds before the second attempt; doubles with each."""
    max_bytes: int = 10_000_000
    """Of a page, unpacked."""
    allow_private: bool = False
    """Whether private addresses that nobody typed may be fetched."""


class Fetcher:
    """Fetches pages one after another. Use as a context manager.

    `cache` holds what earlier runs fetched; pages stored at or after `fresh_since` (seconds since
    the epoch) are taken from it without asking the server, older ones are asked for with
    If-None-Match and If-Modified-Since. `mirror` is a pair of address starts: what begins with the
    first is fetched from the second, and still counts under its own address. `typed` are the
    addresses that the user gave: they alone may lie on this machine or in its own network.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        cache: PageCache | None = None,
        *,
        fresh_since: float = float("inf"),
        mirror: tuple[str, str] | None = None,
        typed: Iterable[str] = (),
        user_agent: str = USER_AGENT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.limits = limits or Limits()
        self.cache = cache
        self.fresh_since = fresh_since
        self.mirror = mirror
        self.user_agent = user_agent
        self.requests = 0
        """Requests sent, robots.txt and retries included."""
        self._sleep = sleep
        self._robots: dict[str, Protego | None] = {}
        self._without_rules: set[str] = set()
        """Hosts whose robots.txt only gives server errors."""
        self._last: dict[str, float] = {}
        named = [*typed, mirror[1]] if mirror else typed
        self._connections = Connections(named, allow_private=self.limits.allow_private)
        self._client = httpx.Client(
            event_hooks={"request": [self._connections.watch]},
            headers={"User-Agent": user_agent, "Accept-Encoding": "gzip, deflate"},
            timeout=self.limits.timeout,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def get(self, url: str, types: tuple[str, ...] | None = HTML_TYPES) -> Page:
        """The page at an address; `types` are the media types that will do, None takes any.

        Raises FetchError.
        """
        url = url.partition("#")[0]
        if not is_valid(url):
            raise FetchError(url, "not a valid address")
        stored = self.cache.load(url) if self.cache else None
        if stored and stored[0].fetched >= self.fresh_since:
            return Page(stored[0].url, url, stored[1], stored[0].content_type, unchanged=True)
        seen: list[str] = []
        address = url
        while True:
            if address in seen:
                raise FetchError(url, "a redirect loop")
            if len(seen) >= _MOST_REDIRECTS:
                raise FetchError(url, "too many redirects")
            seen.append(address)
            outcome = self._attempts(url, address, types, stored)
            if isinstance(outcome, Page):
                return outcome
            address = outcome

    @property
    def _longest(self) -> float:
        """Seconds that one request may take."""
        return 3 * self.limits.timeout

    def allowed(self, url: str) -> bool:
        """Whether robots.txt lets this client fetch the address (RFC 9309)."""
        rules = self._rules(url)
        return rules is None or rules.can_fetch(url, self.user_agent)

    def _attempts(
        self,
        url: str,
        address: str,
        types: tuple[str, ...] | None,
        stored: tuple[Stored, bytes] | None,
    ) -> Page | str:
        """The page, or the address that it redirects to."""
        if urlsplit(address).scheme not in {"http", "https"}:
            raise FetchError(url, f"not a web address ({address})")
        if not self.allowed(address):
            broken = urlsplit(address).netloc in self._without_rules
            raise FetchError(
                url, "robots.txt can't be read" if broken else "robots.txt asks not to fetch it"
            )
        reason = ""
        for attempt in range(self.limits.attempts):
            try:
                with self._connections.deadline(self._target(address), self._longest):
                    outcome = self._once(url, address, types, stored)
            except httpx.TimeoutException:
                outcome = _Again("no answer in time")
            except httpx.InvalidURL:
                raise FetchError(url, "not a valid address") from None
            except PrivateAddress as error:
                raise FetchError(url, f"leads into a private network ({error})") from None
            except httpx.TransportError as error:
                if self._connections.hung_up:
                    raise FetchError(url, "no end in time") from None
                outcome = _Again(_plain(error))
            if not isinstance(outcome, _Again):
                return outcome
            reason = outcome.reason
            if outcome.wait > _LONGEST_WAIT:
                break
            if attempt + 1 < self.limits.attempts:
                log.info("%s: %s, trying again", address, reason)
                self._sleep(max(outcome.wait, self.limits.backoff * 2**attempt))
        raise FetchError(url, reason)

    def _once(
        self,
        url: str,
        address: str,
        types: tuple[str, ...] | None,
        stored: tuple[Stored, bytes] | None,
    ) -> Page | str | _Again:
        headers = {}
        # The validators belong to the final address; what leads there is only asked for a redirect.
        if stored and stored[0].url == address:
            if stored[0].etag:
                headers["If-None-Match"] = stored[0].etag
            if stored[0].modified:
                headers["If-Modified-Since"] = stored[0].modified
        self._pause(address)
        with self._client.stream("GET", self._target(address), headers=headers) as response:
            status = response.status_code
            if status == 304 and stored:
                self._store(url, stored[0], stored[1], response)
                return Page(stored[0].url, url, stored[1], stored[0].content_type, unchanged=True)
            if status in _REDIRECTS:
                target = response.headers.get("location")
                if not target:
                    raise FetchError(url, f"status {status} without an address")
                following = resolve(address, target)
                if following is None:
                    raise FetchError(url, "redirects to an address that isn't valid")
                return self._own(following)
            if status in _AGAIN:
                return _Again(f"status {status}", _retry_after(response))
            if status != 200:
                raise FetchError(url, f"status {status}")
            content_type = response.headers.get("content-type", "")
            media = content_type.partition(";")[0].strip().lower()
            if types is not None and media and media not in types:
                raise FetchError(url, f"is {media}, not a page")
            body = self._body(url, response)
        unchanged = stored is not None and digest(body) == stored[0].digest
        page = Page(address, url, body, content_type, unchanged)
        fresh = Stored(address, content_type, None, None, 0.0, digest(body))
        self._store(url, fresh, body, response)
        return page

    def _body(self, url: str, response: httpx.Response) -> bytes:
        """The unpacked body; never unpacks more than the limit, so that a small bomb stays small."""
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise FetchError(url, f"packed in an unknown way ({encoding})")
        unpacker = zlib.decompressobj(47) if encoding not in {"", "identity"} else None
        limit = self.limits.max_bytes
        length = response.headers.get("content-length", "")
        if length.isdigit() and int(length) > limit:
            raise FetchError(url, f"larger than {limit / 1_000_000:g} MB")
        deadline = time.monotonic() + self._longest
        body = bytearray()
        # Piece by piece as they arrive, so that the deadline is looked at even when few do.
        for piece in response.iter_raw():
            if unpacker:
                try:
                    piece = unpacker.decompress(piece, limit + 1 - len(body))
                except zlib.error:
                    raise FetchError(url, "its compression is broken") from None
            body += piece
            if len(body) > limit:
                raise FetchError(url, f"larger than {limit / 1_000_000:g} MB")
            if time.monotonic() > deadline:
                raise FetchError(url, "no end in time")
        if self._connections.hung_up:  # a body without a length ends like this too
            raise FetchError(url, "no end in time")
        return bytes(body)

    def _store(self, url: str, known: Stored, body: bytes, response: httpx.Response) -> None:
        if not self.cache:
            return
        etag = response.headers.get("etag") or known.etag
        modified = response.headers.get("last-modified") or known.modified
        fresh = Stored(known.url, known.content_type, etag, modified, time.time(), known.digest)
        try:
            self.cache.save(url, fresh, body)
        except OSError as error:
            raise FootnoteError(
                f"The page cache {self.cache.folder} can't be written ({error.strerror}); "
                "free some space there or name another folder."
            ) from None

    def _pause(self, address: str) -> None:
        host = urlsplit(address).netloc
        rules = self._robots.get(_root(address))
        asked = rules.crawl_delay(self.user_agent) if rules else None
        # A whole site at one page a minute would never end; such a wish is honoured up to 10 s.
        delay = max(self.limits.delay, min(float(asked or 0), 10.0))
        self.requests += 1
        if host in self._last:
            left = self._last[host] + delay - time.monotonic()
            if left > 0:
                self._sleep(left)
        self._last[host] = time.monotonic()

    def _rules(self, url: str) -> Protego | None:
        """The host's robots.txt; None where there is none. Server errors forbid all (RFC 9309)."""
        root = _root(url)
        if root not in self._robots:
            self._robots[root] = self._read_rules(root)
        return self._robots[root]

    def _read_rules(self, root: str) -> Protego | None:
        address = f"{root}/robots.txt"
        for attempt in range(self.limits.attempts):
            self.requests += 1
            try:
                with (
                    self._connections.deadline(self._target(address), self._longest),
                    self._client.stream(
                        "GET", self._target(address), follow_redirects=True
                    ) as response,
                ):
                    if response.status_code == 200:
                        text = self._body(address, response).decode("utf-8", "replace")
                        return Protego.parse(text)
                    if response.status_code < 500 and response.status_code != 429:
                        return None
            except (
                httpx.TransportError,
                httpx.TooManyRedirects,
                httpx.InvalidURL,
                FetchError,
                PrivateAddress,
            ):
                return None  # whether the server can be reached shows with the page itself
            if attempt + 1 < self.limits.attempts:
                self._sleep(self.limits.backoff * 2**attempt)
        self._without_rules.add(urlsplit(root).netloc)
        return Protego.parse("User-agent: *\nDisallow: /")

    def _target(self, address: str) -> str:
        if self.mirror and address.startswith(self.mirror[0]):
            return self.mirror[1] + address[len(self.mirror[0]) :]
        return address

    def _own(self, address: str) -> str:
        if self.mirror and address.startswith(self.mirror[1]):
            return self.mirror[0] + address[len(self.mirror[1]) :]
        return address


@dataclass(frozen=True)
class _Again:
    """A fault that may pass; `wait` is how many seconds the server asked for."""

    reason: str
    wait: float = 0.0


def _root(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _retry_after(response: httpx.Response) -> float:
    """Seconds from the Retry-After header, which holds a number or a date; 0 without one."""
    text = response.headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, when.timestamp() - time.time())


def _plain(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.ConnectError):
        return "no connection to the server"
    return "the connection broke off"
