"""How other interpreters are started: none of them runs a file of the working directory that is named like a library.

Worker processes begin with `python -c` or `python -m`, which look there first, and have the path of this process only a
few imports later.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# By this Python does not look for modules in the working directory first.
SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def safe_path() -> Iterator[None]:
    """Interpreters that start meanwhile do not look for modules in the working directory."""
    before = os.environ.get(SAFE_PATH)
    set_safe_path("1")
    try:
        yield
    finally:
        set_safe_path(before)


def set_safe_path(value: str | None) -> None:
    """Set the variable, or remove it."""
    if value is None:
        os.environ.pop(SAFE_PATH, None)
    else:
        os.environ[SAFE_PATH] = value
