"""Builds a collection from a site, a feed, a list, saved pages or a Wikipedia article.

Without a source it builds the demo collections from `corpus/`.
"""

import argparse
import logging
import sys
from dataclasses import replace
from pathlib import Path

from rag.settings import Settings
from rag.types import FootnoteError


def main() -> int:
    """Builds. Returns 1 after a failure that is explained in one line."""
    options = _parser().parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    try:
        settings = Settings.from_environment()
        if options.out:
            settings = replace(settings, artifacts_dir=options.out)
        from rag import prepare

        kind = next((k for k in prepare.SOURCES if getattr(options, k)), None)
        if kind is None:
            prepare.build_demo(settings, only_missing=options.if_missing)
        else:
            prepare.build_from(kind, options, settings)
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--sitemap", metavar="URL", help="a sitemap, or a site that has one")
    source.add_argument("--feed", metavar="URL", help="an RSS or Atom feed")
    source.add_argument("--urls", metavar="FILE", help="a file with one address a line")
    source.add_argument("--html", metavar="DIR", help="a folder of saved or exported pages")
    source.add_argument("--wikipedia", metavar="TITLE_OR_URL", help="an exact title or an address")
    parser.add_argument("--name", help="the collection's name (default: from the source)")
    parser.add_argument("--title", help="what the page calls it (default: the site's own name)")
    parser.add_argument("--lang", choices=("en", "es"), help="language of written texts, and of "
                        "the Wikipedia edition for a bare title")  # fmt: skip
    parser.add_argument("--mode", choices=("blog", "interview"), help="(default: by the source)")
    parser.add_argument("--out", type=Path, help="(default: RAG_ARTIFACTS_DIR or artifacts)")
    parser.add_argument("--include", action="append", default=[], metavar="PATTERN",
                        help="only addresses that match; may be repeated")  # fmt: skip
    parser.add_argument("--exclude", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many pages")
    parser.add_argument("--delay", type=float, default=1.0, metavar="S",
                        help="seconds between two requests to a host (default: 1)")  # fmt: skip
    parser.add_argument("--battery", type=Path, metavar="FILE",
                        help="your own labelled questions for the gate")  # fmt: skip
    parser.add_argument("--let-through", type=float, default=0.97, metavar="SHARE",
                        help="share of answerable questions that must pass the gate")  # fmt: skip
    parser.add_argument("--allow-private", action="store_true", help="also fetch addresses in "
                        "private networks that the source only leads to")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="embed everything anew")
    parser.add_argument("--if-missing", action="store_true", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
