"""Scores of many objects with numbered ones: one column for each number, appended and never moved.

Columns are kept as blocks of shape (columns, rows), in memory or in one file on disk, which is mapped while it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.similarity.base import Matrix

Single = NDArray[Any]
# Narrow blocks are put together up to this width, for a product with many thin blocks is slower than with a few.
WIDTH = 32
# Rows are close together where this many times as many span them.
CLOSE = 2


@dataclass(eq=False)
class Columns:
    """The columns of one similarity for some rows of a pool.

    >>> columns = Columns(rows=2, dtype=np.float32)
    >>> columns.append([7, 9], np.array([[0.5, 0.25], [1.0, 0.0]]))
    >>> columns.missing([9, 8, 7]), columns.of([9]).tolist(), columns.at(np.array([1]), [9, 7]).tolist()
    ([8], [[1.0, 0.0]], [[0.0, 0.25]])
    """

    rows: int
    dtype: Any
    path: Path | None = None
    places: dict[int, int] = field(default_factory=dict)
    _blocks: list[Single] = field(default_factory=list)

    def missing(self, numbers: Iterable[int]) -> list[int]:
        """Those of the numbers that have no column."""
        return [number for number in numbers if number not in self.places]

    @property
    def nbytes(self) -> int:
        """What is held in memory."""
        return sum(block.nbytes for block in self._blocks)

    def append(self, numbers: Sequence[int], block: Matrix) -> None:
        """New columns, one row of `block` for each number."""
        start = len(self.places)
        added = np.asarray(block, dtype=self.dtype, order="C")
        if self.path is not None:
            with self.path.open("ab") as file:
                added.tofile(file)
        elif self._blocks and len(self._blocks[-1]) + len(added) <= WIDTH:
            self._blocks[-1] = np.concatenate([self._blocks[-1], added])
        else:
            self._blocks.append(added)
        self.places.update(zip(numbers, range(start, start + len(numbers)), strict=True))

    def spill(self, path: Path) -> None:
        """Move to disk."""
        if self.path is None:
            with path.open("wb") as file:
                for block in self._blocks:
                    block.tofile(file)
            self.path, self._blocks = path, []

    def only(self, numbers: Iterable[int]) -> Columns:
        """The columns of those numbers alone; the others are removed with their file."""
        few = Columns(self.rows, self.dtype, None if self.path is None else self.path.with_suffix(".kept"))
        wanted = [number for number in numbers if number in self.places]
        for start in range(0, len(wanted), WIDTH):
            few.append(wanted[start : start + WIDTH], self.of(wanted[start : start + WIDTH]))
        if self.path is not None and few.path is not None:
            few.path.touch()
            few.path = few.path.replace(self.path)
            self.path = None
        self.close()
        return few

    def close(self) -> None:
        """Forget the columns, and their file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.places, self._blocks = {}, []

    def blocks(self) -> Iterator[Single]:
        """All columns, in order; of those on disk one block at a time is mapped."""
        if self.path is None:
            yield from self._blocks
        else:
            for first in range(0, len(self.places), WIDTH):
                yield self._map(first, min(WIDTH, len(self.places) - first))

    def _map(self, first: int, count: int) -> Single:
        assert self.path is not None
        offset = first * self.rows * np.dtype(self.dtype).itemsize
        mapped = np.memmap(self.path, dtype=self.dtype, mode="r", offset=offset, shape=(count, self.rows))
        return mapped.view(np.ndarray)

    def of(self, numbers: Sequence[int]) -> Single:
        """The columns of these numbers, one row each: a view where they lie side by side."""
        places = [self.places[number] for number in numbers]
        if places == list(range(places[0], places[0] + len(places))):
            return self._stretch(places[0], len(places))
        return np.concatenate([self._stretch(place, 1) for place in places])

    def _stretch(self, first: int, count: int) -> Single:
        if self.path is not None:
            return self._map(first, count)
        parts, start = [], 0
        for block in self._blocks:
            parts.append(block[max(0, first - start) : max(0, first + count - start)])
            start += len(block)
        held = [part for part in parts if len(part)]
        return held[0] if len(held) == 1 else np.concatenate(held)

    def sums(self, numbers: Sequence[int], weights: Matrix) -> Single:
        """Σ_j w_ij S_j over the numbered columns for each row of weights, in one reading of them."""
        ordered = np.zeros((len(self.places), len(weights)))
        # A number that comes twice, an object measured twice, has both its weights.
        np.add.at(ordered, [self.places[number] for number in numbers], weights.T)
        single = np.ascontiguousarray(ordered.T, dtype=self.dtype)
        total = np.zeros((len(weights), self.rows), dtype=self.dtype)
        first = 0
        for block in self.blocks():
            part = single[:, first : first + len(block)]
            first += len(block)
            if part.any():
                # One product with a vector reads faster than one with a matrix of one row.
                total += part @ block if len(part) > 1 else (part[0] @ block)[None]
        return total

    def at(self, rows: NDArray[np.intp], numbers: Sequence[int]) -> Matrix:
        """The scores of some rows with these numbers, of shape (rows, numbers)."""
        if not len(numbers):
            return np.zeros((len(rows), 0))
        places = [self.places[number] for number in numbers]
        # Rows in order that lie close together are copied as a whole, which is several times faster than one by one.
        first, last = int(rows[0]), int(rows[-1]) + 1
        close = last - first <= CLOSE * len(rows) and bool(np.all(rows[1:] > rows[:-1]))
        cut = slice(first, last) if close else rows
        found = np.empty((len(self.places), last - first if close else len(rows)))
        start = 0
        for block in self.blocks():
            found[start : start + len(block)] = block[:, cut]
            start += len(block)
        if places != list(range(len(places))):
            found = found[places]
        found = found[: len(places)]
        return found.T if not close or last - first == len(rows) else found.T[rows - first]
