"""New similarities from old: sums, products, scales and warps.

Derivatives pass through all of them, so a sum of a differentiable and a warped similarity is differentiable again.
Sums and products are classes of their own: (a + b) * c and a + b * c nest as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    Differentiable,
    Function,
    Matrix,
    ParameterPullback,
    Pullback,
    Similarity,
    Vector,
)
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.from_function import FunctionSimilarity, as_similarity

NOTHING = 1e-30


def others_product(scores: Sequence[Any]) -> list[Any]:
    """For each factor the product of all the others, without dividing (a factor may be zero)."""
    before, after = [np.ones_like(scores[0])], [np.ones_like(scores[0])]
    for forward, backward in zip(scores[:-1], scores[:0:-1], strict=True):
        before.append(before[-1] * forward)
        after.append(after[-1] * backward)
    return [b * a for b, a in zip(before, reversed(after), strict=True)]


def merged(pullbacks: Sequence[ParameterPullback], weights: Sequence[Matrix]) -> dict[str, Vector]:
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

    >>> from likewise.similarity.kinds.vectors import RBF
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
        return sum(scores), lambda weights: merged(pullbacks, [weights] * len(pullbacks))

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        parts = [_differentiable(part).linearise(x, y) for part, x, y in zip(self.parts, a, b, strict=True)]
        return cast(Matrix, sum(s for s, _ in parts)), lambda weights: _added([p(weights) for _, p in parts])

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        parts = [_differentiable(part).linearise_within(x) for part, x in zip(self.parts, a, strict=True)]
        return cast(Vector, sum(s for s, _ in parts)), lambda weights: _added([p(weights) for _, p in parts])


@dataclass(frozen=True)
class Product(Similarity):
    """S(x, x') = Π_k S_k(x, x'). PSD if every part is.

    >>> from likewise.similarity.kinds.vectors import RBF
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
        others = others_product(scores)
        return scores[0] * others[0], lambda weights: merged(pullbacks, [weights * other for other in others])

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        parts = [_differentiable(part).linearise(x, y) for part, x, y in zip(self.parts, a, b, strict=True)]
        return _product_rule(parts)

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        parts = [_differentiable(part).linearise_within(x) for part, x in zip(self.parts, a, strict=True)]
        return _product_rule(parts)


def _product_rule(parts: Sequence[tuple[Any, Pullback]]) -> tuple[Any, Pullback]:
    others = others_product([scores for scores, _ in parts])
    return parts[0][0] * others[0], lambda weights: _added(
        [pull(weights * other) for (_, pull), other in zip(parts, others, strict=True)]
    )


def _added(gradients: Sequence[Matrix]) -> Matrix:
    """The sum of gradients in one vector; those of records over different fields are in different vectors."""
    if len({gradient.shape for gradient in gradients}) > 1:
        raise SimilarityError(
            "these similarities have gradients in different fields, which cannot be added; "
            "give each of them the same fields, or use the view of a Record space"
        )
    return cast(Matrix, sum(gradients))


class _Wrapper(Similarity):
    """A similarity made of one other, whose encoding it shares."""

    inner: Similarity

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return (self.inner,)

    @property
    def signed(self) -> bool:
        return self.inner.signed

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.inner.encode(objects)


@dataclass(frozen=True)
class Scaled(_Wrapper):
    """S(x, x') = factor · inner(x, x'). PSD if the inner one is.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> (2.0 * RBF(1.0))([0.0], [0.0])
    2.0
    """

    inner: Similarity
    factor: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor >= 0):
            raise SimilarityError(f"a similarity can be scaled by a non-negative number alone, not by {self.factor}")

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
        return self.factor * scores, lambda weights: merged([pull], [self.factor * weights])

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        scores, pull = _differentiable(self.inner).linearise(a, b)
        return self.factor * scores, lambda weights: pull(self.factor * weights)

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        scores, pull = _differentiable(self.inner).linearise_within(a)
        return self.factor * scores, lambda weights: pull(self.factor * weights)


@dataclass(frozen=True)
class Offset(_Wrapper):
    """S(x, x') = inner(x, x') + constant: what all objects have in common. PSD if the inner one is.

    In a posterior it stands for a mean that is learnt with everything else: a priori N(0, constant · amplitude).

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> Offset(RBF(1.0), 0.5)([0.0], [0.0])
    1.5
    """

    inner: Similarity
    constant: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.constant) and self.constant >= 0):
            raise SimilarityError(f"a similarity can be offset by a non-negative number alone, not by {self.constant}")

    @property
    def psd(self) -> bool:
        return self.inner.psd

    @property
    def name(self) -> str:
        return self.inner.name

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return Offset(parts[0], self.constant)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.inner.between(a, b) + self.constant

    def within(self, a: Encoding) -> Vector:
        return self.inner.within(a) + self.constant

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pull = self.inner.sensitivity(a)
        return scores + self.constant, lambda weights: merged([pull], [weights])

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        scores, pull = _differentiable(self.inner).linearise(a, b)
        return scores + self.constant, pull

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        scores, pull = _differentiable(self.inner).linearise_within(a)
        return scores + self.constant, pull


@dataclass(frozen=True)
class Warped(_Wrapper):
    """S(x, x') = inner(x, x')^power: how local a similarity is. PSD for a whole power of a PSD similarity.

    >>> from likewise.similarity.kinds.vectors import RBF
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
        return self.inner.between(a, b) ** self.power

    def within(self, a: Encoding) -> Vector:
        return self.inner.within(a) ** self.power

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pull = self.inner.sensitivity(a)
        slope = power_slope(scores, self.power)
        return scores**self.power, lambda weights: merged([pull], [weights * slope])

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        scores, pull = _differentiable(self.inner).linearise(a, b)
        return scores**self.power, lambda weights: pull(weights * power_slope(scores, self.power))

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        scores, pull = _differentiable(self.inner).linearise_within(a)
        return scores**self.power, lambda weights: pull(weights * power_slope(scores, self.power))


def power_slope(scores: Any, power: float) -> Any:
    """d s^p / ds = p s^(p−1), taken as 0 next to s = 0, where it may be infinite."""
    if power == 1.0:
        return np.ones_like(scores)
    nothing = np.abs(scores) < NOTHING
    return np.where(nothing, 0.0, power * np.where(nothing, 1.0, scores) ** (power - 1.0))


def warped(similarity: Similarity | Function, power: float) -> Similarity:
    """S → S^power.

    >>> warped(lambda x, y: 0.5, 2)("a", "b")
    0.25
    """
    return Warped(as_similarity(similarity), float(power))


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

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pull = self.inner.sensitivity(a)
        return 0.5 * (scores + scores.T), lambda weights: merged([pull], [0.5 * (weights + weights.T)])

    def within(self, a: Encoding) -> Vector:
        return self.inner.within(a)


def symmetrised(given: Similarity | Function) -> Similarity:
    """½(S(x, x') + S(x', x)).

    >>> symmetrised(lambda x, y: 1.0 if x < y else 0.5)(1, 2)
    0.75
    """
    return Symmetrised(given if isinstance(given, Similarity) else FunctionSimilarity(given, check_symmetry=False))


# Those that hand the objects on unchanged: how a space sees a combination is how it sees its parts.
COMBINATIONS = (Sum, Product, Scaled, Warped, Symmetrised)
