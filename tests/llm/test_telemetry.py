"""Nothing leaves the machine, ONNX Runtime's reports to its maker included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rag.llm.build import Models

ROOT = Path(__file__).parents[2]
CODE = """
import sys
from pathlib import Path
from rag.llm.encoder import OnnxEncoder
OnnxEncoder(Path(sys.argv[1]), threads=1).encode_query("x")
"""


def test_a_loaded_model_leaves_no_identifier_for_reports(tiny: Models, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    env.pop("ORT_DISABLE_TELEMETRY", None)
    command = [sys.executable, "-c", CODE, str(tiny.embedder)]
    subprocess.run(command, cwd=ROOT, env=env, check=True, timeout=60)
    assert list(tmp_path.rglob("*onnxruntime*")) == []
