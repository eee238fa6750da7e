"""How alike are two objects? The protocol, its algebra, and one file per kind of object.

`likewise.similarity` is this room and also the public function that makes a similarity of a plain function, so the room
can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likewise.similarity.base import Function, Similarity


class _Room(ModuleType):
    """A module that can be called: `likewise.similarity(function)`."""

    def __call__(self, function: Function, *, psd: bool = False) -> Similarity:
        from likewise.similarity.from_function import similarity

        return similarity(function, psd=psd)


sys.modules[__name__].__class__ = _Room
