"""What an objective returns when it knows how sure it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A value with its standard error, as if told by `study.tell(x, value, std=std)`.

    >>> float(Measurement(0.31, std=0.02))
    0.31
    """

    value: float
    std: float

    def __float__(self) -> float:
        return float(self.value)
