"""Where the demo's own pages lie, and under which public addresses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

CORPUS = Path(__file__).parent.parent / "corpus"
BLOG = "https://smallmodels.example"
PEOPLE = "https://people.example"
_FOLDERS = {BLOG: CORPUS / "blog", PEOPLE: CORPUS / "people"}


def published_pages() -> dict[str, Callable[[str], Path | None]]:
    """Public address → what finds a page's file, so that the app can show the demo's own pages."""
    return {site: functools.partial(file_of, folder) for site, folder in _FOLDERS.items()}


def file_of(folder: Path, address: str) -> Path | None:
    """The file behind a path of a published site: `/a/` is `a/index.html`, `/wiki/B` is `wiki/B.html`.

    None when there is none, or when the path leads out of the folder.
    """
    path = (folder / unquote(address).lstrip("/")).resolve()
    if not path.is_relative_to(folder.resolve()):
        return None
    for candidate in (path, path / "index.html", path.with_name(f"{path.name}.html")):
        if candidate.is_file():
            return candidate
    return None
