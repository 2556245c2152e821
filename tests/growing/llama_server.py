"""llama.cpp's own server over a GGUF file: `python -m tests.growing.llama_server FILE [PORT]`.

Runs until its standard input closes; its first line on standard output is its address.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Starts the server of xllamacpp's prebuilt llama.cpp, and waits."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(Path(sys.argv[1]))
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
    sys.stdin.read()


if __name__ == "__main__":
    main()
