"""What a forked child inherits and must begin anew: locks that no thread of its own holds, and what is its parent's."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Inherited(Protocol):
    """Something that a child may inherit."""

    def begin_in_child(self) -> None:
        """Make it the child's own."""


_inherited: WeakSet[Inherited] = WeakSet()


def watch(one: Inherited) -> None:
    """Have it begin anew in every forked child."""
    _inherited.add(one)


def _begin_in_child() -> None:
    for one in list(_inherited):
        one.begin_in_child()


# Windows does not fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
