"""Branches: one branch is compared by its parts, two by the branches alone; laws, gradients, files of encodings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import SimilarityError
from likewise.similarity.algebra import warped
from likewise.similarity.auto import recognise
from likewise.similarity.base import is_differentiable
from likewise.similarity.encoding import count_rows, join, plain, read, storable, take, write
from likewise.similarity.kinds.strings import Hamming, Levenshtein
from likewise.similarity.kinds.vectors import RBF, Matern
from likewise.similarity.records import Branches, Parts
from likewise.testing.similarities import check_similarity

OBJECTS: list[Any] = [
    {"svm": {"C": 0.3, "kernel": "rbf"}},
    {"text": "ACGT"},
    {"svm": {"C": 0.9, "kernel": "lin"}},
    {"at": [0.1, 0.7]},
    {"text": "AGGT"},
    {"at": [0.4, 0.2]},
    {"svm": {"C": 0.5, "kernel": "rbf"}},
    {"at": [0.9, 0.3]},
]
svm = Parts("product", [1.0, 2.0], C=RBF(0.5), kernel=Hamming())
branches = Branches([0.3, 0.6, 0.5], svm=svm, text=Hamming(), at=Matern(0.7))
VALUES = np.array([0.1, 3.0, -0.1, 0.7, -2.0, -0.9, 0.0, 0.4])
spread = branches.with_spread(branches.encode(OBJECTS), VALUES)


@pytest.mark.parametrize(
    "similarity",
    [
        branches,
        spread,
        branches.along({"svm": 0, "at": 2}),
        spread.along({"svm": 0, "at": 2}),
        2.0 * warped(branches, 3),
        Branches(svm=Branches(C=RBF()), text=Levenshtein()),
    ],
)
def test_branches_keep_the_laws(similarity: Any) -> None:
    nested = [{"svm": {"C": c}} for c in (0.1, 0.4, 0.9)] + [{"text": t} for t in ("a", "ab", "b")]
    objects = nested if isinstance(similarity, Branches) and len(similarity.parts) == 2 else OBJECTS
    wrong = [7, {"other": 1}, {"svm": 1, "text": "A"}, {}]
    if is_differentiable(similarity):
        check_similarity(branches, objects, wrong=wrong)
        _check_gradient(similarity)
    else:
        check_similarity(similarity, objects, wrong=wrong)


def _check_gradient(similarity: Any) -> None:
    """The gradient in the numbers of the branch `at`, and zeros for objects of other branches."""
    a, rng, step = similarity.encode(OBJECTS), np.random.default_rng(0), 1e-6
    scores, pull = similarity.linearise(a, a)
    weights = rng.normal(size=scores.shape)
    gradient = pull(weights)
    assert gradient.shape == (len(OBJECTS), 2)
    for i, x in enumerate(OBJECTS):
        if "at" not in x:
            assert not gradient[i].any()
            continue
        for k in range(2):
            ends = []
            for sign in (-step, step):
                moved = list(x["at"])
                moved[k] += sign
                rows = similarity.between(similarity.encode([{"at": moved}]), a)[0]
                ends.append(weights[i] @ rows)
            assert np.isclose(gradient[i, k], (ends[1] - ends[0]) / (2 * step), rtol=1e-4, atol=1e-7)


def test_different_branches_are_compared_by_the_branches_alone() -> None:
    scores = {branches(x, y) for x in OBJECTS for y in OBJECTS if "svm" in x and "text" in y}
    assert len(scores) == 1
    assert np.isclose(scores.pop(), np.sqrt(0.3 * 0.6))
    assert branches(OBJECTS[0], OBJECTS[0]) == 1.0


def test_what_lies_far_apart_in_a_branch_is_no_less_alike_than_what_is_of_another() -> None:
    """So the scores are PSD, whatever the branches' own."""
    far = branches({"at": [0.0, 0.0]}, {"at": [1e3, 0.0]})
    assert np.isclose(far, 0.5)


def test_groups_are_taken_joined_and_filed(tmp_path: Path) -> None:
    numeric = Branches(at=RBF(), to=RBF())
    objects = [{"at": [0.1]}, {"to": [0.2]}, {"at": [0.3]}, {"to": [0.4]}]
    whole = numeric.encode(objects)
    scores = numeric.between(whole, whole)
    for index in (np.array([3, 0, 0]), np.array([2]), slice(1, 3), np.array([], dtype=int)):
        some = take(whole, index)
        assert count_rows(some) == len(scores[index])
        assert np.allclose(numeric.between(some, whole), scores[index])
    only = join([take(whole, np.array([0])), take(whole, np.array([2, 1]))])
    assert np.allclose(numeric.between(only, whole), scores[[0, 2, 1]])
    for part in (whole, take(whole, np.array([0, 2])), plain(whole)):
        assert storable(part)
        back = read(write(part, tmp_path, "x"), tmp_path)
        assert np.array_equal(numeric.between(back, whole), numeric.between(part, whole))


def test_a_pool_of_branches_is_recognised_by_its_objects() -> None:
    found = recognise([{"svm": {"C": float(c)}} for c in range(1, 6)] + [{"forest": {"depth": d}} for d in range(3)])
    assert found.kind == "branches"
    assert "svm (records), forest (records)" in found.why


def test_a_share_is_between_0_and_1() -> None:
    for wrong in (0.0, 1.0, [0.5], float("nan")):
        with pytest.raises(SimilarityError, match="between 0 and 1"):
            Branches(wrong, a=RBF(), b=RBF())


def test_a_branch_that_varies_more_has_larger_scores_and_the_same_likeness() -> None:
    a = branches.encode(OBJECTS)
    v = np.sqrt(spread.within(a) / branches.within(a))
    assert v[1] > 2.0 * v[3] > 3.0 * v[0]
    np.testing.assert_allclose(spread.between(a, a), np.outer(v, v) * branches.between(a, a))


def test_branches_within_a_branch_have_spreads_of_their_own() -> None:
    nested = Branches(model=Branches(svm=RBF(1.0), forest=RBF(1.0)), none=RBF(1.0))
    objects = [{"model": {name: float(i)}} for i, name in enumerate(["svm", "forest"] * 4)]
    found = nested.with_spread(nested.encode(objects), np.array([5.0, 0.0, -5.0, 0.1, 4.0, 0.0, -4.0, 0.1]))
    wild, quiet = found.within(found.encode([{"model": {"svm": 0.0}}, {"model": {"forest": 0.0}}]))
    assert wild > 2.0 * quiet
    # A product raises scores to powers.
    assert not Parts(a=nested).branched
    assert Parts("sum", a=nested).branched
    assert not RBF(1.0).branched
