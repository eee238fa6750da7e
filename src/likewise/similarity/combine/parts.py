"""One similarity per named field of a record: reactions, recipes, settings, rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from likewise.errors import SimilarityError
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
)
from likewise.similarity.checks import positive_numbers
from likewise.similarity.combine.fields import Fields
from likewise.similarity.combine.mix import NOTHING, power_slope, raised
from likewise.similarity.combine.wrapper import Wrapper
from likewise.similarity.encodings.arrays import (
    MANY,
    Encoding,
    Indices,
    Levels,
    count,
    distinct,
    levels_of,
    plain,
    worth_levels,
)
from likewise.similarity.from_function import as_similarity

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
        return self._chain(found, count(a))

    def linearise_within(self, a: Encoding) -> Linearised:
        each = zip(self._moving(), self.parts, plain(a), strict=True)
        found = [part.within(x) if moving is None else moving.linearise_within(x) for moving, part, x in each]
        return self._chain(found, count(a))

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
