"""likewise inside scikit-learn: its own checks of estimators, and its tools on objects that are no vectors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import polars
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import likewise as lw
from likewise.integrations.sklearn import SimilarityRegressor

WORDS = [a + b + c + d for a in "ACGT" for b in "ACG" for c in "AT" for d in "CGT"]
VALUES = np.array([word.count("C") + 0.5 * word.count("A") for word in WORDS])


@parametrize_with_checks([SimilarityRegressor(), SimilarityRegressor(lw.Matern())])
def test_conforms(estimator: Any, check: Any) -> None:
    check(estimator)


def test_words_are_predicted_by_cross_validation() -> None:
    folds = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(SimilarityRegressor(), WORDS, VALUES, cv=folds, scoring="r2")
    assert scores.min() > 0.8


def test_a_grid_of_similarities() -> None:
    ends = lw.from_function(lambda a, b: float(a[-1] == b[-1]))
    grid = GridSearchCV(SimilarityRegressor(), {"similarity": [ends, lw.Hamming()]}, cv=3).fit(WORDS, VALUES)
    assert isinstance(grid.best_params_["similarity"], lw.Hamming)


def test_pipelines_take_vectors_and_objects() -> None:
    x = np.random.default_rng(0).random((40, 2))
    y = np.sin(4 * x[:, 0]) + x[:, 1]
    vectors = make_pipeline(StandardScaler(), SimilarityRegressor()).fit(x[:30], y[:30])
    assert vectors.score(x[30:], y[30:]) > 0.9
    lower = FunctionTransformer(lambda words: [word.lower() for word in words])
    assert make_pipeline(lower, SimilarityRegressor(lw.Hamming())).fit(WORDS, VALUES).score(WORDS, VALUES) > 0.9


def test_precomputed_scores_say_what_the_similarity_says() -> None:
    half = len(WORDS) // 2
    similarity = lw.Levenshtein()
    matrix = np.array([[similarity(a, b) for b in WORDS] for a in WORDS])
    of_words = SimilarityRegressor(similarity).fit(WORDS[:half], VALUES[:half])
    of_scores = SimilarityRegressor("precomputed").fit(matrix[:half, :half], VALUES[:half])
    for one, other in zip(
        of_words.predict(WORDS[half:], return_std=True),
        of_scores.predict(matrix[half:, :half], return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    # scikit-learn takes rows and columns of a pairwise matrix when it leaves out.
    np.testing.assert_allclose(
        cross_val_predict(SimilarityRegressor("precomputed"), matrix, VALUES, cv=3),
        cross_val_predict(SimilarityRegressor(similarity), WORDS, VALUES, cv=3),
        rtol=1e-6,
    )


def test_frames_are_records_and_numbers_are_vectors() -> None:
    frame = polars.DataFrame({"T": [20.0, 40.0, 60.0, 80.0] * 4, "base": ["KOAc", "KOPiv"] * 8})
    y = [t / 10 + (base == "KOAc") for t, base in frame.iter_rows()]
    fitted = SimilarityRegressor().fit(frame, y)
    np.testing.assert_allclose(fitted.predict(frame), y, atol=0.5)
    assert SimilarityRegressor().fit(frame.select("T"), y).n_features_in_ == 1


def test_intervals_hold_and_those_of_measurements_are_wider() -> None:
    rng = np.random.default_rng(1)
    x = rng.random((60, 1))
    truth = np.sin(6 * x[:, 0])
    fitted = SimilarityRegressor().fit(x[:40], truth[:40] + 0.2 * rng.normal(size=40))
    low, high = fitted.predict_interval(x[40:])
    assert np.mean((low <= truth[40:]) & (truth[40:] <= high)) >= 0.8
    wide = fitted.predict_interval(x[40:], measurement=True)
    assert np.all(wide[1] - wide[0] > high - low)


def test_it_is_pickled_and_says_the_same() -> None:
    fitted = SimilarityRegressor(lw.Hamming()).fit(WORDS, VALUES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(WORDS), fitted.predict(WORDS))


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="one finite value for each of 3 objects"):
        SimilarityRegressor().fit(["AC", "AG", "AT"], [1.0, 2.0])
    with pytest.raises(ValueError, match="square matrix"):
        SimilarityRegressor("precomputed").fit(np.ones((3, 2)), [1.0, 2.0, 3.0])
    with pytest.raises(lw.LikewiseError, match="standard deviations"):
        SimilarityRegressor(lw.Hamming()).fit(["AC", "AG", "AT"], [1.0, 2.0, 3.0], std=-1.0)
