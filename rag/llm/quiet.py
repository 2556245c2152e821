"""Keeps the libraries of the model build from talking over its progress."""

from __future__ import annotations

import logging
import warnings


def quiet_libraries() -> None:
    """Only errors of transformers, Optimum and torch's exporter are shown."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in ("optimum", "torch.onnx", "sentence_transformers", "onnxruntime"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=FutureWarning)
