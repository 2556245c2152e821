"""How many cases: some in each test run, and 5,000 a test with `--hypothesis-profile=long`.

`make fuzz` runs the long one three times, each time with other cases: more than 100,000 in all.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A slow machine is no fault: each test bounds the time itself.
_SHORT = settings(
    max_examples=60, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck)
)
settings.register_profile("short", _SHORT)
settings.register_profile("long", _SHORT, max_examples=5000)
settings.load_profile("short")
