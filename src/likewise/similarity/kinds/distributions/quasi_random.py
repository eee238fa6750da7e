"""A generator whose uniform and normal draws fill the space evenly, so that averages over them are more exact.

It is handed to a sampler in the place of a usual generator. Draws of n rows are columns of a scrambled Sobol sequence,
one column for each number that a row needs, so that those of one sample are independent of each other. A sampler that
turns uniform or normal numbers into its draws (by quantiles, or by a mean and a scale) gains by it; one that draws in
other ways, by `rng.gamma` for one, has the draws of a usual generator of the same seed.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log2, prod
from typing import Any

import numpy as np

from likewise.similarity.base import Matrix

# Numbers for a sample beyond so many are plain random: even filling of so many dimensions would take more samples.
COLUMNS = 64


class QuasiRandom(np.random.Generator):
    """Draws of `rows` samples. The same seed gives the same draws.

    >>> u = QuasiRandom(0, 8).random(8)
    >>> np.sort(np.floor(8 * u)).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """

    def __init__(self, seed: int, rows: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self._seed, self._rows, self._used = seed, rows, 0

    def random(self, size: Any = None, *args: Any, **options: Any) -> Any:
        """Uniform draws from [0, 1)."""
        found = None if args or options else self._columns(size)
        return super().random(size, *args, **options) if found is None else found

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform draws from [low, high)."""
        found = self._columns(size)
        return super().uniform(low, high, size) if found is None else low + (np.asarray(high) - low) * found

    def standard_normal(self, size: Any = None, *args: Any, **options: Any) -> Any:
        """Standard normal draws, by the quantiles of uniform ones."""
        found = None if args or options else self._columns(size)
        return super().standard_normal(size, *args, **options) if found is None else _quantiles(found)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Normal draws of these means and standard deviations."""
        found = self._columns(size)
        return super().normal(loc, scale, size) if found is None else loc + np.asarray(scale) * _quantiles(found)

    def _columns(self, size: Any) -> Matrix | None:
        """The next columns, if one row for each sample is asked for and there are columns left."""
        shape = () if size is None else tuple(np.atleast_1d(size).tolist())
        width = prod(shape[1:])
        if shape[:1] != (self._rows,) or self._used + width > COLUMNS:
            return None
        self._used += width
        return _points(self._seed, self._rows)[:, self._used - width : self._used].reshape(shape)


@lru_cache(maxsize=8)
def _points(seed: int, rows: int) -> Matrix:
    """Scrambled points strictly between 0 and 1: each of them alone is uniform."""
    from scipy.stats import qmc

    points = qmc.Sobol(COLUMNS, seed=np.random.default_rng(seed)).random_base2(max(1, ceil(log2(rows))))[:rows]
    inside = np.clip(points, np.finfo(float).eps, 1.0 - np.finfo(float).eps)
    inside.flags.writeable = False
    return np.asarray(inside, dtype=float)


def _quantiles(uniform: Matrix) -> Matrix:
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform), dtype=float)
