"""What an ask took, for those who wonder why it took so long."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.similarity.effort import Tally


@dataclass(frozen=True)
class Effort:
    """What the last ask of a study took; `str` says it in a sentence.

    seconds: on the clock, learning included.
    objects: how many times a new object was scored. A pool counts whole, each time it is searched.
    comparisons: scores of two objects, by all similarities together; those that were at hand count as well.
    calls: calls of plain functions of two objects, the user's own similarities.

    Work in other processes is not counted.

    >>> print(Effort(0.214, 1200, 24000, 0))
    0.21 s, 1,200 objects scored, 24,000 comparisons
    """

    seconds: float
    objects: int
    comparisons: int
    calls: int

    @classmethod
    def of(cls, seconds: float, tally: Tally) -> Effort:
        """What was counted in so many seconds."""
        return cls(seconds, tally.objects, tally.comparisons, tally.calls)

    def __str__(self) -> str:
        calls = f", {self.calls:,} calls of a function" if self.calls else ""
        return f"{self.seconds:.2f} s, {self.objects:,} objects scored, {self.comparisons:,} comparisons{calls}"
