"""One similarity per branch: objects that are of one of several kinds, each with parts of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    Differentiable,
    Function,
    LogNormal,
    Matrix,
    Parameter,
    Pullback,
    Sensitivity,
    Similarity,
    Vector,
    assign,
    is_differentiable,
    numbered,
)
from likewise.similarity.combine.spread import SPREAD_PRIOR, spreads
from likewise.similarity.encodings.arrays import Encoding, Grouped, plain
from likewise.similarity.from_function import as_similarity

# Objects of two branches are about half as alike as they can be, unless the data say otherwise.
OTHERWISE = 0.5
APART_PRIOR = LogNormal(float(np.log(-np.log(OTHERWISE))), 1.0)


@dataclass(frozen=True, init=False)
class Branches(Similarity):
    """One similarity per branch, for objects {branch: what it is made of}. PSD if its parts are.

    Two objects of one branch b are compared by their parts, and two of different branches by the branches alone:

        S(x, x') = v_b (s_b + (1 − s_b) S_b(x, x'))        S(x, x') = √(v_b s_b v_b' s_b')

    The shares s_b, from 0 to 1, say how much one branch tells of the others. The spreads v_b, 1 as it is made, say how
    much the values of a branch vary: what is far from all others in a branch where nothing varies is no surprise in
    one where all does. Both are learnt in a study.

    - `otherwise`, which comes first and has no name: s_b, one number for all branches or one for each in their order.
    - `similarities`: one for each branch, by its name.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> model = Branches(svm=RBF(1.0), forest=RBF(5.0))
    >>> model({"svm": 2.0}, {"svm": 2.0}), model({"svm": 2.0}, {"forest": 2.0})
    (1.0, 0.5)
    """

    fields: tuple[str, ...]
    parts_: tuple[Similarity, ...]
    # −log s_b: how far a branch is from the others.
    apart: Vector = field(compare=False)
    # v_b: how much the values of a branch vary beside those of the others.
    spread: Vector = field(compare=False)
    # The branches that a gradient has columns for, and how many; None: there is no gradient.
    columns: tuple[tuple[str, int], ...] | None = None

    def __init__(
        self, otherwise: float | Sequence[float] = OTHERWISE, /, **similarities: Similarity | Function
    ) -> None:
        if not similarities:
            raise SimilarityError("Branches needs at least one branch, as in Branches(svm=RBF(), forest=RBF())")
        shares = np.asarray(otherwise, dtype=float)
        if shares.shape not in ((), (len(similarities),)) or not np.all((shares > 0) & (shares < 1)):
            raise SimilarityError(
                f"Branches needs a score between 0 and 1 for objects of different branches, or one for each of the "
                f"branches {', '.join(similarities)}, not {otherwise!r}"
            )
        parts = tuple(map(as_similarity, similarities.values()))
        apart = -np.log(np.broadcast_to(shares, len(parts)))
        assign(self, fields=tuple(similarities), parts_=parts, apart=apart, spread=np.ones(len(parts)))

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return self.parts_

    @property
    def self_bounded(self) -> bool:
        return all(part.self_bounded for part in self.parts)

    @property
    def psd(self) -> bool:
        return all(part.psd for part in self.parts)

    @property
    def signed(self) -> bool:
        return any(part.signed for part in self.parts)

    @property
    def differentiable(self) -> bool:
        return self.columns is not None

    @property
    def name(self) -> str:
        return "one of " + ", ".join(f"{f}: {p.name}" for f, p in zip(self.fields, self.parts, strict=True))

    def rebuilt(self, parts: Sequence[Similarity]) -> Branches:
        return self._remade(parts, self.apart, self.spread, self.columns)

    def _remade(self, parts: Sequence[Similarity], apart: Vector, spread: Vector, columns: Any) -> Branches:
        made = Branches(**dict(zip(self.fields, parts, strict=True)))
        assign(made, apart=apart, spread=spread, columns=columns)
        return made

    def along(self, widths: Mapping[str, int]) -> Branches:
        """The same with gradients in the columns of these branches, which have so many numbers, in this order.

        An object has zeros in the columns of all branches but its own, and in those if they cannot be differentiated.
        """
        known = [part for name, part in zip(self.fields, self.parts, strict=True) if name in widths]
        if not any(map(is_differentiable, known)):
            return self
        return self._remade(self.parts, self.apart, self.spread, tuple(widths.items()))

    def encode(self, objects: Sequence[Any]) -> Grouped:
        which = np.array([self._branch(number, x) for number, x in enumerate(objects)], dtype=np.intp)
        inside: list[list[Any]] = [[] for _ in self.fields]
        for branch, x in zip(which.tolist(), objects, strict=True):
            inside[branch].append(x[self.fields[branch]])
        each = zip(self.parts, inside, strict=True)
        return Grouped(which, tuple(part.encode(own) if own else None for part, own in each))

    def _branch(self, number: int, x: Any) -> int:
        if isinstance(x, Mapping) and len(x) == 1 and (name := next(iter(x))) in self.fields:
            return self.fields.index(name)
        raise SimilarityError(
            f"object {number} is of none of the branches {', '.join(self.fields)}: {x!r}; "
            f"give it as {{{self.fields[0]!r}: …}}, with the branch and what it is made of"
        )

    def part_encoding(self, a: Grouped, i: int) -> Encoding:
        return plain(a.entries[i])

    def _present(self, a: Grouped) -> list[int]:
        return [i for i, entries in enumerate(a.entries) if entries is not None]

    def _levels(self, a: Grouped, b: Grouped) -> Matrix:
        """√(v_b s_b v_b' s_b') of each pair."""
        logs = np.log(self.spread) - self.apart
        return np.exp(0.5 * np.add.outer(logs[a.which], logs[b.which]))

    def _shares(self, i: int) -> tuple[float, float]:
        """v_b s_b and v_b (1 − s_b): how much of a branch is the same in all of it, and how much its parts say."""
        share = float(np.exp(-self.apart[i]))
        return float(self.spread[i]) * share, float(self.spread[i]) * (1.0 - share)

    def between(self, a: Grouped, b: Grouped) -> Matrix:
        scores = self._levels(a, b)
        for i in set(self._present(a)) & set(self._present(b)):
            same, own = self._shares(i)
            scores[np.ix_(a.places(i), b.places(i))] = same + own * self.parts[i].between(a.entries[i], b.entries[i])
        return scores

    def within(self, a: Grouped) -> Vector:
        scores = np.empty(len(a.which))
        for i in self._present(a):
            same, own = self._shares(i)
            scores[a.places(i)] = same + own * self.parts[i].within(a.entries[i])
        return scores

    def fitted(self, a: Grouped) -> Similarity:
        each = enumerate(self.parts)
        return self.rebuilt(
            [part if a.entries[i] is None else part.fitted(self.part_encoding(a, i)) for i, part in each]
        )

    @property
    def branched(self) -> bool:
        return True

    def with_spread(self, a: Grouped, values: Vector) -> Similarity:
        parts, found = list(self.parts), spreads(a.which, values, len(self.parts))
        for i in self._present(a):
            own = values[a.places(i)] / np.sqrt(found[i])
            parts[i] = parts[i].with_spread(self.part_encoding(a, i), own)
        return self._remade(parts, self.apart, found, self.columns)

    @property
    def _varies(self) -> bool:
        return bool(np.any(self.spread != 1.0))

    def parameters(self, a: Grouped) -> dict[str, Parameter]:
        """How far each branch is from the others, and what the branches that occur have to learn.

        How much they vary is learnt where it was read off the values before (`with_spread`).
        """
        return {
            "apart": Parameter(self.apart, APART_PRIOR),
            **({"spread": Parameter(self.spread, SPREAD_PRIOR)} if self._varies else {}),
            **{
                f"{i}.{name}": parameter
                for i in self._present(a)
                for name, parameter in self.parts[i].parameters(self.part_encoding(a, i)).items()
            },
        }

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        inside = {k: v for k, v in values.items() if k not in ("apart", "spread")}
        inner = cast(Branches, super().with_parameters(inside))
        return self._remade(
            inner.parts, values.get("apart", self.apart), values.get("spread", self.spread), self.columns
        )

    def sensitivity(self, a: Grouped) -> Sensitivity:
        levels, inside = self._levels(a, a), np.zeros((len(a.which), len(a.which)))
        pulls = {}
        for i in self._present(a):
            places = a.places(i)
            inside[np.ix_(places, places)], pulls[i] = self.parts[i].sensitivity(self.part_encoding(a, i))
        alone = np.equal.outer(a.which, a.which)
        # v_b of the pairs of one branch, and nothing of the others.
        spreads = np.where(alone, self.spread[a.which], 0.0)
        scores = levels + np.where(alone, (spreads - levels) * inside, 0.0)

        def pull(weights: Matrix) -> dict[str, Vector]:
            slopes = {"apart": -self.apart * self._halves(a, weights * levels * (1.0 - inside))}
            if self._varies:
                slopes["spread"] = self._halves(a, weights * scores)
            for i, part in pulls.items():
                block = np.ix_(a.places(i), a.places(i))
                slopes |= numbered(part(weights[block] * (spreads[block] - levels[block])), i)
            return slopes

        return scores, pull

    def _halves(self, a: Grouped, weights: Matrix) -> Vector:
        """For each branch half of what the pairs have in which it is the first, and half where it is the second."""
        each = 0.5 * (weights.sum(axis=0) + weights.sum(axis=1))
        return np.asarray(np.bincount(a.which, each, minlength=len(self.parts)), dtype=float)

    def linearise(self, a: Grouped, b: Grouped) -> tuple[Matrix, Pullback]:
        scores, pulls = self._levels(a, b), {}
        for i in set(self._present(a)) & set(self._present(b)):
            block, (same, own) = np.ix_(a.places(i), b.places(i)), self._shares(i)
            if is_differentiable(self.parts[i]) and self.fields[i] in dict(self.columns or ()):
                part = cast(Differentiable, self.parts[i])
                found, pulls[i] = part.linearise(self.part_encoding(a, i), self.part_encoding(b, i))
            else:
                found = self.parts[i].between(a.entries[i], b.entries[i])
            scores[block] = same + own * found

        def pull(weights: Matrix) -> Matrix:
            blocks = {i: np.ix_(a.places(i), b.places(i)) for i in pulls}
            return self._spread(a, {i: each(weights[blocks[i]]) for i, each in pulls.items()})

        return scores, pull

    def linearise_within(self, a: Grouped) -> tuple[Vector, Pullback]:
        moving = [
            i
            for i in self._present(a)
            if is_differentiable(self.parts[i]) and self.fields[i] in dict(self.columns or ())
        ]
        parts = {i: cast(Differentiable, self.parts[i]).linearise_within(self.part_encoding(a, i))[1] for i in moving}

        def pull(weights: Vector) -> Matrix:
            return self._spread(a, {i: each(weights[a.places(i)]) for i, each in parts.items()})

        return self.within(a), pull

    def _spread(self, a: Grouped, gradients: Mapping[int, Matrix]) -> Matrix:
        """Gradients of the objects of each branch in the columns of that branch, as one of all objects."""
        blocks = []
        for name, width in self.columns or ():
            i, block = self.fields.index(name), np.zeros((len(a.which), width))
            if i in gradients:
                block[a.places(i)] = self._shares(i)[1] * gradients[i]
            blocks.append(block)
        return np.hstack([np.zeros((len(a.which), 0)), *blocks])
