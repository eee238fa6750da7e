"""A scikit-learn regressor over anything that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.errors import LikewiseError
from likewise.model.blas import one_thread
from likewise.model.committee import Committee
from likewise.model.fit import FitSettings
from likewise.model.model import Data, Model
from likewise.model.prediction import Prediction
from likewise.model.spectrum import Spectrum
from likewise.similarity.auto import Given, as_similarities, recognise
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.coordinates import column, rescaled, span
from likewise.similarity.functions import Precomputed
from likewise.study.methods.committee import with_fixed
from likewise.tables.cells import as_objects, is_frame

PRECOMPUTED = "precomputed"


class SimilarityRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts values of objects from values of objects like them, and says how sure it is.

    similarity: how alike two objects are: a similarity, a plain function, a list of either to weigh by evidence,
        "auto" (default), which chooses by the kind of the objects, or "precomputed": X is then the matrix of scores,
        of the objects with one another in `fit`, and with those of `fit` in `predict`.
    spectrum: what is done about negative eigenvalues of the similarity; "krein" by default.

    Fitted, it has `committee_`, the models with their weights, and `similarities_`.

    >>> words = ["AAAA", "AAAC", "AACC", "ACCC", "CCCC", "CCCA", "CCAA", "CAAA"]
    >>> fitted = SimilarityRegressor().fit(words, [word.count("C") for word in words])
    >>> mean, std = fitted.predict(["ACCA", "CACC"], return_std=True)
    >>> bool(mean[0] < mean[1]), bool(np.all(std > 0))
    (True, True)
    """

    def __init__(self, similarity: Given | str = "auto", *, spectrum: Spectrum = "krein") -> None:
        self.similarity = similarity
        self.spectrum = spectrum

    def fit(self, X: Any, y: Any, *, std: float | Sequence[float] | None = None) -> Self:
        """Learn from measured objects.

        X: the objects: a list or an array of them, rows of numbers, a data frame whose rows are records, or the matrix
            of their scores if the similarity is "precomputed".
        y: their values.
        std: the standard deviations of the measurements, one for all or one for each; None (default) if unknown.
        """
        objects, values = self._training(X, y)
        model = Model(with_fixed(self._similarities(objects, X)), FitSettings(spectra=(self.spectrum,)))
        with one_thread():
            self.committee_, selection = model.committee(_data(objects, values, std))
        self.similarities_ = self.committee_.similarities
        self._conditioned = selection.conditioned
        self._self_score = float(np.mean(np.diagonal(X))) if self._precomputed else 1.0
        return self

    def predict(self, X: Any, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """The expected value of each object.

        X: the objects, as in `fit`; if the similarity is "precomputed", their scores with the objects of `fit`.
        return_std: whether the standard deviation of the true value comes with it; False by default.
        """
        believed = self._believe(X)
        return (believed.mean, believed.std) if return_std else believed.mean

    def predict_interval(self, X: Any, level: float = 0.95, *, measurement: bool = False) -> tuple[Vector, Vector]:
        """The lower and the upper end of the central interval of each object.

        X: the objects, as in `predict`.
        level: the chance that the interval holds the value; 0.95 by default.
        measurement: whether of a new measurement, noise included, and not of the true value; False by default.
        """
        return self._believe(X, measurement=measurement).interval(level)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.string = not self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity == PRECOMPUTED

    def _believe(self, X: Any, *, measurement: bool = False) -> Prediction:
        check_is_fitted(self)
        committee = self.committee_
        with one_thread():
            if self._precomputed:
                return self._from_scores(committee, validate_data(self, X, reset=False, dtype=float), measurement)
            return committee.predict(self._objects(X, reset=False), measurement=measurement)

    def _from_scores(self, committee: Committee, scores: Matrix, measurement: bool) -> Prediction:
        """Scores with themselves are not in the matrix: they count as those of the fitted objects do on average."""
        rows = dict.fromkeys(committee.used, scores[:, self._conditioned])
        selves = dict.fromkeys(committee.used, np.full(len(scores), self._self_score))
        return committee.predict_rows(rows, selves, measurement=measurement)

    def _training(self, X: Any, y: Any) -> tuple[list[Any], Vector]:
        if self._precomputed or _is_numeric(X):
            rows, values = validate_data(self, X, y, dtype=float, y_numeric=True)
            return (list(range(len(rows))) if self._precomputed else list(rows)), np.asarray(values, dtype=float)
        objects, values = as_objects(X), np.asarray(as_objects(y), dtype=float)
        if values.shape != (len(objects),) or not np.all(np.isfinite(values)):
            raise ValueError(
                f"SimilarityRegressor needs one finite value for each of {len(objects)} objects; "
                f"y has the shape {values.shape} and {np.sum(~np.isfinite(values))} values that are not finite"
            )
        return objects, values

    def _objects(self, X: Any, *, reset: bool) -> list[Any]:
        return list(validate_data(self, X, dtype=float, reset=reset)) if _is_numeric(X) else as_objects(X)

    def _similarities(self, objects: Sequence[Any], X: Any) -> list[Similarity]:
        if self._precomputed:
            scores = np.asarray(X, dtype=float)
            if scores.shape[0] != scores.shape[1]:
                raise ValueError(f"Precomputed scores are a square matrix, not one of shape {scores.shape}")
            return [Precomputed(objects, scores)]
        named = as_similarities(cast(Given, self.similarity))
        chosen = recognise(objects).similarities if named is None else named
        return [rescaled(similarity, lambda path: span(column(objects, path))) for similarity in chosen]


def _is_numeric(X: Any) -> bool:
    """Whether objects are rows of numbers, which scikit-learn checks: matrices, and frames of numbers alone."""
    if is_frame(X):
        return all(_kind(X[name]) for name in X.columns)
    if not hasattr(X, "__len__"):
        return True
    if hasattr(X, "shape"):
        return len(X.shape) != 1 or np.asarray(X).dtype.kind in "biufc"
    return bool(len(X)) and isinstance(X[0], list | tuple | np.ndarray) and np.ndim(X[0]) == 1 and _numbers(X)


def _kind(cells: Any) -> bool:
    return np.asarray(cells).dtype.kind in "biuf"


def _numbers(rows: Any) -> bool:
    return len({len(row) for row in rows}) == 1 and np.asarray(rows).dtype.kind in "biuf"


def _data(objects: list[Any], values: Vector, std: float | Sequence[float] | None) -> Data:
    """All of it as one event, whatever the order of the rows."""
    events = np.zeros(len(values), dtype=np.intp)
    if std is None:
        return Data(objects, values, None, events=events)
    spread = np.broadcast_to(np.asarray(std, dtype=float), values.shape)
    if not np.all(np.isfinite(spread) & (spread >= 0)):
        raise LikewiseError(f"std holds standard deviations, finite and not negative, not {std!r}")
    return Data(objects, values, spread**2, events=events)
