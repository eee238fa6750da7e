"""New similarities from old: sums, products, scales, warps, and wrappers that change scores or objects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    NO_LIKENESS,
    Differentiable,
    Function,
    Linearised,
    Matrix,
    Parameter,
    ParameterPullback,
    Pullback,
    Sensitivity,
    Similarity,
    Vector,
    assign,
    check_positive,
    check_shape,
    numbered,
)
from likewise.similarity.encoding import Encoding, count_rows
from likewise.similarity.functions import FunctionSimilarity, as_similarity

# A similarity made of one other: with other scores, or of what the objects are turned into.


class Wrapper(Similarity):
    """A frozen dataclass with a similarity, or a plain function, in its field `wraps`, whose encodings it shares."""

    wraps: ClassVar[str] = "inner"

    def __post_init__(self) -> None:
        assign(self, **{self.wraps: as_similarity(self.wrapped)})

    @property
    def wrapped(self) -> Similarity:
        """The similarity that this one is made of."""
        found: Similarity = getattr(self, self.wraps)
        return found

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return (self.wrapped,)

    @property
    def signed(self) -> bool:
        return self.wrapped.signed

    @property
    def kind(self) -> str | None:
        return self.wrapped.kind

    @property
    def encoder(self) -> Similarity:
        return self.wrapped.encoder if type(self).encode is Wrapper.encode else self

    @property
    def name(self) -> str:
        return self.wrapped.name

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return replace(self, **{self.wraps: parts[0]})  # type: ignore[type-var]

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.wrapped.encode(objects)


class Through(Wrapper):
    """Hands on the scores of the inner similarity. PSD if that one is."""

    @property
    def psd(self) -> bool:
        return self.wrapped.psd

    @property
    def divisible(self) -> bool:
        return self.wrapped.divisible

    @property
    def self_bounded(self) -> bool:
        return self.wrapped.self_bounded

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.wrapped.between(self.part_encoding(a, 0), self.part_encoding(b, 0))

    def within(self, a: Encoding) -> Vector:
        return self.wrapped.within(self.part_encoding(a, 0))

    def sensitivity(self, a: Encoding) -> Sensitivity:
        scores, pull = self.wrapped.sensitivity(self.part_encoding(a, 0))
        return scores, lambda weights: numbered(pull(weights))


# Mixing scores: S = (Σ_k w_k S_k)^p + c, the arithmetic of sums, scales and powers of similarities, on plain arrays.
#
# The members of a committee mix the scores of its similarities by it, and `algebra` makes similarities of it.

NOTHING = 1e-30
WHOLE = frozenset(map(float, range(1, 9)))


@dataclass(frozen=True)
class Mix:
    """Weights of the similarities, the power of their sum, and what all objects have in common.

    The offset c lets the mean be learnt with everything else: a priori it is N(0, c · amplitude). Without it,
    observations that crowd around the best ones would raise what is expected far away from them.

    >>> Mix((0.5, 0.5), 2.0).scores({0: 1.0, 1: 3.0})
    4.0
    """

    weights: tuple[float, ...]
    power: float = 1.0
    offset: float = 0.0

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The similarities that have a weight."""
        return tuple(k for k, w in enumerate(self.weights) if w > 0) or (0,)

    def psd(self, parts: Sequence[Similarity]) -> bool:
        """Whether the mix of these similarities is PSD: those in use are, and the power is a whole number."""
        return self.power == int(self.power) and all(parts[k].psd for k in self.used)

    def scores(self, scores: Mapping[int, Any] | Sequence[Any]) -> Any:
        """(Σ_k w_k S_k)^p + c of matrices, rows or selves."""
        mixed = self._sum(scores)
        if self.power != 1.0:
            # Rounding may leave a score a hair below zero, where a root is no number.
            mixed = raised(mixed if self.power == 2.0 else np.maximum(mixed, 0.0), self.power)
        return mixed + self.offset if self.offset else mixed

    def pull(self, scores: Mapping[int, Any] | Sequence[Any], weights: Any) -> dict[int, Any]:
        """From derivatives in the mix to derivatives in each similarity's scores."""
        inside = weights if self.power == 1.0 else weights * power_slope(self._sum(scores), self.power)
        return {k: self.weights[k] * inside for k in self.used}

    def _sum(self, scores: Mapping[int, Any] | Sequence[Any]) -> Any:
        first, *rest = self.used
        total = scores[first] if self.weights[first] == 1.0 else self.weights[first] * scores[first]
        for k in rest:
            total = total + self.weights[k] * scores[k]
        return total


