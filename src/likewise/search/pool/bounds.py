"""Upper bounds of variances, so that most objects of a pool never need an exact one.

    V(x) = a·max(v, floor),   v = S(x, x) − S_x D S_xᵀ ≤ S(x, x)       for a positive definite treated matrix;

and for a PSD similarity without treatment v never grows as observations are added, so that every value it had before,
with the same parameters, is a bound. Where these are loose, a `Projection` bounds more tightly, at a fraction of the
price of an exact value: for any P with P Pᵀ ≼ D

    v ≤ S(x, x) − ‖S_x P‖².
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.model.committee import Member
from likewise.search.pool.query import Query, Rows
from likewise.similarity.base import Matrix, Vector

Single = NDArray[np.float32]
# Values are kept in single precision, rounded up.
UP = np.float32(1.0 + 1e-6)
MOST_KEPT = 32
# Columns of a projection.
COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Projection:
    """A matrix P of few columns with P Pᵀ ≼ D, written as rows, and how far rounding may take S_x P for scores of one.

    With rows Z of some objects and the leading eigenvectors V of Z D Zᵀ = V Λ Vᵀ, P = D Zᵀ V Λ^{-1/2}: what D sees of
    objects like those is what P sees of them. Any rows with the same ZᵀZ give the same, so that few stand for many.
    """

    rows: Matrix
    rounding: float

    @classmethod
    def of(cls, member: Member, some: Matrix, dtype: Any) -> Projection:
        """The projection that suits objects whose scores with the observed ones are like these."""
        seen = some @ member.regression.solution.operator
        levels, basis = np.linalg.eigh(seen @ some.T)
        kept = np.argsort(-levels)[:COLUMNS]
        kept = kept[levels[kept] > 1e-9 * levels.max(initial=1e-300)]
        rows = (basis[:, kept] / np.sqrt(levels[kept])).T @ seen
        return cls(rows, 8.0 * float(np.finfo(dtype).eps) * float(np.linalg.norm(np.abs(rows).sum(axis=1))))

    @staticmethod
    def condensed(some: Matrix) -> Matrix:
        """Rows Z that stand for these in `of`: as few as have the same ZᵀZ."""
        return np.asarray(np.linalg.qr(some, mode="r")) if len(some) > some.shape[1] else some

    def explained(self, products: Any, largest: float) -> Vector:
        """A lower bound of S_x D S_xᵀ from the products S_x P, one row each, of scores up to `largest`."""
        length = np.sqrt(np.einsum("ij,ij->j", products, products)).astype(np.float64)
        # ‖S_x P‖ is at least its rounded value less the length of the rounding errors, its own sum's among them.
        sure = length * (1.0 - COLUMNS * float(np.finfo(products.dtype).eps)) - largest * self.rounding
        return np.maximum(sure, 0.0) ** 2


@dataclass(eq=False)
class _Kept:
    """Values of v under one member, and the noise ratio of each observation it was conditioned on."""

    ratios: Mapping[tuple[int, int], float]
    values: Single


@dataclass(eq=False)
class Bounds:
    """What is known of the variances of `size` rows, member by member."""

    size: int
    # The votes of the members of which values are known from before.
    known: float = 0.0
    _kept: dict[Any, _Kept] = field(default_factory=dict)

    def prepare(self, query: Query) -> None:
        """Forget the values that are no bounds any more."""
        self.known = 0.0
        for member in (m for m in query.scorer.committee.members if m.regression.shrinking):
            key, ratios = _key(member, query), _ratios(member, query)
            known = self._kept.pop(key, None)
            if known is None or not known.ratios.items() <= ratios.items():
                known = _Kept(ratios, np.full(self.size, np.inf, dtype=np.float32))
            else:
                self.known += member.weight
            # Last in, last out.
            self._kept[key] = _Kept(ratios, known.values)
        for key in list(self._kept)[: max(0, len(self._kept) - MOST_KEPT)]:
            del self._kept[key]

    def variance(
        self, member: Member, selves: Vector, query: Query, part: slice, explained: Vector | None = None
    ) -> Vector:
        """A bound of the member's variance at some rows, of which so much is known to be explained."""
        regression = member.regression
        if not regression.bounded:
            return np.full(len(selves), np.inf)
        v = selves + regression.treatment.shift
        if explained is not None:
            v = v - explained
        kept = self._kept.get(_key(member, query)) if member.regression.shrinking else None
        if kept is not None:
            v = np.minimum(v, kept.values[part])
        return regression.amplitude * np.maximum(v, regression.treatment.floor)

    def learn(self, query: Query, rows: Rows, variances: Matrix) -> None:
        """Keep the variances that were computed exactly, one row per member, without what is pending."""
        for member, values in zip(query.scorer.committee.members, variances, strict=True):
            kept = self._kept.get(_key(member, query)) if member.regression.shrinking else None
            if kept is not None:
                kept.values[rows] = (values / member.regression.amplitude).astype(np.float32) * UP


def _key(member: Member, query: Query) -> Any:
    return member.mix, tuple(query.versions[k] for k in member.mix.used), member.ratio


def _ratios(member: Member, query: Query) -> dict[tuple[int, int], float]:
    """σ²/a of each observation, by its number and how often that has come before; equal up to rounding is equal."""
    ratios = member.regression.noise / member.regression.amplitude
    found: dict[tuple[int, int], float] = {}
    seen: Counter[int] = Counter()
    for number, ratio in zip(query.numbers, ratios.tolist(), strict=True):
        found[number, seen[number]] = float(f"{ratio:.9e}")
        seen[number] += 1
    return found
