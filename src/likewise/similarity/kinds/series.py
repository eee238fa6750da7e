"""Similarities of time series of unequal lengths, by warping one onto the other: DTW, soft-DTW, global alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError, import_extra
from likewise.similarity.base import Matrix, Normalised, Similarity, Vector, check_positive, check_whole, check_widths
from likewise.similarity.functions import FITTED_ON, DistanceSimilarity, median_distance

# Sums over all alignments of two series, for many pairs of series at once.
#
# L(i, j) = log k(i, j) + log(exp L(i−1, j) + exp L(i, j−1) + exp L(i−1, j−1)) is the logarithm of the sum, over the
# monotone paths from (0, 0) to (i, j), of the product of local scores k. The cells of an anti-diagonal i + j = s need
# only the two before it, so they are computed together, for a block of pairs together; in logarithms, as products over
# hundreds of points leave the range of floating-point numbers. Where they do not, which the sum itself shows, plain
# sums and products take a quarter of the time.

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


# Similarities of time series of unequal lengths, by warping one onto the other: DTW, soft-DTW, global alignment.
#
# An object is an array of shape (length,) or (length, channels); all that are compared have the same channels. An
# alignment of x and y is a monotone path through the pairs of their points (i, j), from the first pair to the last.

FITTED_POINTS = 1000
# A sum over alignments of less than e^NEGLIGIBLE is a score of less: that of a series with itself is at least 1.
NEGLIGIBLE = -100.0


def as_series(objects: Sequence[Any], normalise: bool) -> list[Matrix]:
    """Each series as an array of shape (length, channels); the error names the series and the position."""
    series = [_one_series(x, number) for number, x in enumerate(objects)]
    for number, x in enumerate(series):
        if x.shape[1] != series[0].shape[1]:
            raise SimilarityError(
                f"series {number} has {x.shape[1]} channels where the first one has {series[0].shape[1]}; "
                "compare series of the same channels"
            )
    return [_normalised(x) for x in series] if normalise else series


def _one_series(x: Any, number: int) -> Matrix:
    try:
        array = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise SimilarityError(f"series {number} is not an array of numbers: {x!r}") from None
    if array.ndim not in (1, 2) or not array.size:
        raise SimilarityError(
            f"series {number} has shape {array.shape}; a series has shape (length,) or (length, channels), and a point"
        )
    column = np.ascontiguousarray(array.reshape(len(array), -1))
    wrong = np.argwhere(~np.isfinite(column))
    if len(wrong):
        position = int(wrong[0, 0])
        raise SimilarityError(
            f"series {number} has {column[tuple(wrong[0])]} at position {position}; fill the gap in, or drop the point"
        )
    return column


def _check_channels(x: Matrix, y: Matrix) -> None:
    check_widths(x.shape[1], y.shape[1], "series", "channels", "compare series of the same channels")


def _normalised(x: Matrix) -> Matrix:
    """Mean 0 and standard deviation 1 in each channel; a constant channel becomes 0."""
    spread = x.std(axis=0)
    flat = spread <= 1e-12 * np.max(np.abs(x), axis=0)
    return (x - x.mean(axis=0)) / np.where(flat, np.inf, spread)


def _check_band(name: str, band: float | None) -> None:
    if band is not None and not (np.isfinite(band) and 0 <= band <= 1):
        raise SimilarityError(f"{name} needs a band from 0 to 1, a share of the longer series, or None, not {band}")


@dataclass(frozen=True)
class DTW(DistanceSimilarity):
    """exp(−d/ℓ), d = min over alignments of √Σ ‖x_i − y_j‖²: dynamic time warping. Not PSD.

    The `band` bounds the shift between i and j: by so large a share of the longer series, beyond the difference of the
    lengths (Sakoe and Chiba's band); None allows any. With `normalise` each series is brought to mean 0 and standard
    deviation 1 first.

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.

    >>> round(DTW(lengthscale=1.0)([0.0, 0.0, 1.0, 2.0], [0.0, 1.0, 2.0]), 4)
    1.0
    """

    kind = "series"
    compares = "dynamic time warping"
    band: float | None = 0.1
    lengthscale: float | None = None
    constant: float | None = None
    normalise: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_band(self.name, self.band)

    def encode(self, objects: Sequence[Any]) -> list[Matrix]:
        return as_series(objects, self.normalise)

    def distances(self, a: list[Matrix], b: list[Matrix]) -> Matrix:
        result = np.zeros((len(a), len(b)))
        for rows in _by_length(a):
            for columns in _by_length(b):
                result[np.ix_(rows, columns)] = self._block([a[i] for i in rows], [b[j] for j in columns])
        return result

    def _block(self, a: list[Matrix], b: list[Matrix]) -> Matrix:
        """Distances of series that are all of one length in `a`, and all of one length in `b`."""
        dtw = import_extra("dtaidistance.dtw_ndim", "DTW", "dtaidistance", "series")
        _check_channels(a[0], b[0])
        # The window of dtaidistance counts the diagonal.
        longer = max(len(a[0]), len(b[0]))
        window = None if self.band is None else round(self.band * longer) + 1
        block = ((0, len(a)), (len(a), len(a) + len(b)))
        flat = dtw.distance_matrix([*a, *b], ndim=a[0].shape[1], window=window, block=block, compact=True, use_c=True)
        return np.asarray(flat, dtype=float).reshape(len(a), len(b))


def _by_length(series: list[Matrix]) -> list[list[int]]:
    """The places of the series of each length."""
    places: dict[int, list[int]] = {}
    for place, x in enumerate(series):
        places.setdefault(len(x), []).append(place)
    return list(places.values())


@dataclass(frozen=True)
class SoftDTW(DistanceSimilarity):
    """exp(−d/ℓ), d the divergence of soft-DTW: sdtw(x, y) − ½ sdtw(x, x) − ½ sdtw(y, y), at least 0. Not PSD.

    sdtw(x, y) = −γ log Σ over alignments of exp(−Σ ‖x_i − y_j‖²/γ), which tends to the square of DTW as γ → 0. `band`
    and `normalise` are those of `DTW`.

    gamma: how much alignments other than the best count, γ; 1 by default.
    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.

    >>> round(SoftDTW(gamma=0.1, lengthscale=1.0)([0.0, 1.0, 2.0], [0.0, 1.0, 2.0, 2.0]), 4)
    0.9466
    """

    kind = "series"
    compares = "dynamic time warping, smoothed"
    gamma: float = 1.0
    band: float | None = None
    lengthscale: float | None = None
    constant: float | None = None
    normalise: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_band(self.name, self.band)
        if not (np.isfinite(self.gamma) and self.gamma > 0):
            raise SimilarityError(f"SoftDTW needs a positive gamma, not {self.gamma}; for gamma = 0 use DTW")

    def encode(self, objects: Sequence[Any]) -> tuple[list[Matrix], Vector]:
        """The series, and each one's sdtw with itself."""
        series = as_series(objects, self.normalise)
        every = np.arange(len(series))
        return series, self._soft(series, series, every, every)

    def distances(self, a: tuple[list[Matrix], Vector], b: tuple[list[Matrix], Vector]) -> Matrix:
        (x, own), (y, other) = a, b
        both = symmetric_pairs(lambda i, j: self._soft(x, y, i, j), len(x), len(y), same=x is y)
        return np.maximum(both - 0.5 * own[:, None] - 0.5 * other, 0.0)

    def _soft(self, a: list[Matrix], b: list[Matrix], i: Any, j: Any) -> Vector:
        if len(i):
            _check_channels(a[0], b[0])
        return -self.gamma * alignment_logs(a, b, i, j, self._local, band_corridor(self.band))

    def _local(self, squares: Matrix, shifts: Vector) -> Matrix:
        squares *= -1.0 / self.gamma
        return squares


@dataclass(eq=False)
class Remembered:
    """A series, and its log sum over alignments with itself under the last bandwidth and shift that were asked."""

    values: Matrix
    own: tuple[Any, float] | None = None


@dataclass(frozen=True)
class GlobalAlignmentKernel(Normalised):
    """Σ over alignments of Π k(x_i, y_j), normalised to 1 at x = y; k = g/(2 − g), g = exp(−½ ‖x_i − y_j‖²/bandwidth²).

    PSD: with this k the sum is a PSD kernel of series of any lengths (Cuturi 2011). `shift`
    allows |i − j| < shift only, by a factor 1 − |i − j|/shift in g that keeps it PSD; series whose lengths differ by
    as much then score 0. A `bandwidth` of None is settled as the median distance of the points of the observed
    series times the square root of their median length, and is 1 elsewhere.

    normalise: whether each series is brought to mean 0 and standard deviation 1 first; False by default.

    >>> kernel = GlobalAlignmentKernel(bandwidth=1.0)
    >>> round(kernel([0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 2.0]), 4)
    0.76
    """

    kind = "series"
    compares = "all alignments at once"
    bandwidth: float | None = None
    shift: int | None = None
    normalise: bool = False

    def __post_init__(self) -> None:
        check_positive(self.name, "bandwidth", self.bandwidth)
        if self.shift is not None:
            check_whole(self.name, "shift", self.shift)

    psd = True

    def encode(self, objects: Sequence[Any]) -> list[Remembered]:
        return [Remembered(x) for x in as_series(objects, self.normalise)]

    def between(self, a: list[Remembered], b: list[Remembered]) -> Matrix:
        both = symmetric_pairs(lambda i, j: self._logs(a, b, i, j), len(a), len(b), same=a is b)
        # Those on both sides have met themselves.
        places = {id(y): j for j, y in enumerate(b)}
        for i, x in enumerate(a):
            if id(x) in places:
                x.own = self._asked, float(both[i, places[id(x)]])
        return np.exp(both - 0.5 * self._own(a)[:, None] - 0.5 * self._own(b))

    def fitted(self, a: list[Remembered]) -> Similarity:
        if self.bandwidth is not None or not a:
            return self
        few = [x.values for x in a[:FITTED_ON]]
        points = np.concatenate(few)
        points = points[:: -(-len(points) // FITTED_POINTS)]
        apart = np.sqrt(np.sum((points[:, None] - points) ** 2, axis=2))
        size = float(np.median([len(x) for x in few]))
        return replace(self, bandwidth=median_distance(apart, otherwise=0.0) * size**0.5 or 1.0)

    @property
    def _asked(self) -> tuple[float | None, int | None]:
        return self.bandwidth, self.shift

    def _own(self, a: list[Remembered]) -> Vector:
        """Each series' log sum with itself, computed once for each as long as the bandwidth stays."""
        new = [x for x in a if x.own is None or x.own[0] != self._asked]
        every = np.arange(len(new))
        for x, value in zip(new, self._logs(new, new, every, every), strict=True):
            x.own = (self._asked, float(value))
        return np.array([x.own[1] for x in a if x.own])

    def _logs(self, a: list[Remembered], b: list[Remembered], i: Any, j: Any) -> Vector:
        if len(i):
            _check_channels(a[0].values, b[0].values)
        corridor = band_corridor(None) if self.shift is None else _within_shift(self.shift)
        # So scaled that the squared distance of two points is −log g.
        scale = np.sqrt(0.5) / (self.bandwidth or 1.0)
        xs, ys = [scale * x.values for x in a], [scale * y.values for y in b]
        return alignment_logs(xs, ys, i, j, self._log_local, corridor, self._reciprocal, NEGLIGIBLE)

    def _log_local(self, squares: Matrix, shifts: Vector) -> Matrix:
        """log k = log g − log(2 − g)."""
        log_g = -self._exponent(squares, shifts)
        g = np.exp(log_g)
        np.subtract(2.0, g, out=g)
        log_g -= np.log(g, out=g)
        return log_g

    def _reciprocal(self, squares: Matrix, shifts: Vector) -> Matrix:
        """1/k = 2/g − 1."""
        inverse = self._exponent(squares, shifts)
        np.exp(inverse, out=inverse)
        inverse *= 2.0
        inverse -= 1.0
        return inverse

    def _exponent(self, squares: Matrix, shifts: Vector) -> Matrix:
        """−log g."""
        if self.shift is not None:
            squares -= np.log1p(-np.abs(shifts) / self.shift)[:, None]
        return squares


def _within_shift(shift: int) -> Corridor:
    return lambda n, m: (np.full(len(n), shift - 1), np.full(len(n), shift - 1))
