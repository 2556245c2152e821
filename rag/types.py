"""The small frozen records that pass between the rooms: Document → Chunk → Hit → Answer.

`Answer.as_json` is the public answer object; `docs/api.md` describes it field by field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

Language = Literal["en", "es"]
Mode = Literal["blog", "interview"]
Outcome = Literal["answered", "refused", "greeting", "error"]
Stage = Literal["searching", "reading", "writing", "done"]
BlockKind = Literal[
    "heading", "paragraph", "list", "table", "code", "quote", "formula", "caption", "facts"
]
DocumentKind = Literal["post", "article", "overview"]


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and how many there are."""


class FootnoteError(Exception):
    """A failure that a user can cause; its text says what, where and what to do, in one line."""


class Unavailable(FootnoteError):
    """A server that this process needs (a model's, a database) gives no answer now; later it may."""


@dataclass(frozen=True)
class Block:
    """A paragraph, list, table, code block … of a page, with the headings that it stands under.

    `text` is what a reader would get: code keeps its indentation inside a ``` fence, list items
    and table rows are one line each, formulas are LaTeX, a heading is a line that begins with #,
    a quotation's lines with >.
    """

    kind: BlockKind
    text: str
    section: tuple[str, ...] = ()
    anchor: str | None = None
    """The id of the nearest heading above, for an address that opens there; None at the top."""


@dataclass(frozen=True)
class Document:
    """One page, cleaned."""

    url: str
    title: str
    language: str
    """ISO 639-1 code."""
    blocks: tuple[Block, ...]
    published: str | None = None
    """YYYY-MM-DD."""
    tags: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    """Addresses of the same text in other languages."""
    kind: DocumentKind = "post"
    author: str | None = None
    site: str | None = None
    """The name of the site that it belongs to, where it says so."""

    @property
    def text(self) -> str:
        """The page's extracted text; every quote occurs in it, white space aside."""
        return "\n\n".join(block.text for block in self.blocks)


@dataclass(frozen=True)
class Chunk:
    """What is embedded, found and shown to the model: about 400 tokens of one page."""

    id: str
    text: str
    title: str
    url: str
    """Opens the page, at the chunk's section where that has an anchor."""
    section: str | None
    """Headings from the outermost to the innermost, joined by ` > `."""
    language: str
    published: str | None = None
    tags: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    kind: DocumentKind = "post"
    sentences: tuple[tuple[int, int], ...] = ()
    """Where each sentence of `text` starts and ends."""
    first_person: tuple[str | None, ...] = ()
    """Of each sentence, how the page's subject would say it, None where that can't be told for sure.
    Empty outside interviews. Only the original is embedded and quoted."""

    @property
    def told(self) -> str:
        """The text under its title and headings: what is embedded, and what a passage holds."""
        return "\n".join(filter(None, (self.title, self.section, self.text)))

    @property
    def page(self) -> str:
        """The page's address without a fragment."""
        return self.url.partition("#")[0]


@dataclass(frozen=True)
class Hit:
    """A chunk that a search found. `score` is the cosine of question and chunk, -1 to 1."""

    chunk: Chunk
    score: float
    lexical: float = 0.0
    """BM25 score, 0 when the lexical search didn't find the chunk."""
    fused: float = 0.0
    """The rank of both searches together; larger is better."""


@dataclass(frozen=True)
class Turn:
    """One message of a conversation, oldest first in a history."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True)
class Citation:
    """The source behind the marker `[n]`, with the sentence that it was matched to."""

    n: int
    title: str
    url: str
    section: str | None
    published: str | None
    quote: str
    score: float
    language: str
    passage: str
    """The chunk's text around the quote; a further chunk of the page that is cited follows `[…]`."""
    quotes: tuple[str, ...] = ()
    """For each marker of this number in the answer's text, in order, the quote behind it."""


@dataclass(frozen=True)
class Nearest:
    """A page that came close to a question that was refused."""

    title: str
    url: str
    score: float


@dataclass(frozen=True)
class Timings:
    """Milliseconds from the question's arrival, and token counts."""

    retrieve_ms: int = 0
    first_token_ms: int = 0
    total_ms: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Answer:
    """The answer object, whole or, while it streams, what there is of it so far."""

    question: str
    search_query: str
    collection: str
    mode: Mode
    language: Language
    outcome: Outcome
    answer: str
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    passages: int = 0
    """How many were read for it."""
    route: tuple[str, ...] = ()
    withheld: int = 0
    timings: Timings = field(default_factory=Timings)
    draft: str = ""
    """The sentence that is likely to be shown, or that is being written; not decided yet, and empty on
    the last object."""
    stage: Stage = "done"
    """`done` on the last object of a stream, and only there."""
    suggestions: tuple[str, ...] = ()
    """Questions that the collection can answer, to be offered next."""

    def as_json(self) -> dict[str, Any]:
        """The public answer object: plain lists and dictionaries."""
        return asdict(self)


@dataclass(frozen=True)
class Card:
    """Whom an interview is with, from the page alone."""

    name: str
    gender: Literal["m", "f"]
    names: tuple[str, ...]
    """Single words that mean the person."""
    line: str
    """What the person is or was, as the page's first sentence has it; may be empty."""
    years: str
    """`1815–1852`, or empty."""
    is_dead: bool
    licence: str | None
    """Of the page's text, where it is known."""


@dataclass(frozen=True)
class CollectionInfo:
    """What a reader may know of a collection before asking it."""

    name: str
    title: str
    mode: Mode
    language: Language
    """Of the written texts until a question decides."""
    languages: tuple[str, ...]
    pages: int
    chunks: int
    built: str
    """ISO 8601, UTC."""
    source: str
    suggestions: tuple[tuple[str, tuple[str, ...]], ...]
    """Opening questions per language: (("en", ("…",)), …)."""
    card: Card | None = None
    """In an interview, whom it is with."""

    def as_json(self) -> dict[str, Any]:
        """Plain lists and dictionaries; `suggestions` by language."""
        return {**asdict(self), "suggestions": {k: list(v) for k, v in self.suggestions}}


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    name: str
    dimension: int
    fingerprint: str
    """Changes whenever the vectors would; an index made with another one is refused."""

    def encode_query(self, text: str) -> Any:
        """Float32 array of shape (dimension,), length 1."""

    def encode_passages(self, texts: list[str]) -> Any:
        """Float32 array of shape (len(texts), dimension), rows of length 1; no text is cut off."""

    def count_tokens(self, text: str) -> int:
        """Tokens of the encoder's own tokenizer, without special ones."""
