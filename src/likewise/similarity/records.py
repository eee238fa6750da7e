"""Similarities of records: one for each named field, and one for each branch of objects of several kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.algebra import NOTHING, Fields, Wrapper, power_slope, raised
from likewise.similarity.base import (
    Differentiable,
    Function,
    Linearised,
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
    positive_numbers,
)
from likewise.similarity.encoding import (
    MANY,
    Encoding,
    Grouped,
    Indices,
    Levels,
    count_rows,
    distinct,
    levels_of,
    plain,
    worth_levels,
)
from likewise.similarity.functions import as_similarity

# One similarity per named field of a record: reactions, recipes, settings, rows of a table.

WEIGHT_PRIOR = LogNormal(0.0, 1.0)


@dataclass(frozen=True, init=False)
class Parts(Similarity):
    """One similarity per field of a record, combined by product (Π S_k^w_k) or by sum (Σ w_k S_k / Σ w_k).

    The weights are learnt in a study: a reaction's ligand may matter more than its solvent. A record is a mapping from
    field names to objects. A `Record` needs a similarity for each field; other fields of a pool are ignored. A sum is
    PSD if its parts are; so is a product whose weights are whole numbers.

    how: "product" (default), where all fields have to be alike, or "sum", where each adds its part.
    weights: one for each field, in their order; None (default): they are learnt.
    similarities: of each field by name, a similarity or a plain function of two.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> reaction = Parts(temperature=RBF(10.0), time=RBF(1.0))
    >>> reaction({"temperature": 80.0, "time": 2.0}, {"temperature": 80.0, "time": 2.0})
    1.0
    """

    how: Literal["product", "sum"]
    fields: tuple[str, ...]
    parts_: tuple[Similarity, ...]
    weights: Vector = field(compare=False)
    # The fields that a gradient has columns for, and how many; None: all that have derivatives, in their order.
    columns: tuple[tuple[str, int], ...] | None = None

    def __init__(
        self,
        how: Literal["product", "sum"] = "product",
        weights: Sequence[float] | None = None,
        /,
        **similarities: Similarity | Function,
    ) -> None:
        if how not in ("product", "sum"):
            raise SimilarityError(f"parts are combined by 'product' or 'sum', not by {how!r}")
        if not similarities:
            raise SimilarityError("Parts needs at least one field, as in Parts(solvent=Tanimoto())")
        values = np.ones(len(similarities)) if weights is None else np.asarray(weights)
        if values.shape != (len(similarities),) or not positive_numbers(values):
            raise SimilarityError(
                f"Parts needs one positive weight for each of its fields {', '.join(similarities)}, not {weights!r}"
            )
        parts = tuple(map(as_similarity, similarities.values()))
        assign(self, how=how, fields=tuple(similarities), parts_=parts, weights=values.astype(float))

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return self.parts_

    @property
    def self_bounded(self) -> bool:
        return all(part.self_bounded for part in self.parts)

    @property
    def psd(self) -> bool:
        whole = bool(np.all(self.weights == np.round(self.weights)))
        return all(part.psd for part in self.parts) and (self.how == "sum" or whole)

    @property
    def divisible(self) -> bool:
        return self.how == "product" and all(part.divisible for part in self.parts)

    @property
    def name(self) -> str:
        inside = ", ".join(f"{f}: {p.name}" for f, p in zip(self.fields, self.parts, strict=True))
        return f"{self.how} of {inside}"

    def rebuilt(self, parts: Sequence[Similarity]) -> Parts:
        return self._remade(parts, self.weights, self.columns)

    def _remade(self, parts: Sequence[Similarity], weights: Vector, columns: Any) -> Parts:
        made = Parts(self.how, cast(Sequence[float], weights), **dict(zip(self.fields, parts, strict=True)))
        assign(made, columns=columns)
        return made

    @property
    def differentiable(self) -> bool:
        if self.columns is None:
            return super().differentiable
        moving = [part for name, part in zip(self.fields, self.parts, strict=True) if name in dict(self.columns)]
        return not moving or any(map(is_differentiable, moving))

    def along(self, widths: Mapping[str, int]) -> Parts:
        """The same with gradients in the columns of these fields, which have so many numbers, in this order.

        The other fields are held fixed, so their similarities need no derivative. One of these that is not compared, or
        by a similarity without a derivative, has columns of zeros; where all are compared so, there is no gradient.
        """
        compared = [part for name, part in zip(self.fields, self.parts, strict=True) if name in widths]
        if not widths or (compared and not any(map(is_differentiable, compared))):
            return self
        return self._remade(self.parts, self.weights, tuple(widths.items()))

    def encode(self, objects: Sequence[Any]) -> Encoding:
        each = dict(zip(self.fields, self.parts, strict=True))
        needed = [f for name, part in each.items() for f in (part.names if isinstance(part, Fields) else (name,))]
        for number, record in enumerate(objects):
            missing = [f for f in needed if f not in record] if isinstance(record, Mapping) else needed
            if missing:
                raise SimilarityError(
                    f"record {number} has no field {missing[0]!r}: {record!r}; "
                    f"give each record the fields {', '.join(needed)}"
                )
        # What compares several fields takes the whole record.
        return tuple(
            part.encode(objects) if isinstance(part, Fields) else _encoded(part, [record[f] for record in objects])
            for f, part in each.items()
        )

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return plain(a[i])

    def _combined(self, scores: Sequence[Any], rows: Sequence[Indices | None] | None = None) -> Any:
        """The scores of all fields as one; `rows` says which row of a field's scores each object has, if not its own.

        Of powers in a product the logarithms are summed up, as a power for each field takes three times as long.
        """
        total: Any = 0.0
        factor: Any = 1.0
        for w, s, index in zip(self.weights, scores, rows or [None] * len(scores), strict=True):
            if self.how == "product" and w == 1.0:
                factor = factor * (s if index is None else np.take(s, index, axis=0))
                continue
            with np.errstate(divide="ignore"):
                term = w * (s if self.how == "sum" else np.log(s))
            term = term if index is None else np.take(term, index, axis=0)
            total = np.add(total, term, out=term)
        return total / self.weights.sum() if self.how == "sum" else factor * np.exp(total)

    def _slope(self, k: int, scores: Sequence[Any], total: Any) -> Any:
        """∂S/∂S_k of the combination of these scores, which is `total`."""
        weights = self.weights.tolist()
        if self.how == "sum":
            return weights[k] / self.weights.sum()
        if np.min(scores[k], initial=1.0) > NOTHING:
            return weights[k] * total / scores[k]
        # Without dividing, as a score may be zero.
        others = [raised(s, w) for j, (w, s) in enumerate(zip(weights, scores, strict=True)) if j != k]
        return power_slope(scores[k], weights[k]) * np.prod(others, axis=0)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        scores, rows = [], []
        for part, x, y in zip(self.parts, a, b, strict=True):
            # Each level of a field is compared once.
            (these, row), (those, column) = levels_of(x), levels_of(y)
            found = part.between(these, those)
            scores.append(found if column is None else found[:, column])
            rows.append(row)
        return cast(Matrix, self._combined(scores, rows))

    def within(self, a: Encoding) -> Vector:
        entries, rows = zip(*map(levels_of, a), strict=True)
        return cast(Vector, self._combined([p.within(x) for p, x in zip(self.parts, entries, strict=True)], rows))

    @property
    def branched(self) -> bool:
        """A product raises scores to powers, and would do so with how much branches vary."""
        return self.how == "sum" and super().branched

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        return {"weights": Parameter(self.weights, WEIGHT_PRIOR), **super().parameters(a)}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        inner = cast(Parts, super().with_parameters({k: v for k, v in values.items() if k != "weights"}))
        return self._remade(inner.parts, values.get("weights", self.weights), self.columns)

    def sensitivity(self, a: Encoding) -> Sensitivity:
        scores, pullbacks = zip(*(p.sensitivity(x) for p, x in zip(self.parts, plain(a), strict=True)), strict=True)
        total = self._combined(scores)
        learning = [k for k, (p, x) in enumerate(zip(self.parts, plain(a), strict=True)) if p.parameters(x)]

        def pull(weights: Matrix) -> dict[str, Vector]:
            if self.how == "sum":
                share = self.weights / self.weights.sum()
                own = np.array([w * np.sum(weights * (s - total)) for w, s in zip(share, scores, strict=True)])
            else:
                logs, inside = (np.log(np.where(s > 0, s, 1.0)) for s in scores), weights * total
                own = self.weights * np.array([np.vdot(inside, log) for log in logs])
            slopes = {k: numbered(pullbacks[k](weights * self._slope(k, scores, total)), k) for k in learning}
            return {"weights": own, **{name: slope for part in slopes.values() for name, slope in part.items()}}

        return total, pull

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        each = zip(self._moving(), self.parts, plain(a), plain(b), strict=True)
        found = [part.between(x, y) if moving is None else moving.linearise(x, y) for moving, part, x, y in each]
        return self._chain(found, count_rows(a))

    def linearise_within(self, a: Encoding) -> Linearised:
        each = zip(self._moving(), self.parts, plain(a), strict=True)
        found = [part.within(x) if moving is None else moving.linearise_within(x) for moving, part, x in each]
        return self._chain(found, count_rows(a))

    def _moving(self) -> Iterator[Differentiable | None]:
        """The part of each field that has columns in a gradient; None for the others."""
        for name, part in zip(self.fields, self.parts, strict=True):
            has_columns = self.columns is None or name in dict(self.columns)
            yield part if has_columns and is_differentiable(part) else None

    def _chain(self, found: Sequence[Any], n: int) -> tuple[Any, Pullback]:
        """One step of the chain rule, from the fields to the record; those that move come with their pullbacks."""
        scores = [each[0] if isinstance(each, tuple) else each for each in found]
        total = self._combined(scores)

        def pull(weights: Any) -> Matrix:
            moved = {
                self.fields[k]: each[1](weights * self._slope(k, scores, total))
                for k, each in enumerate(found)
                if isinstance(each, tuple)
            }
            order = self.columns or [(name, 0) for name in moved]
            blocks = (moved[name] if name in moved else np.zeros((n, width)) for name, width in order)
            return np.hstack([np.zeros((n, 0)), *blocks])

        return total, pull


def compared_fields(similarity: Similarity) -> frozenset[str] | None:
    """The fields of a record that a similarity looks at; None where it takes the record as a whole.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> sorted(compared_fields(Parts(T=RBF()) + Parts(time=RBF()))), compared_fields(RBF())
    (['T', 'time'], None)
    """
    if isinstance(similarity, Fields):
        return frozenset(similarity.names)
    if isinstance(similarity, Parts):
        pairs = zip(similarity.fields, similarity.parts, strict=True)
        return frozenset(f for name, part in pairs for f in (part.names if isinstance(part, Fields) else (name,)))
    inner = [compared_fields(part) for part in similarity.parts]
    whole = not inner or None in inner or (similarity.encoder is similarity and isinstance(similarity, Wrapper))
    return None if whole else frozenset().union(*(names for names in inner if names is not None))


def _encoded(part: Similarity, values: list[Any]) -> Encoding:
    """The part's encoding of these values, each level encoded once where there are few."""
    found = _levels(values)
    if found is not None:
        first, which = found
        # A complaint is left to the encoding of all values, so that it names the record by its number.
        with suppress(SimilarityError):
            return Levels(part.encode([values[i] for i in first]), which)
    return part.encode(values)


