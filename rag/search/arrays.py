"""Arrays from files that anyone may have made."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError

import numpy as np


def map_array(path: Path, kind: type[np.generic], dimensions: int) -> np.ndarray:
    """Maps a `.npy` file; no pickle is opened.

    Raises OSError when it can't be read, and ValueError when it isn't a whole array of that kind
    and number of dimensions. NumPy itself parses a file's header as Python, and raises what that
    gives.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (EOFError, SyntaxError, TokenError) as error:
        raise ValueError(f"{path} has no header of an array") from error
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != dimensions:
        raise ValueError(f"{path} holds another kind of array")
    return array
