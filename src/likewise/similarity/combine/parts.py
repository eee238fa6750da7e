"""One similarity per named field of a record: reactions, recipes, settings, rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    Function,
    LogNormal,
    Matrix,
    Parameter,
    ParameterPullback,
    Pullback,
    Similarity,
    Vector,
    assign,
    is_differentiable,
)
from likewise.similarity.combine.algebra import merged, others_product
from likewise.similarity.combine.mix import power_slope
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
    field names to objects; fields without a similarity are ignored. A sum is PSD if its parts are; so is a product
    whose weights are whole numbers.

    >>> from likewise.similarity.kinds.vectors import RBF
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
        **similarities: Similarity | Function,
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
        parts = tuple(map(as_similarity, similarities.values()))
        assign(self, how=how, fields=tuple(similarities), parts_=parts, weights=values)

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
            _encoded(part, [record[f] for record in objects]) for f, part in zip(self.fields, self.parts, strict=True)
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

    def _slopes(self, scores: Sequence[Any]) -> list[Any]:
        """∂S/∂S_k of the combination, for each part."""
        if self.how == "sum":
            return [w / self.weights.sum() * np.ones_like(scores[0]) for w in self.weights]
        raised = [s**w for w, s in zip(self.weights, scores, strict=True)]
        own = [power_slope(s, w) for w, s in zip(self.weights, scores, strict=True)]
        return [slope * other for slope, other in zip(own, others_product(raised), strict=True)]

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

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        return {"weights": Parameter(self.weights, WEIGHT_PRIOR), **super().parameters(a)}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        inner = cast(Parts, super().with_parameters({k: v for k, v in values.items() if k != "weights"}))
        weights = cast(Sequence[float], values.get("weights", self.weights))
        return Parts(self.how, weights, **dict(zip(inner.fields, inner.parts, strict=True)))

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pullbacks = zip(*(p.sensitivity(x) for p, x in zip(self.parts, plain(a), strict=True)), strict=True)
        total, slopes = self._combined(scores), self._slopes(scores)

        def pull(weights: Matrix) -> dict[str, Vector]:
            if self.how == "sum":
                share = self.weights / self.weights.sum()
                own = np.array([w * np.sum(weights * (s - total)) for w, s in zip(share, scores, strict=True)])
            else:
                logs = [np.log(np.where(s > 0, s, 1.0)) for s in scores]
                own = np.array([w * np.sum(weights * total * log) for w, log in zip(self.weights, logs, strict=True)])
            return {"weights": own, **merged(pullbacks, [weights * slope for slope in slopes])}

        return total, pull

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        return self._linearised(
            [
                part.linearise(x, y) if is_differentiable(part) else (part.between(x, y), None)
                for part, x, y in zip(self.parts, plain(a), plain(b), strict=True)
            ],
            count(a),
        )

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        return self._linearised(
            [
                part.linearise_within(x) if is_differentiable(part) else (part.within(x), None)
                for part, x in zip(self.parts, plain(a), strict=True)
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
    try:
        first, which = distinct((type(value), value) for value in values)
    except TypeError:
        return None
    return (first, which) if worth_levels(len(values), len(first)) else None
