"""How many cases: some in each test run; `--hypothesis-profile=long` runs over 100,000."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_ALWAYS = {
    "deadline": None,  # a slow machine is no fault; each test bounds the time itself
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}
settings.register_profile("short", max_examples=100, **_ALWAYS)  # type: ignore[arg-type]
settings.register_profile("long", max_examples=18_000, **_ALWAYS)  # type: ignore[arg-type]
settings.register_profile("middle", max_examples=800, **_ALWAYS)  # type: ignore[arg-type]
settings.load_profile("short")
