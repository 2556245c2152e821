"""Ask a blog, or interview a person: the package behind `app.py` and `build_index.py`."""

import os

# ONNX Runtime's official builds report each session to their maker, and keep an identifier in the
# user's cache folder, unless this is set before it is loaded (its Privacy.md).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
