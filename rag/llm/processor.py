"""What the processor can do with bytes."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path


@cache
def adds_without_saturating() -> bool:
    """Whether products of unsigned and signed bytes are added in 32 bits.

    x86 processors without VNNI add pairs of them in 16 bits and saturate; ONNX Runtime's kernels
    for two unsigned operands avoid that, but don't use the matrix units of newer processors.
    """
    if platform.machine().lower() not in {"x86_64", "amd64", "i686"}:
        return True
    try:
        return "vnni" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
