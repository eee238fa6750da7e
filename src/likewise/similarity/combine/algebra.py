"""New similarities from old: sums, products, scales and warps.

Derivatives pass through all of them, so a sum of a differentiable and a warped similarity is differentiable again.
Sums and products are classes of their own: (a + b) * c and a + b * c nest as written.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    Differentiable,
    Function,
    Linearised,
    Matrix,
    ParameterPullback,
    Pullback,
    Sensitivity,
    Similarity,
    Vector,
    numbered,
)
from likewise.similarity.checks import check_positive
from likewise.similarity.combine.fixed import Fixed
from likewise.similarity.combine.mix import Mix
from likewise.similarity.combine.wrapper import Through, Wrapper
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.from_function import FunctionSimilarity, as_similarity


class Rule(Protocol):
    """A function of several scores of the same two objects, entry by entry. `Mix` is one."""

    def psd(self, parts: Sequence[Similarity]) -> bool:
        """Whether it makes a PSD similarity of these."""
        ...

    def scores(self, scores: Sequence[Any]) -> Any:
        """One array of the scores of each part."""
        ...

    def pull(self, scores: Sequence[Any], weights: Any) -> Mapping[int, Any]:
        """From derivatives in the result to derivatives in each part's scores."""
        ...


class Multiply:
    """The product of all scores."""

    def psd(self, parts: Sequence[Similarity]) -> bool:
        return all(part.psd for part in parts)

    def scores(self, scores: Sequence[Any]) -> Any:
        return np.prod(scores, axis=0)

    def pull(self, scores: Sequence[Any], weights: Any) -> Mapping[int, Any]:
        return {k: weights * others for k, others in enumerate(others_product(scores))}


def others_product(scores: Sequence[Any]) -> list[Any]:
    """For each factor the product of all the others, without dividing (a factor may be zero)."""
    before, after = [np.ones_like(scores[0])], [np.ones_like(scores[0])]
    for forward, backward in zip(scores[:-1], scores[:0:-1], strict=True):
        before.append(before[-1] * forward)
        after.append(after[-1] * backward)
    return [b * a for b, a in zip(before, reversed(after), strict=True)]


def merged(pullbacks: Sequence[ParameterPullback], weights: Sequence[Matrix]) -> dict[str, Vector]:
    """The slopes of all parts' parameters, each under its part's number."""
    each = enumerate(zip(pullbacks, weights, strict=True))
    return {name: slope for i, (pull, w) in each for name, slope in numbered(pull(w), i).items()}