def _levels(values: list[Any]) -> tuple[Indices, Indices] | None:
    """Where each level is first and which of them each value is, if levels are worth it and the values hashable.

    Values are of one level if they are equal and of one type, as a similarity may tell 1 from True.
    """
    if len(values) < MANY:
        return None
    keys = values if len(set(map(type, values))) == 1 else list(zip(map(type, values), values, strict=True))
    try:
        # Too many levels among the first half are too many of all: numbers are seldom twice the same.
        if not worth_levels(len(values), len(set(keys[: len(keys) // 2]))):
            return None
        first, which = distinct(keys)
    except TypeError:
        return None
    return (first, which) if worth_levels(len(values), len(first)) else None


# How much the values of each branch vary: the accuracies of one classifier by 0.5, those of another by 0.005.
#
# With values y_i of branch b_i normal about one mean m with the variances v_b, and log v_b normal about 0 with the
# standard deviation τ, the most plausible v_b and m have
#
#     m = Σ_i y_i/v_b(i) / Σ_i 1/v_b(i)        ½ Σ_{i in b} (y_i − m)²/v_b = ½ n_b + log(v_b)/τ².
#
# A branch without values has v_b = 1, as the values have a spread of about one.

# Most standard deviations of two branches differ by a factor of two or less, unless the data say otherwise.
SCALE = 1.0
# Its mode is 1.
SPREAD_PRIOR = LogNormal(SCALE**2, SCALE)
ROUNDS, STEPS = 8, 20
# Values of a branch that are all equal have no logarithm of a spread.
LEAST = 1e-12


def spreads(which: Indices, values: Vector, branches: int) -> Vector:
    """v_b of each branch, from standardised values and which branch each is of.

    >>> found = spreads(np.array([0, 0, 0, 1, 1, 1]), np.array([1.1, 1.0, 0.9, -4.0, 2.0, -1.0]), 3)
    >>> found.round(2).tolist()
    [0.25, 4.72, 1.0]
    """
    logs, sizes = np.zeros(branches), np.bincount(which, minlength=branches)
    for _ in range(ROUNDS):
        shares = np.exp(-logs)[which]
        away = (values - shares @ values / shares.sum()) ** 2
        squares = np.bincount(which, away, minlength=branches) + LEAST * sizes
        for _ in range(STEPS):
            # Newton's, no farther than one at a time: the slope falls steeply below the root.
            pull = 0.5 * squares * np.exp(-logs)
            slope = pull - 0.5 * sizes - logs / SCALE**2
            logs = logs + np.clip(slope / (pull + 1.0 / SCALE**2), -1.0, 1.0)
    return np.exp(logs)


# One similarity per branch: objects that are of one of several kinds, each with parts of its own.

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
