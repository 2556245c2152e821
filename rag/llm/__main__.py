"""`python -m rag.llm`: gets and builds the models that the settings name."""

from __future__ import annotations

import logging
import sys

from rag.llm.build import ensure_embedder, ensure_llm
from rag.settings import Settings
from rag.types import FootnoteError


def main() -> int:
    """Exit status 0 when both models are there, 1 with one line on stderr when they can't be."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        settings = Settings.from_environment()
        llm = settings.llm if settings.llm_is_served else ensure_llm(settings)
        embedder = ensure_embedder(settings)
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"language model: {llm}\nembedder: {embedder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