def raised(scores: Any, power: float) -> Any:
    """s^p; small whole powers are products, which take a tenth of the time.

    >>> float(raised(3.0, 5.0)), round(float(raised(4.0, 1.5)), 9)
    (243.0, 8.0)
    """
    if power not in WHOLE:
        return scores**power
    found, square, left = None, scores, int(power)
    while left:
        if left % 2:
            found = square if found is None else found * square
        left //= 2
        square = square * square if left else square
    return found


def power_slope(scores: Any, power: float) -> Any:
    """d s^p / ds = p s^(p−1), taken as 0 next to s = 0, where it may be infinite."""
    if power == 1.0:
        return np.ones_like(scores)
    if power in WHOLE:
        return power * raised(scores, power - 1.0)
    nothing = np.abs(scores) < NOTHING
    return np.where(nothing, 0.0, power * np.where(nothing, 1.0, scores) ** (power - 1.0))


# A similarity whose parameters stay as they are given: nothing is learnt but how local it is, by a warp.
#
# Learning a lengthscale for every dimension, or a weight for every field, pays once there are many observations; with
# few it finds patterns in noise. A fixed similarity beside a learnt one lets the evidence say which of the two it is.


@dataclass(frozen=True)
class Fixed(Through):
    """The inner similarity with its parameters kept as given; median distances are still settled. PSD if that one is.

    >>> from likewise.similarity.kinds.strings import Hamming
    >>> Fixed(Hamming()).parameters(Hamming().encode(["ab", "ba"]))
    {}
    """

    inner: Similarity

    @property
    def name(self) -> str:
        return f"fixed {self.inner.name}"

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return fixed(parts[0])

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        return {}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        return self

    def sensitivity(self, a: Encoding) -> Sensitivity:
        return self.between(a, a), lambda weights: {}

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        return cast(Differentiable, self.inner).linearise(a, b)

    def linearise_within(self, a: Encoding) -> Linearised:
        return cast(Differentiable, self.inner).linearise_within(a)


def fixed(similarity: Similarity) -> Similarity:
    """The same similarity with nothing left to learn but how local it is.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> fixed(RBF(0.5))([0.0], [0.5]) == RBF(0.5)([0.0], [0.5])
    True
    """
    return similarity if isinstance(similarity, Fixed) else Fixed(similarity)


# Some fields of a record as one vector: the parts of a mixture that stand in columns of their own.


@dataclass(frozen=True)
class Fields(Through):
    """A similarity of vectors, of the numbers in these fields of a record, in this order. PSD if the inner one is.

    - `inner`: a similarity of vectors or compositions.
    - `names`: the fields.

    >>> from likewise.similarity.kinds.compositions import Hellinger
    >>> recipe = Fields(Hellinger(), ("water", "ethanol"))
    >>> round(recipe({"water": 0.5, "ethanol": 0.5}, {"water": 90, "ethanol": 10}), 4)
    0.8944
    """

    inner: Similarity | Function
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.wrapped.name} of {', '.join(self.names)}"

    def encode(self, objects: Sequence[Any]) -> Encoding:
        for number, x in enumerate(objects):
            missing = [f for f in self.names if f not in x] if isinstance(x, Mapping) else self.names
            if missing:
                raise SimilarityError(f"record {number} has no field {missing[0]!r}: {x!r}; give it one")
        return self.wrapped.encode([[x[name] for name in self.names] for x in objects])


# Scores that no two objects may exceed: those of the objects with themselves.
#
# A kernel has S(x, y) ≤ √(S(x, x) S(y, y)). An arbitrary score need not, and a new object that is a thousand times more
# like an observed one than this is like itself would be predicted a thousand times its value.

# A score that is larger by rounding alone stays as it is.
SLACK = 1.0 + 1e-9


