"""Which similarity suits a data set? Each is judged by leaving out, without a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from likewise.errors import LikewiseError
from likewise.model.assessment.diagnosis import Diagnosis, diagnose, finite
from likewise.model.assessment.fits import Fit, table
from likewise.model.committee import Committee
from likewise.model.fit import fit
from likewise.model.gram import Gram
from likewise.model.targets.censoring import SIDES, says_nothing
from likewise.similarity.auto.given import Given, as_similarities
from likewise.similarity.auto.recognise import Recognised, recognise
from likewise.similarity.base import Similarity, Vector
from likewise.similarity.ranges import column, rescaled, span
from likewise.tables.frames import as_objects


@dataclass(frozen=True, eq=False)
class Comparison:
    """Similarities in the order of their leave-one-out log density, the best first; printed, a table and a verdict.

    The density asks for the right value and for the right doubt, and a search relies on both; an error alone would not
    notice a similarity that is wrong and sure of it.
    """

    rows: tuple[Fit, ...]
    similarities: tuple[Similarity, ...]
    recognised: Recognised | None
    diagnosis: Diagnosis

    @property
    def best(self) -> Similarity:
        """The similarity that predicts best alone."""
        return self.similarities[0]

    @property
    def verdict(self) -> str:
        """What the comparison says in one sentence."""
        return self.diagnosis.verdict

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        whole = [self.diagnosis.committee] if len(self.rows) > 1 else []
        kind = [] if self.recognised is None else [f"{self.recognised.kind}: {self.recognised.why}"]
        fits = table([*self.rows, *whole], self.diagnosis.mean_rmse)
        return "\n".join([*kind, self.verdict, *self.diagnosis.remarks, "", fits])

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        found = {"rows": [asdict(row) for row in self.rows], "recognised": str(self.recognised or "") or None}
        return {**self.diagnosis.to_json(), **finite(found)}


def compare(
    objects: Sequence[Any],
    values: Sequence[float],
    similarities: Given = "auto",
    *,
    std: float | Sequence[float] | None = None,
    limits: Sequence[str | None] | None = None,
) -> Comparison:
    """Rank similarities by how well each predicts values it has not seen.

    `objects` and `values` are what was measured, two objects or more, one value for each.
    `similarities` are those to compare: one, a list of similarities and plain functions of two objects, or "auto", the
    default, for those that suit the kind of the objects.
    `std` is the standard deviation of the measurements in the unit of the values, one for all or one for each; None,
    the default, where it is not known.
    `limits` says "below" or "above" of each value that is only a limit, None of the others; None, the default, where
    all were measured. Limits help to predict, and no error is counted there.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> x = np.linspace(0.0, 6.0, 25)
    >>> close, parity = RBF(), lambda a, b: float(round(4 * a) % 2 == round(4 * b) % 2)
    >>> compare(list(x), np.sin(x), [parity, close]).best.name
    'RBF'
    """
    objects = as_objects(objects)
    y, extra = _check(objects, values, std)
    named = as_similarities(similarities)
    recognised = recognise(objects) if named is None else None
    chosen = recognised.similarities if recognised is not None else named or ()
    grams = [_gram(one, objects) for one in chosen]
    diagnosis = diagnose(_fit_telling(grams, y, extra, _sides(limits, len(y))))
    order = sorted(range(len(chosen)), key=lambda k: -_density(diagnosis.similarities[k]))
    rows, ranked = tuple(diagnosis.similarities[k] for k in order), tuple(chosen[k] for k in order)
    return Comparison(rows, ranked, recognised, diagnosis)


def _sides(limits: Sequence[str | None] | None, t: int) -> Vector | None:
    """Which values are limits, and on which side."""
    if limits is None or not any(limits):
        return None
    if len(limits) != t or not {*limits} <= SIDES.keys():
        raise LikewiseError(f"limits={list(limits)!r} needs one of 'below', 'above' and None for each of {t} values")
    return np.array([SIDES[each] for each in limits])


def _fit_telling(grams: Sequence[Gram], values: Vector, extra: Vector | None, limits: Vector | None) -> Committee:
    """The committee of all observations but limits that say nothing."""
    void = says_nothing(values, limits)
    if not void.any():
        return fit(grams, values, extra, limits)
    telling = np.flatnonzero(~void)
    part = (None if each is None else each[telling] for each in (extra, limits))
    return fit([gram.part(telling) for gram in grams], values[telling], *part)


def _density(fit: Fit) -> float:
    return fit.log_density if np.isfinite(fit.log_density) else -np.inf


def _check(
    objects: Sequence[Any], values: Sequence[float], std: float | Sequence[float] | None
) -> tuple[Vector, Vector | None]:
    y = np.asarray(values, dtype=float)
    if y.shape != (len(objects),) or len(objects) < 2:
        raise LikewiseError(
            f"compare needs two objects or more and a value for each, not {len(objects)} objects and "
            f"values of shape {y.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(y))
    if len(wrong):
        raise LikewiseError(f"the value of {objects[wrong[0]]!r} is {y[wrong[0]]}; leave out what was not measured")
    if std is None:
        return y, None
    spread = np.broadcast_to(np.asarray(std, dtype=float), y.shape)
    if not np.all(np.isfinite(spread) & (spread >= 0)):
        raise LikewiseError(f"std holds standard deviations, finite and not negative, not {std!r}")
    return y, spread**2


def _gram(similarity: Similarity, objects: Sequence[Any]) -> Gram:
    """Scores of the objects, with numbers in their own range, as in a pool, and median distances settled."""

    def view(one: Similarity) -> Similarity:
        return rescaled(one, lambda path: span(column(objects, path)))

    viewed = view(similarity)
    gram = Gram.of(viewed, objects)
    return gram.retune(viewed.fitted(gram.encodings))
