"""How many cases: some in each test run, and 5,000 a test with `--hypothesis-profile=long`.

`make fuzz` runs the long one three times, each time with other cases: more than 100,000 in all.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_ALWAYS = {
    "deadline": None,  # a slow machine is no fault; each test bounds the time itself
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}
settings.register_profile("short", max_examples=60, **_ALWAYS)  # type: ignore[arg-type]
settings.register_profile("long", max_examples=5000, **_ALWAYS)  # type: ignore[arg-type]
settings.load_profile("short")
