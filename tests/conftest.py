"""One profile for all property tests: a busy machine is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("likewise", deadline=None)
settings.load_profile("likewise")
