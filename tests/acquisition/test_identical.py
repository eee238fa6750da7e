"""What no similarity can tell from a measured object is not new, unless there is noise to average out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.scorer import Scorer, noise_of
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram

POINTS = [(a, b) for a in range(4) for b in range(4)]


def committee(similarities: list[Any], objects: list[Any], values: Any, ratio: float) -> Any:
    grams = [Gram.of(similarity, objects) for similarity in similarities]
    return fit(grams, np.asarray(values, dtype=float), settings=FitSettings(ratios=(ratio,), learn=False))


def first_alone() -> Any:
    return lw.from_function(lambda x, y: float(np.exp(-((x[0] - y[0]) ** 2))), psd=True)


def both() -> Any:
    return lw.from_function(lambda x, y: float(np.exp(-((x[0] - y[0]) ** 2) - (x[1] - y[1]) ** 2)), psd=True)


@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_identical_is_identical_to_all_similarities_in_use(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = [POINTS[i] for i in rng.choice(16, size=5, replace=False)]
    one = committee([first_alone()], known, rng.normal(size=5), 1e-6)
    assert one.noiseless
    encodings = one.encode(POINTS)
    found = one.identical(one.rows(encodings), one.selves(encodings))
    assert found.tolist() == [any(x[0] == y[0] for y in known) for x in POINTS]
    flying = one.with_pending(POINTS[:1])
    found = flying.identical(flying.rows(encodings), flying.selves(encodings))
    assert found.tolist() == [any(x[0] == y[0] for y in [*known, POINTS[0]]) for x in POINTS]


@pytest.mark.parametrize("acquisition", [lw.LogExpectedImprovement(), lw.UpperConfidence()])
def test_without_noise_twins_have_no_worth_and_with_noise_they_have(acquisition: Any) -> None:
    known, values = [(0, 0), (1, 0), (2, 0)], [0.0, 1.0, 3.0]
    certain = Scorer.on(committee([first_alone()], known, values, 1e-6), acquisition).score(POINTS)
    assert np.array_equal(np.isneginf(certain), [x[0] < 3 for x in POINTS])
    noisy = Scorer.on(committee([first_alone()], known, values, 0.1), acquisition).score(POINTS)
    assert np.isfinite(noisy).all()


def test_one_similarity_that_tells_them_apart_is_enough() -> None:
    made = committee([both()], [(0, 0), (1, 0), (2, 0)], [0.0, 1.0, 3.0], 1e-6)
    found = Scorer.on(made, lw.LogExpectedImprovement()).score(POINTS)
    assert np.array_equal(np.isneginf(found), [x[1] == 0 and x[0] < 3 for x in POINTS])


def turned(tour: Any) -> tuple[int, ...]:
    """The name that all rotations and reversals of a tour share."""
    p = [int(i) for i in tour]
    p = p[p.index(0) :] + p[: p.index(0)]
    return min(tuple(p), (p[0], *p[:0:-1]))


def test_rotations_and_reversals_of_a_tour_are_not_asked_for() -> None:
    """27 of 50 asks were tours that had been measured under another name."""
    places = np.random.default_rng(0).random((7, 2))
    study = lw.Study(lw.Permutations(7), lw.Tours(), direction="minimize")
    seen, again = set(), 0
    for _ in range(25):
        (s,) = study.ask()
        again += turned(s.object) in seen
        seen.add(turned(s.object))
        study.tell(
            s, float(np.linalg.norm(places[list(s.object)] - np.roll(places[list(s.object)], 1, 0), axis=1).sum())
        )
    assert again <= 1


def test_twins_in_a_pool_come_last_but_come() -> None:
    pool = lw.Pool([(a, b) for a in range(16) for b in range(2)])
    smooth = lw.from_function(lambda x, y: float(np.exp(-((x[0] - y[0]) ** 2) / 18)), psd=True)
    study = lw.Study(pool, smooth, seed=0)
    study.tell_many([((a, 0), float(np.sin(a / 3))) for a in range(14)])
    assert study.committee().noiseless
    assert {x[0] for x in (s.object for s in study.ask(2))} == {14, 15}
    assert len(study.ask(99)) == 32 - 14 - 2


def smooth_scorer() -> Scorer:
    """A model that knows f = −x² on [−1, 1] from points on both sides, far more closely than it needs to."""
    known = [[x] for x in (-1.0, -0.7, -0.45, -0.2, 0.15, 0.4, 0.7, 1.0)]
    made = committee([lw.RBF(1.0)], known, [-(x[0] ** 2) for x in known], 1e-6)
    return Scorer.on(made, lw.LogExpectedImprovement())


def test_what_is_known_as_no_improvement_has_no_worth_and_what_improves_or_is_unknown_has() -> None:
    made = smooth_scorer()
    inside, top, outside = [[-0.85], [-0.55], [0.55], [0.85]], [[0.0]], [[3.0], [-2.5]]
    assert np.isneginf(made.score(inside)).all()
    assert np.isfinite(made.score(top + outside)).all()
    assert np.isneginf(made.with_pending(top).score([[0.003]])).all()


@given(seed=st.integers(0, 1000), ratio=st.sampled_from([1e-3, 1e-2, 0.1]))
@settings(max_examples=20, deadline=None)
def test_what_noise_cannot_tell_from_an_object_in_flight_has_no_worth(seed: int, ratio: float) -> None:
    rng = np.random.default_rng(seed)
    known = rng.random((12, 2)).tolist()
    values = [np.sin(4 * x) + y + np.sqrt(ratio) * rng.normal() for x, y in known]
    scorer = Scorer.on(committee([lw.RBF(0.5)], known, values, ratio), lw.LogExpectedImprovement())
    anywhere = rng.random((50, 2)).tolist()
    assert np.isfinite(scorer.score(anywhere)).all()
    pick = anywhere[int(np.argmax(scorer.score(anywhere)))]
    near = [[pick[0] + step, pick[1]] for step in (1e-4, -1e-4)]
    flying = scorer.with_pending([pick])
    assert np.isneginf(flying.score(near)).all()
    # Where there is noise, a twin, which nothing that is compared tells from it, may differ all the same.
    assert np.isneginf(flying.score([pick]))[0] == flying.committee.noiseless
    # What is less certain than a tenth of the noise's standard deviation, to all members, keeps its worth.
    made = flying.committee
    encodings = made.encode(anywhere)
    variances = made.moments(made.rows(encodings), made.selves(encodings))[1]
    doubtful = (variances > 0.01 * noise_of(made)).all(axis=0)
    assert np.isfinite(flying.score(anywhere)[doubtful]).all()


def test_a_noisy_batch_of_a_record_does_not_crowd_at_one_place() -> None:
    """Eight times DMF at 70 °C in all but the same concentration: ten pairs in four batches."""
    space = lw.Record(solvent=["DMF", "THF", "water", "toluene"], T=lw.Float(20, 120), c=lw.Float(0.01, 1, log=True))
    gain, rng = {"DMF": 40, "THF": 20, "water": 0, "toluene": 10}, np.random.default_rng(2)
    study, close = lw.Study(space, seed=2), 0
    for _ in range(3):
        asked = study.ask(8)
        places = space.to_vector([s.object for s in asked])
        names = [s.object["solvent"] for s in asked]
        for i, j in combinations(range(8), 2):
            close += names[i] == names[j] and float(np.abs(places[i] - places[j]).max()) < 0.02
        for s in asked:
            x = s.object
            mean = gain[x["solvent"]] - 5 * ((x["T"] - 70) / 20) ** 2 - 3 * (np.log10(x["c"]) + 1) ** 2
            study.tell(s, mean + float(rng.normal()))
    assert close == 0


def test_where_nothing_is_worth_anything_the_least_known_is_asked_for() -> None:
    known = [[x] for x in np.linspace(-1.0, 1.0, 9)]
    pool = lw.Pool([*known, [0.3], [1.02], [1.05]])
    study = lw.Study(pool, lw.RBF(1.0), seed=0)
    study.tell_many([(x, -(x[0] ** 2)) for x in known])
    made = Scorer.on(study.committee(), lw.LogExpectedImprovement())
    assert np.isneginf(made.score([[0.3], [1.02], [1.05]])).all()
    assert study.ask()[0].object == [1.05]
    assert len(study.ask(9)) == 2


def test_another_value_of_a_part_that_does_not_matter_is_not_new() -> None:
    """Each model reads one number. Ten of the last eleven asks were the best depth with another C."""
    space = lw.Record(model=["svm", "rf"], C=lw.Float(1e-2, 1e2, log=True), depth=lw.Int(1, 12))

    def accuracy(x: Any) -> float:
        if x["model"] == "svm":
            return 0.85 - 0.02 * (np.log10(x["C"]) - 0.7) ** 2
        return 0.9 - 0.004 * (x["depth"] - 6) ** 2

    study, found = lw.Study(space, seed=1), list[float]()
    for _ in range(28):
        (s,) = study.ask()
        found.append(accuracy(s.object))
        study.tell(s, found[-1])
    assert max(found[:12]) == 0.9
    assert sum(value == 0.9 for value in found[-11:]) <= 4
