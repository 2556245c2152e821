"""The demo collections: the blog and the three people in `corpus/`, served to the builder as a site.

They go the way that any site goes: sitemap, HTTP, extraction. Their public addresses stand in the
pages; the builder fetches from a server of its own in their place.
"""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.build import Plan
from rag.corpus import BLOG, CORPUS, PEOPLE, file_of
from rag.ingest.sources import Source
from rag.search.analyse import fold


@contextmanager
def demo_plans() -> Iterator[list[Plan]]:
    """The demo's plans, while a server on this machine holds its pages."""
    with _served(CORPUS) as here:
        blog = Source("sitemap", f"{BLOG}/sitemap.xml", mirror=(BLOG, f"{here}/blog"))
        plans = [Plan("blog", blog, delay=0.0)]
        for page in sorted((CORPUS / "people" / "wiki").glob("*.html")):
            address = f"{PEOPLE}/wiki/{page.stem}"
            source = Source("wikipedia", address, mirror=(PEOPLE, f"{here}/people"))
            name = re.sub(r"[^a-z0-9]+", "-", fold(page.stem)).strip("-")
            plans.append(Plan(name, source, delay=0.0, licence="MIT"))
        yield plans


class _Pages(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        """The file of an address without its query."""
        address = path.partition("?")[0].partition("#")[0]
        return str(file_of(CORPUS, address) or CORPUS / "missing")

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the builder reports."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Pages, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
