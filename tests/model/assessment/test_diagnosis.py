"""A diagnosis is what leaving out says: it equals refitting, it is calibrated, and its verdict can be relied on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import likewise as lw
from likewise.model.committee import Committee
from likewise.model.diagnosis import DONE, Diagnosis, diagnose, unique_names, verdict, warnings
from likewise.model.evidence import AMPLITUDE_STRENGTH
from likewise.model.fit import OFFSET, FitSettings, fit, folds
from likewise.model.leave_one_out import LeaveOneOut, leave_out
from likewise.model.posterior import condition
from likewise.model.regression import regress
from likewise.model.scores import Gram, same_objects
from likewise.model.spectrum import SPECTRA, treat
from likewise.similarity.algebra import fixed
from likewise.similarity.base import Similarity
from likewise.similarity.functions import from_function
from likewise.similarity.kinds.strings import Levenshtein
from likewise.similarity.kinds.vectors import RBF, Matern

PLAIN = FitSettings(rescale=False)
CLOSE, FAR = fixed(RBF(0.3)), fixed(RBF(3.0))


def committee(similarities: list[Similarity], objects: list[float], values: np.ndarray, **options: object) -> Committee:
    return fit([Gram.of(one, objects) for one in similarities], values, settings=PLAIN, **options)  # type: ignore[arg-type]


def diagnosed(similarities: list[Similarity], objects: list[float], values: np.ndarray, sign: float = 1.0) -> Diagnosis:
    return diagnose(committee(similarities, objects, values), settings=PLAIN, sign=sign)


def smooth(n: int, seed: int = 0, noise: float = 0.05) -> tuple[list[float], np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, n)
    return x.tolist(), np.sin(7.0 * x) + noise * rng.standard_normal(n)


@pytest.mark.parametrize("replicates", [1, 2, 3])
def test_leaving_out_equals_refitting_without_the_object(replicates: int) -> None:
    objects, values = smooth(12)
    objects = objects * replicates
    values = np.concatenate([values + 0.1 * k for k in range(replicates)])
    extra = np.linspace(0.0, 0.2, len(values))
    fitted = committee([CLOSE, Matern()], objects, values, extra_noise=extra)
    groups = same_objects(objects)
    unseen = LeaveOneOut.of(fitted, groups)
    on_model = fitted.transform.forward(values)
    for k, member in enumerate(fitted.members):
        regression = member.regression
        if not regression.psd:
            continue
        whole = sum(w * one for w, one in zip(member.mix.weights, fitted.similarities, strict=True))
        alike = lw.warped(whole, member.mix.power) + from_function(lambda a, b: OFFSET, psd=True)
        for group in groups:
            others = np.setdiff1d(np.arange(len(values)), group)
            refitted = condition(
                alike,
                [objects[i] for i in others],
                on_model[others],
                regression.noise[others].tolist(),
                amplitude=regression.amplitude,
            ).predict([objects[group[0]]])
            assert unseen.means[k, group] == pytest.approx(np.repeat(refitted.mean, len(group)), abs=1e-6)
            assert unseen.latent[k, group] == pytest.approx(np.repeat(refitted.std**2, len(group)), abs=1e-6)


def test_densities_and_intervals_are_those_of_the_mixture_of_members() -> None:
    objects, values = smooth(15)
    fitted = committee([CLOSE, FAR], objects, values)
    groups = same_objects(objects)
    unseen, found = LeaveOneOut.of(fitted, groups), leave_out(fitted, groups, PLAIN)
    on_model = fitted.transform.forward(values)
    spread = np.sqrt(unseen.variances)
    density = fitted.weights @ stats.norm.pdf(on_model, unseen.means, spread)
    freedom = len(values) + AMPLITUDE_STRENGTH
    assert found.log_densities == pytest.approx(np.log(density * fitted.transform.slope(values)))
    ranks = fitted.weights @ stats.t(freedom).cdf((on_model - unseen.means) / spread)
    assert found.away == pytest.approx(np.abs(2.0 * ranks - 1.0))
    assert np.array_equal(found.inside(0.8), (ranks >= 0.1) & (ranks <= 0.9))


def test_a_perfect_similarity_explains_the_values() -> None:
    found = diagnosed([CLOSE], *smooth(40))
    assert found.committee.spearman > 0.9
    assert found.committee.explained > 0.9
    assert found.verdict.startswith("this similarity explains the values: leave-one-out correlation 0.9")


def test_shuffled_values_are_explained_by_nothing() -> None:
    explained = 0
    for seed in range(12):
        objects, values = smooth(40, seed)
        found = diagnosed([CLOSE, FAR], objects, np.random.default_rng(seed).permutation(values))
        explained += not any(words in found.verdict for words in ("better than the mean", "may be chance"))
    assert explained <= 1


def test_many_parameters_that_are_learnt_do_not_explain_noise() -> None:
    explained = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        objects, values = list(rng.random((24, 4))), rng.standard_normal(24)
        fitted = fit([Gram.of(Matern(), objects)], values, settings=PLAIN)
        explained += "no better than the mean" not in diagnose(fitted, settings=PLAIN).verdict
    assert explained <= 1


def test_without_parameters_to_learn_leaving_out_is_the_closed_form() -> None:
    objects, values = smooth(15)
    fitted = committee([CLOSE, FAR], objects, values)
    groups = same_objects(objects)
    unseen = LeaveOneOut.of(fitted, groups)
    expected = fitted.on_users_scale(unseen.means, unseen.latent).mean
    assert leave_out(fitted, groups, PLAIN).mean == pytest.approx(expected)


def test_replicates_do_not_make_a_useless_similarity_look_good() -> None:
    objects, values = smooth(30)
    shuffled = np.random.default_rng(5).permutation(values)
    found = diagnosed([CLOSE], objects * 3, np.tile(shuffled, 3))
    assert "predicts no better than the mean" in found.verdict


def test_the_useless_likeness_is_told_from_the_useful_one() -> None:
    objects, values = smooth(40)
    parity = from_function(lambda a, b: 1.0 if (a * 1e4) // 1 % 2 == (b * 1e4) // 1 % 2 else 0.5, psd=True)
    good, bad = diagnosed([CLOSE, parity], objects, values).similarities
    assert good.explained > 0.9 > 0.1 > bad.explained
    assert good.weight > 0.8
    assert good.log_density > bad.log_density


def test_intervals_hold_what_they_promise_on_draws_of_the_model() -> None:
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(12):
        objects = rng.uniform(0.0, 1.0, 50)
        cov = RBF(0.3).between(objects[:, None], objects[:, None]) + 0.05 * np.eye(50)
        found = diagnosed([CLOSE], objects.tolist(), np.linalg.cholesky(cov) @ rng.standard_normal(50))
        inside.append(found.committee.inside)
    for level, share in zip((0.5, 0.8, 0.95), np.mean(inside, axis=0), strict=True):
        assert abs(share - level) < 4.0 * np.sqrt(level * (1.0 - level) / 600.0)


def test_a_change_of_units_changes_errors_and_nothing_else() -> None:
    objects, values = smooth(25)
    one, other = diagnosed([CLOSE, FAR], objects, values), diagnosed([CLOSE, FAR], objects, 10.0 * values + 3.0)
    assert other.mean_rmse == pytest.approx(10.0 * one.mean_rmse)
    for a, b in zip((*one.similarities, one.committee), (*other.similarities, other.committee), strict=True):
        assert b.rmse == pytest.approx(10.0 * a.rmse)
        assert b.log_density == pytest.approx(a.log_density - np.log(10.0))
        assert (b.explained, b.spearman, b.weight) == pytest.approx((a.explained, a.spearman, a.weight))
        assert b.inside == a.inside


def test_the_order_of_likenesses_and_observations_does_not_matter() -> None:
    objects, values = smooth(25)
    order = np.random.default_rng(0).permutation(25)
    one = diagnosed([CLOSE, FAR], objects, values)
    other = diagnosed([FAR, CLOSE], [objects[i] for i in order], values[order])
    for a, b in zip(one.similarities, other.similarities[::-1], strict=True):
        assert (a.rmse, a.explained, a.spearman, a.log_density) == pytest.approx(
            (b.rmse, b.explained, b.spearman, b.log_density), rel=1e-6
        )


def test_outliers_are_named_on_the_users_side_of_the_sign() -> None:
    objects, values = smooth(40, noise=0.01)
    values[7] += 3.0
    (found,) = diagnosed([CLOSE], objects, -values, sign=-1.0).outliers[:1]
    assert found.object == objects[7]
    assert found.value == pytest.approx(values[7])
    assert found.expected == pytest.approx(values[7] - 3.0, abs=0.5)
    assert found.deviations > 3.5
    assert repr(objects[7]) in str(diagnosed([CLOSE], objects, values))


def test_objects_told_more_than_once_are_named_with_their_spread() -> None:
    objects, values = smooth(10)
    found = diagnosed([CLOSE], [*objects, objects[3]], np.append(values, values[3] + 1.0))
    (replicated,) = found.replicated
    assert (replicated.object, replicated.count) == (objects[3], 2)
    assert replicated.spread == pytest.approx(1.0 / np.sqrt(2.0))
    assert "told 2 times" in str(found)


def test_every_treatment_of_the_spectrum_has_a_word_in_the_table() -> None:
    assert set(DONE) == set(SPECTRA)


def test_the_negative_share_of_the_spectrum_is_reported_where_there_is_one() -> None:
    words = ["kitten", "sitting", "mitten", "knitting", "kit", "sit", "mitt", "sitter", "bitten"]
    values = np.array([float(len(word)) for word in words])
    gram = Gram.of(Levenshtein(), words)
    levels = np.linalg.eigvalsh(gram.scores)
    found = diagnose(fit([gram], values, settings=PLAIN), settings=PLAIN).committee
    assert found.negative == pytest.approx(-levels[levels < 0].sum() / np.abs(levels).sum())
    assert found.treatment == "krein"
    assert diagnosed([CLOSE], *smooth(10)).committee.negative == 0.0


@pytest.mark.parametrize(
    ("values", "words"),
    [([1.0, 2.0, 3.0], "3 observations are too few to say"), ([2.0] * 9, "all values are equal")],
)
def test_nothing_is_claimed_where_nothing_can_be_said(values: list[float], words: str) -> None:
    found = diagnosed([CLOSE], [0.1 * i for i in range(len(values))], np.array(values))
    assert words in found.verdict
    assert words in str(found)


def test_one_observation_is_too_few_and_no_error() -> None:
    found = diagnosed([CLOSE], [0.5], np.array([1.0]))
    assert "too few" in found.verdict
    json.dumps(found.to_json(), allow_nan=False)


def test_narrow_intervals_are_a_warning_where_chance_cannot_explain_them() -> None:
    assert "60 % of the values lie within their 95 % intervals" in warnings((0.5, 0.8, 0.6), 40)[0]
    assert warnings((0.5, 0.8, 0.9), 40) == warnings((0.5, 0.8, 0.6), 5) == ()
    assert warnings((0.2, 0.8, 0.95), 40) == (
        "intervals are too narrow: 20 % of the values lie within their 50 % intervals",
    )
    assert warnings((0.8, 0.9, 1.0), 40) == (
        "intervals are too wide: 80 % of the values lie within their 50 % intervals",
    )


def test_the_verdict_does_not_deny_what_its_table_shows() -> None:
    # RMSE 0.33 against 0.42 of the mean: better, whatever the ranks say.
    text = verdict(0.1, 1.0 - (0.33 / 0.42) ** 2, 2, 12)
    assert "than the mean" not in text
    assert "38 % of the variance" in text
    assert "may be chance" in text
    rng = np.random.default_rng(2)
    for seed in range(20):
        objects, values = smooth(12, seed, noise=float(rng.uniform(0.0, 2.0)))
        found = diagnosed([CLOSE, FAR], objects, values)
        better = any(row.rmse < found.mean_rmse for row in (found.committee, *found.similarities))
        assert not (better and "than the mean" in found.verdict)


def test_a_verdict_says_nothing_of_how_suggestions_are_picked() -> None:
    # Every pick may share the best ligand, however little the values are explained.
    texts = [verdict(r, e, k, n) for r in (np.nan, 0.1, 0.9) for e in (-1.0, 0.1, 0.9) for k in (1, 2) for n in (9, 40)]
    assert not any("random" in text or "explor" in text for text in texts)


def test_an_indefinite_similarity_is_judged_with_its_treatment_made_anew() -> None:
    """What the closed form says is too good: the treated matrix has seen what is left out."""
    rng = np.random.default_rng(5)
    points = rng.uniform(0.0, 1.0, (40, 2))
    near = from_function(lambda i, j: float(np.linalg.norm(points[i] - points[j]) < 0.3))
    fitted = fit([Gram.of(near, list(range(40)))], rng.standard_normal(40), settings=PLAIN)
    groups = same_objects(fitted.objects)
    outs = folds(fitted.targets, groups)
    unseen = LeaveOneOut.of(fitted, groups, outs)
    for member, means, latent in zip(fitted.members, unseen.means, unseen.latent, strict=True):
        scores = member.mix.scores([fitted.grams[0].scores])
        regression = member.regression
        for out in outs[:3]:
            kept = np.setdiff1d(np.arange(40), out)
            others = regress(
                treat(scores[np.ix_(kept, kept)], doubt=regression.treatment.doubt),
                regression.values[kept],
                regression.noise[kept],
                regression.amplitude,
            )
            assert means[out] == pytest.approx(others.mean(scores[np.ix_(out, kept)]))
            variance = others.variance(scores[np.ix_(out, kept)], np.diag(scores)[out])
            assert latent[out] == pytest.approx(regression.inflation * variance)


def test_the_folds_keep_replicates_together() -> None:
    groups = same_objects(list("abcabcabcdefghijklmno"))
    outs = folds(np.arange(21.0), groups)
    assert np.array_equal(np.sort(np.concatenate(outs)), np.arange(21))
    assert all(sum(np.isin(group, out).any() for out in outs) == 1 for group in groups)


def test_the_verdict_grows_with_the_evidence() -> None:
    texts = [verdict(r, e, 2, 40) for r, e in ((0.1, -0.1), (0.4, 0.16), (0.8, 0.64))]
    assert [text.split(" ")[0] for text in texts] == ["none", "these", "these"]
    assert "a little" in texts[1]
    assert "a little" not in texts[2]
    assert "may be chance" in verdict(0.4, 0.16, 2, 9)
    assert "no better than the mean" in verdict(float("nan"), -0.1, 1, 40)


def test_it_prints_as_an_aligned_table_and_writes_itself_as_json() -> None:
    objects, values = smooth(20)
    found = diagnosed([CLOSE, fixed(RBF(3.0)), Matern()], objects, values)
    head, *rows = str(found).splitlines()[-6:]
    assert [row.split("  ")[0] for row in rows] == ["fixed RBF", "fixed RBF (2)", "Matern5/2", "committee", "the mean"]
    columns = head.index("RMSE") + len("RMSE")
    assert all(row[columns - 1].isdigit() and row[columns : columns + 1] in ("", " ") for row in rows)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["verdict"] == found.verdict
    assert [row["name"] for row in data["similarities"]] == [row.name for row in found.similarities]


def test_names_are_told_apart() -> None:
    assert unique_names(["a", "a", "b", "a"]) == ["a", "a (2)", "b", "a (3)"]
