"""Footnote: starts the chat. `python app.py --help` lists the options; settings are in the README."""

import argparse
import importlib
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from rag import logs
from rag.search.stores import open_store
from rag.settings import Settings
from rag.types import FootnoteError
from rag.web.address import bind

HERE = Path(__file__).parent


def main() -> int:
    """Loads and warms everything, then serves. Returns 1 after a failure, explained in one line."""
    parser = argparse.ArgumentParser(description="Chat with a blog, or interview a person.")
    parser.add_argument("--host", help="address to listen on (default: HOST or 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: PORT or 7860)")
    parser.add_argument("--share", action="store_true", help="also open a public link for 72 hours")
    parser.add_argument("--collection", help="the collection that opens first")
    options = parser.parse_args()
    # Until the server has its own: as the first process of a container it would be ignored else.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        given = {k: v for k, v in vars(options).items() if v is not None and k != "share"}
        settings = replace(Settings.from_environment(), **given)
        logs.set_up(settings.log_format)
        listener = bind(settings)  # a port in use is said before the models are loaded
        if not open_store(settings).names():
            # In a process of its own: building needs memory and libraries that serving doesn't.
            build = [
                sys.executable,
                str(HERE / "build_index.py"),
                "--out",
                str(settings.artifacts_dir),
            ]
            if status := subprocess.run(build).returncode:
                return status
        from rag.answer.load import load_answerer
        from rag.corpus import published_pages

        # Importing Gradio takes as long as loading the models, and neither waits for the other.
        with ThreadPoolExecutor(1) as pool:
            server = pool.submit(importlib.import_module, "rag.web.server")
            answerer, about = load_answerer(settings)
        server.result().serve(
            answerer, settings, share=options.share, about=about, published=published_pages(),
            listener=listener,
        )  # fmt: skip
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
