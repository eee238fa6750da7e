"""Sums over all alignments of two series, for many pairs of series at once.

L(i, j) = log k(i, j) + log(exp L(i−1, j) + exp L(i, j−1) + exp L(i−1, j−1)) is the logarithm of the sum, over the
monotone paths from (0, 0) to (i, j), of the product of local scores k. The cells of an anti-diagonal i + j = s need
only the two before it, so they are computed together, for a block of pairs together; in logarithms, as products over
hundreds of points leave the range of floating-point numbers. Where they do not, which the sum itself shows, plain sums
and products take a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.similarity.base import Matrix, Vector

Integers = NDArray[np.intp]
# From squared distances (cells, pairs), which it may overwrite, and the shifts j − i of the cells: the logarithm of the
# local score, or its reciprocal.
Local = Callable[[Matrix, Vector], Matrix]
# From the lengths n and m of pairs, how far i may be ahead of j, and j ahead of i.
Corridor = Callable[[Integers, Integers], tuple[Integers, Integers]]
# Stands for log 0; finite, so that differences of two of them are numbers.
NEVER = -1e30
CELLS_AT_ONCE = 32768
# The largest and the smallest logarithms of plain numbers, and how far above what was lost a sum must be to be exact.
LOG_MOST, LOG_LEAST, LOG_EXACT = 700.0, -708.0, 36.0


class Arithmetic(NamedTuple):
    """How sums are made: as they are, from reciprocals of the local scores, or by the logarithms of both.

    `zero` and `one` are those of sums; `never` is a local score of zero. A `step` writes to its first argument.
    """

    zero: float
    one: float
    never: float
    step: Callable[[Matrix, Matrix, Matrix, Matrix, Matrix], None]


def band_corridor(band: float | None) -> Corridor:
    """Shifts of at most `band` times the longer series, beyond what the difference of the lengths needs; or any."""
    if band is None:
        return lambda n, m: (np.full_like(n, n.max(initial=0)), np.full_like(m, m.max(initial=0)))

    def corridor(n: Integers, m: Integers) -> tuple[Integers, Integers]:
        wide = np.rint(band * np.maximum(n, m)).astype(np.intp)
        return wide + np.maximum(n - m, 0), wide + np.maximum(m - n, 0)

    return corridor


def symmetric_pairs(score: Callable[[Integers, Integers], Vector], n: int, m: int, *, same: bool) -> Matrix:
    """The matrix of score(i, j); each pair once when the two sides are the same and the score is symmetric."""
    i, j = np.triu_indices(n) if same else np.divmod(np.arange(n * m), max(m, 1))
    matrix = np.empty((n, m))
    matrix[i, j] = score(i, j)
    if same:
        matrix[j, i] = matrix[i, j]
    return matrix


def alignment_logs(
    a: list[Matrix],
    b: list[Matrix],
    i: Integers,
    j: Integers,
    log_local: Local,
    corridor: Corridor,
    reciprocal: Local | None = None,
    negligible: float = -np.inf,
) -> Vector:
    """log Σ over alignments of a_i and b_j of the product of local scores, for the pairs (i, j) given.

    The reciprocals of local scores of at most 1 may be given as well, for plain sums where these are exact; a logarithm
    below `negligible` may then be any lower number, or −∞.
    """
    n = np.array([len(x) for x in a], dtype=np.intp)[i]
    m = np.array([len(y) for y in b], dtype=np.intp)[j]
    result = np.zeros(len(i))
    ahead, behind = corridor(n, m)
    width = int(np.minimum(np.minimum(n, m), (ahead + behind) // 2 + 1).max(initial=1))
    size = max(1, CELLS_AT_ONCE // width)
    # Pairs of like size share a block, so that little of it is filler.
    order = np.argsort(n + m, kind="stable")

    def sums(block: Integers, score: Local, arithmetic: Arithmetic) -> Vector:
        x = _side_by_side([a[k] for k in i[block]], n[block].max())
        y = _side_by_side([b[k] for k in j[block]], m[block].max())
        return _block(x, y, n[block], m[block], score, (ahead[block], behind[block]), arithmetic)

    def blocks(pairs: Integers) -> Iterator[Integers]:
        return (pairs[start : start + size] for start in range(0, len(pairs), size))

    left = order
    if reciprocal is not None:
        # Each step has three ways on, so there are at most so many alignments.
        log_paths = np.log(3.0) * (n + m)
        plain = log_paths < LOG_MOST
        with np.errstate(divide="ignore", under="ignore", over="ignore"):
            for block in blocks(order[plain[order]]):
                result[block] = np.log(sums(block, reciprocal, PLAIN))
        # What fell out of range was less than e^LOG_LEAST each time, and the ways on from it are counted.
        lost = LOG_LEAST + log_paths
        exact = plain & ((result >= lost + LOG_EXACT) | (np.logaddexp(result, lost) < negligible))
        left = order[~exact[order]]
    for block in blocks(left):
        result[block] = sums(block, log_local, LOGARITHMS)
    return result


def _side_by_side(series: list[Matrix], length: int) -> NDArray[np.float64]:
    """Series as an array (channels, length, series), filled up with zeros."""
    array = np.zeros((series[0].shape[1], length, len(series)))
    for k, x in enumerate(series):
        array[:, : len(x), k] = x.T
    return array


def _block(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    n: Integers,
    m: Integers,
    local: Local,
    bounds: tuple[Integers, Integers],
    arithmetic: Arithmetic,
) -> Vector:
    """The sum at (n−1, m−1) of each pair of a block. Row i + 1 of a buffer holds the cell (i, s − i)."""
    zero, one, never, step = arithmetic
    ahead, behind = bounds
    widest = int(ahead.max()), int(behind.max())
    uneven = bool(np.ptp(ahead) or np.ptp(behind))
    backwards = y[:, ::-1]
    rows, columns = x.shape[1], y.shape[1]
    before, last, cells = (np.full((rows + 2, len(n)), zero) for _ in range(3))
    before[0] = one
    result = np.empty(len(n))
    ends = {int(s): np.flatnonzero(n + m - 2 == s) for s in np.unique(n + m - 2)}
    for s in range(rows + columns - 1):
        low = min(rows, max(0, s - columns + 1, -((widest[1] - s) // 2)))
        high = max(low, min(rows - 1, s, (s + widest[0]) // 2) + 1)
        here, opposite = slice(low, high), slice(columns - 1 - s + low, columns - 1 - s + high)
        shifts = s - 2.0 * np.arange(low, high)
        scores = local(_squares(x[:, here], backwards[:, opposite]), shifts)
        if uneven:
            scores[(shifts[:, None] > behind) | (-shifts[:, None] > ahead)] = never
        step(cells[low + 1 : high + 1], scores, last[here], last[low + 1 : high + 1], before[here])
        # The next two anti-diagonals reach one cell further than this one on either side.
        cells[low] = cells[high + 1] = zero
        if s in ends:
            result[ends[s]] = cells[n[ends[s]], ends[s]]
        before, last, cells = last, cells, before
    return np.where((n - m <= ahead) & (m - n <= behind), result, zero)


def _squares(x: NDArray[np.float64], y: NDArray[np.float64]) -> Matrix:
    total: Any = np.subtract(x[0], y[0])
    total *= total
    for channel in range(1, len(x)):
        total += (x[channel] - y[channel]) ** 2
    return np.asarray(total)


def _divided(total: Matrix, reciprocals: Matrix, a: Matrix, b: Matrix, c: Matrix) -> None:
    np.add(a, b, out=total)
    total += c
    total /= reciprocals


def _multiplied_logs(total: Matrix, scores: Matrix, a: Matrix, b: Matrix, c: Matrix) -> None:
    """scores + log(eᵃ + eᵇ + eᶜ) with two exponentials, as that of the largest is 1."""
    low, top = np.minimum(a, b), np.maximum(a, b)
    middle = np.minimum(top, c)
    np.maximum(top, c, out=top)
    low -= top
    middle -= top
    np.exp(low, out=low)
    low += np.exp(middle, out=middle)
    low += 1.0
    np.log(low, out=low)
    low += top
    np.add(scores, low, out=total)


PLAIN = Arithmetic(0.0, 1.0, np.inf, _divided)
LOGARITHMS = Arithmetic(NEVER, 0.0, NEVER, _multiplied_logs)
