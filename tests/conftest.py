"""What all tests share: a busy machine is no failure, and Ctrl-C means what it means in a terminal."""

from __future__ import annotations

import signal
import threading

from hypothesis import settings

# Commands and tables to talk about, and databases: loaded for all tests, made for those that ask.
pytest_plugins = ["tests.fixtures.commands", "tests.fixtures.databases"]

settings.register_profile("likewise", deadline=None)
settings.load_profile("likewise")

# Shells that run something in the background have it ignore Ctrl-C, and tests of Ctrl-C would wait for it in vain.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
