"""New similarities from old: sums, products, scales, warps, and one similarity per field of a record.

Derivatives pass through all of them, so a sum of a differentiable and a warped similarity is differentiable again.
Sums and products are classes of their own: (a + b) * c and a + b * c nest as written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    Differentiable,
    LogNormal,
    Matrix,
    Parameter,
    ParameterPullback,
    Pullback,
    Similarity,
    Vector,
    is_differentiable,
)
from likewise.similarity.encoding import Encoding, count

WEIGHT_PRIOR = LogNormal(0.0, 1.0)


def _others(scores: Sequence[Any]) -> list[Any]:
    """For each factor the product of all the others, without dividing (a factor may be zero)."""
    before, after = [np.ones_like(scores[0])], [np.ones_like(scores[0])]
    for forward, backward in zip(scores[:-1], scores[:0:-1], strict=True):
        before.append(before[-1] * forward)
        after.append(after[-1] * backward)
    return [b * a for b, a in zip(before, reversed(after), strict=True)]


def _merge(pullbacks: Sequence[ParameterPullback], weights: Sequence[Matrix]) -> dict[str, Vector]:
    return {
        f"{i}.{name}": slope
        for i, (pull, w) in enumerate(zip(pullbacks, weights, strict=True))
        for name, slope in pull(w).items()
    }


def _differentiable(part: Similarity) -> Differentiable:
    return cast(Differentiable, part)


@dataclass(frozen=True)
class Sum(Similarity):
    """S(x, x') = Σ_k S_k(x, x'). PSD if every part is.

    >>> from likewise.similarity.vectors import RBF
    >>> (RBF(1.0) + RBF(2.0))([0.0], [0.0])
    2.0
    """

    parts_: tuple[Similarity, ...]

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return self.parts_

    @property
    def psd(self) -> bool:
        return all(part.psd for part in self.parts)

    @property
    def signed(self) -> bool:
        return any(part.signed for part in self.parts)

    @property
    def name(self) -> str:
        return " + ".join(part.name for part in self.parts)

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return Sum(tuple(parts))

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return tuple(part.encode(objects) for part in self.parts)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return cast(Matrix, sum(part.between(x, y) for part, x, y in zip(self.parts, a, b, strict=True)))

    def within(self, a: Encoding) -> Vector:
        return cast(Vector, sum(part.within(x) for part, x in zip(self.parts, a, strict=True)))

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pullbacks = zip(*(part.sensitivity(x) for part, x in zip(self.parts, a, strict=True)), strict=True)
        return sum(scores), lambda weights: _merge(pullbacks, [weights] * len(pullbacks))

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        parts = [_differentiable(part).linearise(x, y) for part, x, y in zip(self.parts, a, b, strict=True)]
        return cast(Matrix, sum(s for s, _ in parts)), lambda weights: cast(Matrix, sum(p(weights) for _, p in parts))

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        parts = [_differentiable(part).linearise_within(x) for part, x in zip(self.parts, a, strict=True)]
        return cast(Vector, sum(s for s, _ in parts)), lambda weights: cast(Matrix, sum(p(weights) for _, p in parts))


@dataclass(frozen=True)
class Product(Similarity):
    """S(x, x') = Π_k S_k(x, x'). PSD if every part is.

    >>> from likewise.similarity.vectors import RBF
    >>> (RBF(1.0) * RBF(2.0))([0.0], [0.0])
    1.0
    """

    parts_: tuple[Similarity, ...]

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return self.parts_

    @property
    def psd(self) -> bool:
        return all(part.psd for part in self.parts)

    @property
    def signed(self) -> bool:
        return any(part.signed for part in self.parts)

    @property
    def name(self) -> str:
        return " × ".join(f"({p.name})" if isinstance(p, Sum) else p.name for p in self.parts)

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return Product(tuple(parts))

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return tuple(part.encode(objects) for part in self.parts)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        scores = [part.between(x, y) for part, x, y in zip(self.parts, a, b, strict=True)]
        return cast(Matrix, np.prod(scores, axis=0))

    def within(self, a: Encoding) -> Vector:
        return cast(Vector, np.prod([part.within(x) for part, x in zip(self.parts, a, strict=True)], axis=0))

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pullbacks = zip(*(part.sensitivity(x) for part, x in zip(self.parts, a, strict=True)), strict=True)
        others = _others(scores)
        return scores[0] * others[0], lambda weights: _merge(pullbacks, [weights * other for other in others])

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        parts = [_differentiable(part).linearise(x, y) for part, x, y in zip(self.parts, a, b, strict=True)]
        return _product_rule(parts)

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        parts = [_differentiable(part).linearise_within(x) for part, x in zip(self.parts, a, strict=True)]
        return _product_rule(parts)


def _product_rule(parts: Sequence[tuple[Any, Pullback]]) -> tuple[Any, Pullback]:
    others = _others([scores for scores, _ in parts])
    return parts[0][0] * others[0], lambda weights: cast(
        Matrix, sum(pull(weights * other) for (_, pull), other in zip(parts, others, strict=True))
    )


class _Wrapper(Similarity):
    """A similarity made of one other, whose encoding it shares."""

    inner: Similarity

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return (self.inner,)

    @property
    def signed(self) -> bool:
        return self.inner.signed

    def _part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.inner.encode(objects)


@dataclass(frozen=True)
class Scaled(_Wrapper):
    """S(x, x') = factor · inner(x, x'). PSD if the inner one is.

    >>> from likewise.similarity.vectors import RBF
    >>> (2.0 * RBF(1.0))([0.0], [0.0])
    2.0
    """

    inner: Similarity
    factor: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor >= 0):
            raise SimilarityError(
                f"a similarity can be scaled by a non-negative number only, not by {self.factor}; use its absolute value"
            )

    @property
    def psd(self) -> bool:
        return self.inner.psd

    @property
    def name(self) -> str:
        return f"{self.factor:g} × {self.inner.name}"

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return Scaled(parts[0], self.factor)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.factor * self.inner.between(a, b)

    def within(self, a: Encoding) -> Vector:
        return self.factor * self.inner.within(a)

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pull = self.inner.sensitivity(a)
        return self.factor * scores, lambda weights: _merge([pull], [self.factor * weights])

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        scores, pull = _differentiable(self.inner).linearise(a, b)
        return self.factor * scores, lambda weights: pull(self.factor * weights)

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        scores, pull = _differentiable(self.inner).linearise_within(a)
        return self.factor * scores, lambda weights: pull(self.factor * weights)


@dataclass(frozen=True)
class Warped(_Wrapper):
    """S(x, x') = inner(x, x')^power: how local a likeness is. PSD for a whole power of a PSD similarity.

    >>> from likewise.similarity.vectors import RBF
    >>> x, y = [0.0], [0.3]
    >>> bool(np.isclose(Warped(RBF(1.0), 4.0)(x, y), RBF(0.5)(x, y)))
    True
    """

    inner: Similarity
    power: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.power) and self.power > 0):
            raise SimilarityError(f"a warp needs a positive power, not {self.power}; powers from 0.5 to 8 are usual")
        if self.inner.signed and self.power != int(self.power):
            raise SimilarityError(
                f"{self.inner.name} may be negative, so it has no power {self.power}; use a whole power"
            )

    @property
    def psd(self) -> bool:
        return self.inner.psd and self.power == int(self.power)

    @property
    def name(self) -> str:
        return f"{self.inner.name}^{self.power:g}"

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return Warped(parts[0], self.power)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return cast(Matrix, self.inner.between(a, b) ** self.power)

    def within(self, a: Encoding) -> Vector:
        return cast(Vector, self.inner.within(a) ** self.power)

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pull = self.inner.sensitivity(a)
        slope = power_slope(scores, self.power)
        return scores**self.power, lambda weights: _merge([pull], [weights * slope])

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        scores, pull = _differentiable(self.inner).linearise(a, b)
        return scores**self.power, lambda weights: pull(weights * power_slope(scores, self.power))

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        scores, pull = _differentiable(self.inner).linearise_within(a)
        return scores**self.power, lambda weights: pull(weights * power_slope(scores, self.power))


def power_slope(scores: Any, power: float) -> Any:
    """d s^p / ds = p s^(p−1), taken as 0 at s = 0, where it may be infinite."""
    if power == 1.0:
        return np.ones_like(scores)
    safe = np.where(scores == 0, 1.0, scores)
    return np.where(scores == 0, 0.0, power * safe ** (power - 1.0))


def warped(similarity: Similarity, power: float) -> Similarity:
    """S → S^power."""
    return Warped(similarity, float(power))


@dataclass(frozen=True)
class Symmetrised(_Wrapper):
    """½(S(x, x') + S(x', x)), for a score that depends on the order. PSD if the inner one is symmetric and PSD."""

    inner: Similarity

    @property
    def psd(self) -> bool:
        return self.inner.psd

    @property
    def name(self) -> str:
        return f"symmetrised {self.inner.name}"

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return Symmetrised(parts[0])

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return 0.5 * (self.inner.between(a, b) + self.inner.between(b, a).T)

    def within(self, a: Encoding) -> Vector:
        return self.inner.within(a)


@dataclass(frozen=True, init=False)
class Parts(Similarity):
    """One similarity per field of a record, combined by product (Π S_k^w_k) or by sum (Σ w_k S_k / Σ w_k).

    The weights are learnt in a study: a reaction's ligand may matter more than its solvent. A record is a mapping from
    field names to objects; fields without a similarity are ignored. A sum is PSD if its parts are; so is a product
    whose weights are whole numbers.

    >>> from likewise.similarity.vectors import RBF
    >>> reaction = Parts(temperature=RBF(10.0), time=RBF(1.0))
    >>> reaction({"temperature": 80.0, "time": 2.0}, {"temperature": 80.0, "time": 2.0})
    1.0
    """

    how: Literal["product", "sum"]
    fields: tuple[str, ...]
    parts_: tuple[Similarity, ...]
    weights: Vector = field(compare=False)

    def __init__(
        self,
        how: Literal["product", "sum"] = "product",
        weights: Sequence[float] | None = None,
        /,
        **similarities: Similarity,
    ) -> None:
        if how not in ("product", "sum"):
            raise SimilarityError(f"parts are combined by 'product' or 'sum', not by {how!r}")
        if not similarities:
            raise SimilarityError("Parts needs at least one field, as in Parts(solvent=Tanimoto())")
        values = np.ones(len(similarities)) if weights is None else np.asarray(weights, dtype=float)
        if values.shape != (len(similarities),) or not np.all(np.isfinite(values) & (values > 0)):
            raise SimilarityError(
                f"Parts needs one positive weight for each of its fields {', '.join(similarities)}, not {weights}"
            )
        for name, value in {
            "how": how,
            "fields": tuple(similarities),
            "parts_": tuple(similarities.values()),
            "weights": values,
        }.items():
            object.__setattr__(self, name, value)

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return self.parts_

    @property
    def psd(self) -> bool:
        whole = bool(np.all(self.weights == np.round(self.weights)))
        return all(part.psd for part in self.parts) and (self.how == "sum" or whole)

    @property
    def name(self) -> str:
        inside = ", ".join(f"{f}: {p.name}" for f, p in zip(self.fields, self.parts, strict=True))
        return f"{self.how} of {inside}"

    def rebuilt(self, parts: Sequence[Similarity]) -> Parts:
        return Parts(self.how, cast(Sequence[float], self.weights), **dict(zip(self.fields, parts, strict=True)))

    def encode(self, objects: Sequence[Any]) -> Encoding:
        for number, record in enumerate(objects):
            missing = [f for f in self.fields if f not in record] if isinstance(record, Mapping) else self.fields
            if missing:
                raise SimilarityError(
                    f"record {number} has no field {missing[0]!r}: {record!r}; "
                    f"give each record the fields {', '.join(self.fields)}"
                )
        return tuple(
            part.encode([record[f] for record in objects]) for f, part in zip(self.fields, self.parts, strict=True)
        )

    def _combined(self, scores: Sequence[Any]) -> Any:
        if self.how == "sum":
            return np.tensordot(self.weights / self.weights.sum(), np.asarray(scores), axes=1)
        return np.prod([s if w == 1.0 else s**w for w, s in zip(self.weights, scores, strict=True)], axis=0)

    def _slopes(self, scores: Sequence[Any]) -> list[Any]:
        """∂S/∂S_k of the combination, for each part."""
        if self.how == "sum":
            return [w / self.weights.sum() * np.ones_like(scores[0]) for w in self.weights]
        raised = [s**w for w, s in zip(self.weights, scores, strict=True)]
        own = [power_slope(s, w) for w, s in zip(self.weights, scores, strict=True)]
        return [slope * other for slope, other in zip(own, _others(raised), strict=True)]

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return cast(Matrix, self._combined([p.between(x, y) for p, x, y in zip(self.parts, a, b, strict=True)]))

    def within(self, a: Encoding) -> Vector:
        return cast(Vector, self._combined([p.within(x) for p, x in zip(self.parts, a, strict=True)]))

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        return {"weights": Parameter(self.weights, WEIGHT_PRIOR), **super().parameters(a)}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        inner = cast(Parts, super().with_parameters({k: v for k, v in values.items() if k != "weights"}))
        weights = cast(Sequence[float], values.get("weights", self.weights))
        return Parts(self.how, weights, **dict(zip(inner.fields, inner.parts, strict=True)))

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pullbacks = zip(*(p.sensitivity(x) for p, x in zip(self.parts, a, strict=True)), strict=True)
        total, slopes = self._combined(scores), self._slopes(scores)

        def pull(weights: Matrix) -> dict[str, Vector]:
            if self.how == "sum":
                share = self.weights / self.weights.sum()
                own = np.array([w * np.sum(weights * (s - total)) for w, s in zip(share, scores, strict=True)])
            else:
                logs = [np.log(np.where(s > 0, s, 1.0)) for s in scores]
                own = np.array([w * np.sum(weights * total * log) for w, log in zip(self.weights, logs, strict=True)])
            return {"weights": own, **_merge(pullbacks, [weights * slope for slope in slopes])}

        return total, pull

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        return self._linearised(
            [
                part.linearise(x, y) if is_differentiable(part) else (part.between(x, y), None)  # type: ignore[attr-defined]
                for part, x, y in zip(self.parts, a, b, strict=True)
            ],
            count(a),
        )

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        return self._linearised(
            [
                part.linearise_within(x) if is_differentiable(part) else (part.within(x), None)  # type: ignore[attr-defined]
                for part, x in zip(self.parts, a, strict=True)
            ],
            count(a),
        )

    def _linearised(self, parts: Sequence[tuple[Any, Pullback | None]], n: int) -> tuple[Any, Pullback]:
        """The gradient has the columns of the differentiable fields, in the order of the fields."""
        scores = [s for s, _ in parts]
        slopes = self._slopes(scores)

        def pull(weights: Any) -> Matrix:
            columns = [p(weights * s) for (_, p), s in zip(parts, slopes, strict=True) if p is not None]
            return np.hstack(columns) if columns else np.zeros((n, 0))

        return self._combined(scores), pull
