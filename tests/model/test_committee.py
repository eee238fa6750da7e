"""A committee weighs its members by evidence, predicts their mixture, and explains itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.model.evidence import misfit_share
from likewise.model.fit import LEAST_SHARE, FitSettings, fit, recondition
from likewise.model.scores import Gram, ObjectScores
from likewise.model.transforms import Ranked, Standardised, Tamed, YeoJohnson
from likewise.similarity.algebra import Mix


def words(t, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abcd"), 6)) for _ in range(t)]


def share(a, b):
    """An indefinite similarity of strings, from their letters."""
    common = len(set(a) & set(b)) / max(len(set(a) | set(b)), 1)
    return 0.5 * common + 0.5 * sum(x == y for x, y in zip(a, b, strict=True)) / len(a)


def problem(t=15, seed=0):
    objects = words(t, seed)
    values = np.array([sum(c == "a" for c in w) + 0.3 * (w[0] == "b") for w in objects], dtype=float)
    similarities = [lw.from_function(share), lw.from_function(lambda a, b: 1.0 if a[0] == b[0] else 0.2)]
    return [Gram.of(s, objects) for s in similarities], objects, values


def test_weights_are_shares_and_small_members_are_left_out():
    grams, _, values = problem()
    committee = fit(grams, values)
    np.testing.assert_allclose(committee.weights.sum(), 1.0)
    assert len(committee.members) > 1
    assert committee.weights.min() >= LEAST_SHARE
    np.testing.assert_allclose(committee.similarity_weights().sum(), 1.0)


@pytest.mark.parametrize("transform", [Standardised, Ranked, YeoJohnson, Tamed])
def test_influences_times_values_sum_to_the_mean(transform):
    grams, _, values = problem()
    committee = fit(grams, values, transform=transform.of(values))
    new = words(10, seed=5)
    influence = committee.influence(new)
    encodings = committee.encode(new)
    mixture = committee.mixture(*committee.moments(committee.rows(encodings), committee.selves(encodings)))
    np.testing.assert_allclose(influence @ committee.transform.forward(values), mixture.mean, atol=1e-6)


@pytest.mark.parametrize("waiting", [[], words(2, seed=9)])
def test_an_explanation_is_prediction_and_influence(waiting):
    grams, _, values = problem()
    committee = fit(grams, values).with_pending(waiting)
    new = words(5, seed=7)
    prediction, influence = committee.explain(ObjectScores(new))
    np.testing.assert_array_equal(prediction, committee.predict(new))
    np.testing.assert_array_equal(influence, committee.influence(new))


def test_what_comes_to_be_in_flight_bit_by_bit_is_in_flight_together_and_compared_once():
    grams, _, values = problem()
    compared = []
    told = lw.from_function(lambda a, b: (compared.append((a, b)), share(a, b))[1])
    committee = fit([Gram.of(told, grams[0].objects), grams[1]], values)
    flying, new = words(4, seed=9), words(5, seed=7)
    together = committee.with_pending(flying)
    compared.clear()
    grown = committee
    for x in flying:
        grown = grown.with_pending([x])
    # Each with the observed objects, those before it and itself.
    assert len(compared) <= sum(len(committee) + i + 1 for i in range(len(flying)))
    np.testing.assert_allclose(grown.pending_means(), together.pending_means(), atol=1e-12)
    np.testing.assert_allclose(grown.predict(new), together.predict(new), atol=1e-9)
    np.testing.assert_array_equal(grown.without_pending().predict(new), committee.predict(new))


def test_the_mixture_is_that_of_the_members_posteriors():
    grams, _, values = problem()
    committee = fit(grams, values, transform=Standardised.of(values))
    new = words(6, seed=8)
    encodings = committee.encode(new)
    rows, selves = committee.rows(encodings), committee.selves(encodings)
    means = np.array([m.regression.mean(m.mix.scores(rows)) for m in committee.members])
    variances = np.array([m.regression.variance(m.mix.scores(rows), m.mix.scores(selves)) for m in committee.members])
    mean = committee.weights @ means
    # Of what members take for noise, the more there is, the larger a share counts as the object's own.
    noises = np.array([m.ratio * m.regression.amplitude for m in committee.members])[:, None]
    std = np.sqrt(committee.weights @ (variances + misfit_share(noises) * noises + means**2) - mean**2)
    prediction = committee.predict(new)
    np.testing.assert_allclose(prediction.mean, committee.transform.backward(mean), atol=1e-9)
    np.testing.assert_allclose(prediction.std, committee.transform.scale * std, atol=1e-9)


def test_a_useless_likeness_gets_little_weight():
    rng = np.random.default_rng(2)
    x = [tuple(v) for v in rng.random((40, 1))]
    y = np.sin(7 * np.array(x)[:, 0])
    noise = rng.random((40, 40))
    useless = lw.Precomputed(x, 0.5 * (noise + noise.T) * (1 - np.eye(40)) + np.eye(40))
    committee = fit([Gram.of(lw.RBF(0.3), x), Gram.of(useless, x)], y)
    assert committee.similarity_weights()[0] > 0.8


def test_scaling_a_likeness_changes_nothing():
    grams, objects, values = problem()
    scaled = [Gram.of(3.0 * gram.similarity, objects) for gram in grams]
    new = words(6, seed=8)
    one, other = fit(grams, values).predict(new), fit(scaled, values).predict(new)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-6)


@given(st.floats(0.1, 100.0), st.floats(-50.0, 50.0))
@settings(max_examples=10, deadline=None)
def test_predictions_move_with_the_unit_of_the_values(scale, shift):
    grams, _, values = problem()
    new = words(6, seed=8)
    one, other = fit(grams, values).predict(new), fit(grams, shift + scale * values).predict(new)
    np.testing.assert_allclose(other.mean, shift + scale * one.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.std, scale * one.std, rtol=1e-6)


def test_reseating_on_the_same_data_changes_nothing_and_on_more_data_conditions():
    grams, objects, values = problem(t=12)
    committee = fit([Gram.of(g.similarity, objects[:10]) for g in grams], values[:10])
    new = words(5, seed=9)
    same = recondition(committee, committee.grams, values[:10])
    np.testing.assert_allclose(same.predict(new).mean, committee.predict(new).mean, atol=1e-9)
    more = recondition(committee, [g.grow(objects[10:]) for g in committee.grams], values)
    assert len(more) == 12
    at_known = more.predict(objects[10:])
    before = committee.predict(objects[10:])
    assert np.abs(at_known.mean - values[10:]).sum() < np.abs(before.mean - values[10:]).sum()


def test_one_criterion_for_all_when_a_member_has_no_marginal_likelihood():
    grams, _, values = problem()
    committee = fit(grams, values, settings=FitSettings(spectra=("clip", "as_is")))
    kinds = {m.regression.treatment.kind for m in committee.members}
    assert kinds <= {"clip", "as_is"}
    np.testing.assert_allclose(committee.weights.sum(), 1.0)


def test_known_noise_of_one_observation_lowers_its_influence():
    x = [(0.0,), (0.05,), (1.0,)]
    y = np.array([1.0, -1.0, 0.0])
    gram = Gram.of(lw.RBF(0.5), x)
    extra = np.array([0.0, 4.0, 0.0])
    blind, told = fit([gram], y), fit([gram], y, extra)
    at = [(0.02,)]
    assert told.predict(at).mean[0] > blind.predict(at).mean[0]


@pytest.mark.parametrize("t", [1, 2, 3])
def test_few_observations_are_no_trouble(t):
    grams, objects, values = problem(t=5)
    committee = fit([Gram.of(g.similarity, objects[:t]) for g in grams], values[:t])
    prediction = committee.predict(words(4, seed=1))
    assert np.isfinite(prediction.mean).all()
    assert np.isfinite(prediction.std).all()
    assert (prediction.std > 0).all()


def test_constant_values_are_no_trouble():
    grams, _, values = problem()
    prediction = fit(grams, np.full(len(values), 7.0)).predict(words(4, seed=1))
    np.testing.assert_allclose(prediction.mean, 7.0, atol=1e-6)


def test_a_mix_of_scores_is_the_same_combination_of_similarities():
    a, b = lw.RBF(0.5), lw.Matern(0.7)
    x, mix = np.random.default_rng(0).random((5, 2)), Mix((0.3, 0.7), 1.5)
    combined = lw.warped(0.3 * a + 0.7 * b, 1.5)
    scores = [a.between(x, x), b.between(x, x)]
    np.testing.assert_allclose(mix.scores(scores), (0.3 * scores[0] + 0.7 * scores[1]) ** 1.5)
    np.testing.assert_allclose(combined.between(combined.encode(x), combined.encode(x)), mix.scores(scores))
    assert mix.psd([a, b]) is combined.psd is False


def test_heavy_tails_are_bent_and_plain_values_are_not():
    rng = np.random.default_rng(0)
    x = [tuple(v) for v in rng.random((40, 1))]
    smooth = np.sin(6 * np.array(x)[:, 0])
    gram = Gram.of(lw.RBF(0.3), x)
    assert isinstance(fit([gram], smooth).transform, Standardised)
    assert not isinstance(fit([gram], np.exp(4 * smooth)).transform, Standardised)


def test_replicates_tell_how_noisy_the_measurements_are():
    rng = np.random.default_rng(1)
    x = [(v,) for v in np.repeat(np.linspace(0.0, 1.0, 8), 4).tolist()]
    y = np.sin(6 * np.array(x)[:, 0]) + 0.3 * rng.standard_normal(len(x))
    committee = fit([Gram.of(lw.Precomputed(*unique(x)), x)], y, transform=Standardised.of(y))
    noise = sum(m.weight * m.regression.noise.mean() for m in committee.members)
    np.testing.assert_allclose(np.sqrt(noise) * y.std(), 0.3, rtol=0.3)


def unique(x):
    """Distinct objects and their similarity, one without parameters, so that the noise has to come from the grid."""
    objects = sorted(set(x))
    values = np.array(objects)
    return objects, np.exp(-((values - values.T) ** 2) / 0.08)


def test_one_object_measured_often_has_no_fold_to_be_judged_by():
    words_twice = ["abc"] * 5
    gram = Gram.of(lw.from_function(lambda a, b: 1.0), words_twice)
    assert fit([gram], np.array([1.0, 2.0, 1.5, 0.5, 1.0])).members[0].regression.inflation == 1.0
