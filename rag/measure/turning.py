"""Shows what became of each sentence of an article about a person: `python -m rag.measure.turning FILE…`.

A file is a saved MediaWiki page, or `FILE.json:N:NAME` for the N-th article of a SQuAD-format file
about the man NAME. `>` marks a sentence in the first person, `=` one that doesn't speak of the
subject, `?` one that can't be turned safely. Whether the turned ones are right, a reader has to say.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from rag.answer.language import detect
from rag.ingest.extract import extract
from rag.ingest.first_person.subject import Subject, find_subject
from rag.ingest.first_person.turn import first_person
from rag.measure.squad import read_squad
from rag.types import Block, Document


def main(arguments: list[str]) -> None:
    """Prints the sentences of each article, and how many there are of each kind."""
    for argument in arguments:
        document, subject = _read(argument)
        if subject is None:
            print(f"{document.title}: about no person")
            continue
        counts: Counter[str] = Counter()
        for original, told in first_person(document, subject).items():
            mark = "?" if told is None else "=" if told == original else ">"
            counts[mark] += 1
            print(f"{mark} {original if told is None else told}")
        print(f"{document.title}: {dict(counts)}")


def _read(argument: str) -> tuple[Document, Subject | None]:
    path, _, rest = argument.partition(".json:")
    if not rest:
        file = Path(argument)
        document = extract(file.read_bytes(), f"https://en.wikipedia.org/wiki/{file.stem}")
        return document, find_subject(document)
    number, _, name = rest.partition(":")
    pages = read_squad(Path(f"{path}.json"))
    texts = [t for t, a in zip(pages.paragraphs, pages.articles, strict=True) if a == int(number)]
    language = detect(" ".join(texts), "en")
    blocks = tuple(Block("paragraph", text) for text in texts)
    document = Document("", name, language, blocks, kind="article")
    words = name.split()
    return document, Subject(
        name, "m", language, name, frozenset({words[0], words[-1]}), is_dead=True
    )


if __name__ == "__main__":
    main(sys.argv[1:])
