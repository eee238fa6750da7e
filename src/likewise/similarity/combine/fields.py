"""Some fields of a record as one vector: the parts of a mixture that stand in columns of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from likewise.errors import SimilarityError
from likewise.similarity.base import Function, Similarity
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.encodings.arrays import Encoding


@dataclass(frozen=True)
class Fields(Through):
    """A similarity of vectors, of the numbers in these fields of a record, in this order. PSD if the inner one is.

    - `inner`: a similarity of vectors or compositions.
    - `names`: the fields.

    >>> from likewise.similarity.kinds.compositions import Hellinger
    >>> recipe = Fields(Hellinger(), ("water", "ethanol"))
    >>> round(recipe({"water": 0.5, "ethanol": 0.5}, {"water": 90, "ethanol": 10}), 4)
    0.8944
    """

    inner: Similarity | Function
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.wrapped.name} of {', '.join(self.names)}"

    def encode(self, objects: Sequence[Any]) -> Encoding:
        for number, x in enumerate(objects):
            missing = [f for f in self.names if f not in x] if isinstance(x, Mapping) else self.names
            if missing:
                raise SimilarityError(f"record {number} has no field {missing[0]!r}: {x!r}; give it one")
        return self.wrapped.encode([[x[name] for name in self.names] for x in objects])
