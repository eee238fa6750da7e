"""Property tests without a deadline: first calls import libraries, and the machine may be busy."""

from hypothesis import settings

settings.register_profile("likewise", deadline=None)
settings.load_profile("likewise")