class Combination(Similarity):
    """A similarity whose score is a function of its parts' scores; all else, derivatives too, follows from the rule."""

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The function."""

    @property
    def self_bounded(self) -> bool:
        return all(part.self_bounded for part in self.parts)

    @property
    def psd(self) -> bool:
        return self.rule.psd(self.parts)

    @property
    def signed(self) -> bool:
        return any(part.signed for part in self.parts)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        each = enumerate(self.parts)
        scores = [part.between(self.part_encoding(a, i), self.part_encoding(b, i)) for i, part in each]
        return cast(Matrix, self.rule.scores(scores))

    def within(self, a: Encoding) -> Vector:
        each = enumerate(self.parts)
        return cast(Vector, self.rule.scores([part.within(self.part_encoding(a, i)) for i, part in each]))

    def sensitivity(self, a: Encoding) -> Sensitivity:
        each = (part.sensitivity(self.part_encoding(a, i)) for i, part in enumerate(self.parts))
        scores, pulls = zip(*each, strict=True)

        def pull(weights: Matrix) -> dict[str, Vector]:
            inside = self.rule.pull(scores, weights)
            return merged(pulls, [inside[k] for k in range(len(pulls))])

        return self.rule.scores(scores), pull

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        each = enumerate(cast(Sequence[Differentiable], self.parts))
        return self._chain([part.linearise(self.part_encoding(a, i), self.part_encoding(b, i)) for i, part in each])

    def linearise_within(self, a: Encoding) -> Linearised:
        each = enumerate(cast(Sequence[Differentiable], self.parts))
        return self._chain([part.linearise_within(self.part_encoding(a, i)) for i, part in each])

    def _chain(self, parts: Sequence[tuple[Any, Pullback]]) -> tuple[Any, Pullback]:
        """One step of the chain rule, from the parts' scores to the combination's."""
        scores = [score for score, _ in parts]
        return self.rule.scores(scores), lambda weights: _added(
            [parts[k][1](inside) for k, inside in self.rule.pull(scores, weights).items()]
        )


def _added(gradients: Sequence[Matrix]) -> Matrix:
    """The sum of gradients in one vector; those of records over different fields are in different vectors."""
    if len({gradient.shape for gradient in gradients}) > 1:
        raise SimilarityError(
            "these similarities have gradients in different fields, which cannot be added; "
            "give each of them the same fields, or use the view of a Record space"
        )
    return cast(Matrix, sum(gradients))


class Several(Combination):
    """A combination of any number of parts, each of which has an encoding of its own."""

    parts_: tuple[Similarity, ...]

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return self.parts_

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return replace(self, parts_=tuple(parts))  # type: ignore[type-var]

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return tuple(part.encode(objects) for part in self.parts)


@dataclass(frozen=True)
class Sum(Several):
    """S(x, x') = Σ_k S_k(x, x'). PSD if every part is.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> (RBF(1.0) + RBF(2.0))([0.0], [0.0])
    2.0
    """

    parts_: tuple[Similarity, ...]

    @property
    def rule(self) -> Rule:
        return Mix((1.0,) * len(self.parts))

    @property
    def name(self) -> str:
        return " + ".join(part.name for part in self.parts)


@dataclass(frozen=True)
class Product(Several):
    """S(x, x') = Π_k S_k(x, x'). PSD if every part is.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> (RBF(1.0) * RBF(2.0))([0.0], [0.0])
    1.0
    """

    parts_: tuple[Similarity, ...]

    @property
    def rule(self) -> Rule:
        return Multiply()

    @property
    def name(self) -> str:
        return " × ".join(f"({p.name})" if isinstance(p, Sum) else p.name for p in self.parts)


@dataclass(frozen=True)
class Scaled(Wrapper, Combination):
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
    def rule(self) -> Rule:
        return Mix((self.factor,))

    @property
    def name(self) -> str:
        return f"{self.factor:g} × {self.inner.name}"


@dataclass(frozen=True)
class Warped(Wrapper, Combination):
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
    def rule(self) -> Rule:
        return Mix((1.0,), self.power)

    @property
    def name(self) -> str:
        return f"{self.inner.name}^{self.power:g}"


def warped(similarity: Similarity | Function, power: float) -> Similarity:
    """S → S^power.

    similarity: a similarity, or a plain function of two objects.
    power: above 1 makes it more local, below 1 less.

    >>> warped(lambda x, y: 0.5, 2)("a", "b")
    0.25
    """
    check_positive("warped", "power", power)
    return Warped(as_similarity(similarity), float(power))


@dataclass(frozen=True)
class Symmetrised(Through):
    """½(S(x, x') + S(x', x)), for a score that depends on the order. PSD if the inner one is symmetric and PSD."""

    inner: Similarity

    @property
    def name(self) -> str:
        return f"symmetrised {self.inner.name}"

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return 0.5 * (self.inner.between(a, b) + self.inner.between(b, a).T)

    def sensitivity(self, a: Encoding) -> Sensitivity:
        scores, pull = self.inner.sensitivity(a)
        return 0.5 * (scores + scores.T), lambda weights: numbered(pull(0.5 * (weights + weights.T)))


def symmetrised(given: Similarity | Function) -> Similarity:
    """½(S(x, x') + S(x', x)).

    given: a similarity, or a plain function of two objects, that depends on their order.

    >>> symmetrised(lambda x, y: 1.0 if x < y else 0.5)(1, 2)
    0.75
    """
    return Symmetrised(given if isinstance(given, Similarity) else FunctionSimilarity(given, check_symmetry=False))


# Those that hand the objects on unchanged: how a space sees a combination is how it sees its parts.
COMBINATIONS = (Sum, Product, Scaled, Warped, Symmetrised, Fixed)