@dataclass(frozen=True)
class SelfBounded(Wrapper):
    """The inner similarity, with no score above √(S(x, x) S(y, y)).

    >>> odd = SelfBounded(lambda x, y: 1.0 if x == y else 5.0)
    >>> odd("a", "b"), odd("a", "a")
    (1.0, 1.0)
    """

    inner: Any

    @property
    def self_bounded(self) -> bool:
        return True

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        scores = self.wrapped.between(a, b)
        check_shape("between", scores, (count_rows(a), count_rows(b)))
        root, over = self._over(scores, self.within(a), self.within(b))
        return np.where(over, root, scores) if over.any() else scores

    def within(self, a: Encoding) -> Vector:
        selves = self.wrapped.within(a)
        check_shape("within", selves, (count_rows(a),))
        return selves

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        inner = cast(Differentiable, self.wrapped)
        scores, pull = inner.linearise(a, b)
        own, pull_own = inner.linearise_within(a)
        root, over = self._over(scores, own, self.within(b))
        if not over.any():
            return scores, pull

        def pull_both(weights: Any) -> Matrix:
            # d√(st)/ds = ½ √(st)/s
            on_selves = np.sum(np.where(over, 0.5 * weights * root / own[:, None], 0.0), axis=1)
            return pull(np.where(over, 0.0, weights)) + pull_own(on_selves)

        return np.where(over, root, scores), pull_both

    def linearise_within(self, a: Encoding) -> Linearised:
        return cast(Differentiable, self.wrapped).linearise_within(a)

    def sensitivity(self, a: Encoding) -> Sensitivity:
        """A score that is cut off changes with the objects' scores with themselves, which are the diagonal."""
        scores, pull = self.wrapped.sensitivity(a)
        own = np.diagonal(scores)
        root, over = self._over(scores, own, own)

        def pull_both(weights: Matrix) -> dict[str, Vector]:
            cut = np.where(over, 0.5 * weights * root, 0.0)
            on_selves = (cut.sum(axis=0) + cut.sum(axis=1)) / np.where(own > 0, own, 1.0)
            return numbered(pull(np.where(over, 0.0, weights) + np.diag(on_selves)))

        return np.where(over, root, scores), pull_both

    def _over(self, scores: Matrix, own: Vector, others: Vector) -> tuple[Matrix, Any]:
        """√(S(x, x) S(y, y)) for each pair, and which scores are above it."""
        roots = (np.sqrt(np.maximum(each, 0.0)) for each in (own, others))
        root = np.multiply.outer(*roots)
        selves = max(float(np.max(each, initial=0.0)) for each in (own, others))
        # Where no object is like itself these are distances, which are refused elsewhere.
        like = selves > NO_LIKENESS * float(np.max(scores, initial=0.0))
        return root, (scores > SLACK * root) & like


def self_bounded(similarity: Similarity) -> Similarity:
    """The similarity, or where it does not promise it, one that no score of two objects exceeds those with themselves.

    >>> from likewise.similarity.kinds.strings import JaroWinkler
    >>> self_bounded(JaroWinkler()).name, type(self_bounded(JaroWinkler())).__name__
    ('JaroWinkler', 'JaroWinkler')
    """
    return similarity if similarity.self_bounded else SelfBounded(similarity)


# New similarities from old: sums, products, scales and warps.
#
# Derivatives pass through all of them, so a sum of a differentiable and a warped similarity is differentiable again.
# Sums and products are classes of their own: (a + b) * c and a + b * c nest as written.


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
    """S(x, x') = (factor · inner(x, x'))^power. PSD for a whole power of a PSD similarity.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> (2.0 * RBF(1.0))([0.0], [0.0])
    2.0
    >>> x, y = [0.0], [0.3]
    >>> bool(np.isclose(Scaled(RBF(1.0), power=4.0)(x, y), RBF(0.5)(x, y)))
    True
    """

    inner: Similarity
    factor: float = 1.0
    power: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor >= 0):
            raise SimilarityError(f"a similarity can be scaled by a non-negative number alone, not by {self.factor}")
        if self.inner.signed and self.power != int(self.power):
            raise SimilarityError(
                f"{self.inner.name} may be negative, so it has no power {self.power}; use a whole power"
            )

    @property
    def rule(self) -> Rule:
        return Mix((self.factor,), self.power)

    @property
    def name(self) -> str:
        scaled = self.inner.name if self.factor == 1.0 != self.power else f"{self.factor:g} × {self.inner.name}"
        return scaled if self.power == 1.0 else f"{scaled}^{self.power:g}"


def warped(similarity: Similarity | Function, power: float) -> Similarity:
    """S → S^power.

    similarity: a similarity, or a plain function of two objects.
    power: above 1 makes it more local, below 1 less.

    >>> warped(lambda x, y: 0.5, 2)("a", "b")
    0.25
    """
    check_positive("warped", "power", power)
    return Scaled(as_similarity(similarity), power=float(power))


@dataclass(frozen=True)
class Symmetrised(Through):
    """½(S(x, x') + S(x', x)), for a score that depends on the order. PSD if the inner one is symmetric and PSD."""

    inner: Similarity

    @property
    def name(self) -> str:
        return f"symmetrised {self.inner.name}"

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        scores = self.inner.between(a, b)
        return 0.5 * (scores + (scores if a is b else self.inner.between(b, a)).T)

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
COMBINATIONS = (Sum, Product, Scaled, Symmetrised, Fixed)
