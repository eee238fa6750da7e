"""What all tests share: a busy machine is no failure, and Ctrl-C means what it means in a terminal."""

from __future__ import annotations

import os
import signal
import threading

from hypothesis import settings

# Commands and tables to talk about, and databases: loaded for all tests, made for those that ask.
pytest_plugins = ["tests.fixtures.commands", "tests.fixtures.databases"]

# The same examples every time, so that a failure is a change's own; HYPOTHESIS_PROFILE=explore draws others, and more.
settings.register_profile("likewise", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "likewise"))

# Shells that run something in the background have it ignore Ctrl-C, and tests of Ctrl-C would wait for it in vain.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
