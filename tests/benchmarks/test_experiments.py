"""The experiments: kernels with their gradients, baselines that optimise, runs that can be stopped, verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.experiments.judgement import Judgement
from benchmarks.experiments.methods import method
from benchmarks.experiments.mmd import MMDKernel
from benchmarks.experiments.page import OPPONENTS, order, sure
from benchmarks.experiments.plan import EXPERIMENTS, RESULTS, Experiment, run_missing
from benchmarks.experiments.tasks import HIGH, task
from benchmarks.measures import Measures
from benchmarks.store import results_of
from benchmarks.tasks.expectation import expectation
from benchmarks.tasks.families import DECAY, FREQUENCY, SPACES, WIDTH, family
from benchmarks.tasks.functions import FUNCTIONS

import likewise as lw
from likewise.testing.similarities import check_similarity

GAUSSIANS = lw.Gaussians(mean=(-2, 2), variance=(0.1, 2.0), dimension=2)


def test_the_kernel_by_mean_discrepancy_obeys_the_laws_of_similarities() -> None:
    check_similarity(
        MMDKernel(0.3, lw.GaussianEmbedding(1.0)),
        GAUSSIANS.sample(8, np.random.default_rng(0)),
        perturb=lambda x, v: lw.Gaussian(x.mean + v[:2], x.variance + v[2:]),
    )


def test_the_kernel_by_mean_discrepancy_settles_its_scale() -> None:
    kernel = MMDKernel()
    settled = kernel.fitted(kernel.encode(GAUSSIANS.sample(9, np.random.default_rng(1))))
    assert isinstance(settled, MMDKernel)
    assert settled.theta is not None
    assert settled.embedding.lengthscale is not None
    assert settled.fitted(kernel.encode(GAUSSIANS.sample(3, np.random.default_rng(2)))) == settled


def test_a_judgement_is_yes_or_no_and_not_transitive() -> None:
    pytest.importorskip("rdkit")
    alike = Judgement(0.3)
    molecules = ["CCO", "CCCO", "CCCCO", "CCC", "CCN", "CCCC", "c1ccccc1O"]
    encoded = alike.encode(molecules)
    scores = alike.between(encoded, encoded)
    assert set(np.unique(scores)) == {0.0, 1.0}
    assert np.array_equal(scores, scores.T)
    assert np.linalg.eigvalsh(scores)[0] < -1e-6


def test_gp_based_bo_finds_the_top_of_a_hill() -> None:
    hill = expectation(1, "sine_ridge")
    optimiser = method("gp-ucb", hill).start(hill, 0)
    objects = hill.start(0)
    best = -np.inf
    for _ in range(15):
        scores = hill.score(objects)
        best = max(best, float(scores.max()))
        optimiser.tell(objects, scores)
        objects = optimiser.ask(1)
        assert np.all((objects[0] >= hill.lower) & (objects[0] <= hill.upper))
    assert hill.optimum - best < 0.05


def test_values_are_standardised_by_the_first_told() -> None:
    branin = FUNCTIONS["branin"]
    optimiser = method("paper-1-std", branin).start(branin, 0)
    objects = branin.start(0)
    optimiser.tell(objects, branin.score(objects))
    told = [trial.value for trial in optimiser.study.trials]  # type: ignore[attr-defined]
    assert np.isclose(np.mean(told), 0.0)
    assert np.isclose(np.std(told), 1.0)


def test_what_is_there_is_not_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = Experiment("small", ("ackley10", "levy10"), {"random": 2}, batch=8)
    run_missing(small, folder=tmp_path)
    assert len(capsys.readouterr().out.splitlines()) == 4
    run_missing(small, seeds=3, folder=tmp_path)
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "ackley10 random seed 2",
        "levy10 random seed 2",
    ]
    assert len(small.contents(tmp_path)["levy10"]["methods"]["random"]["runs"]) == 3


def test_tasks_of_high_dimension_are_their_functions() -> None:
    for name in HIGH:
        made = task(name)
        assert made.budget == 64
        if name in FUNCTIONS:
            here, there = made.start(1), FUNCTIONS[name].start(1)
            assert np.array_equal(here, there)
            assert np.array_equal(made.score(here), FUNCTIONS[name].score(there))


def measured(auc: list[float]) -> Measures:
    values, none = np.array(auc), np.zeros(len(auc))
    return Measures(tuple(range(len(auc))), values[:, None], values, values, none, none, none)


def test_a_win_is_sure_where_the_difference_is_beyond_its_interval() -> None:
    good, bad, wide = measured([0.1, 0.2, 0.15, 0.1]), measured([0.5, 0.6, 0.55, 0.6]), measured([0.0, 0.9, 0.0, 0.9])
    assert [sure(good, bad), sure(bad, good), sure(good, wide)] == [-1, 1, 0]
    assert sure(measured([0.1, 0.1]), measured([0.9, 0.9])) == 0


def test_batches_have_every_cell() -> None:
    experiment = EXPERIMENTS["batches"]
    for name in experiment.tasks:
        runs = results_of(name, experiment.batch, RESULTS).read()
        assert set(order(experiment)) <= set(runs["methods"]), name


@pytest.mark.parametrize("name", SPACES)
def test_values_of_families_are_their_expectations(name: str) -> None:
    made, rng = family(name), np.random.default_rng(0)
    numbers = rng.uniform(made.lower, made.upper, (4, made.dimension))
    integrand = {
        "gamma": lambda w: np.sin(FREQUENCY * w) * np.exp(-w / DECAY),
        "full_gaussian": lambda w: (w[:, 0] - 0.5) * (w[:, 1] + 1.0) * np.exp(-np.sum(w**2, axis=1) / (2 * WIDTH)),
    }[name]
    drawn = [float(np.mean(integrand(x.sample(200_000, rng)))) for x in made.members(list(numbers))]
    assert np.allclose(made.score(list(numbers)), drawn, atol=0.01)
    assert made.score(made.start(0)).max() < made.optimum


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_opponents_are_methods_of_the_experiment(name: str) -> None:
    assert set(OPPONENTS[name]) <= set(order(EXPERIMENTS[name]))


def test_a_trust_region_grows_and_shrinks() -> None:
    pytest.importorskip("botorch")
    from benchmarks.methods.turbo import LENGTH, MOST, Region

    region = Region(failures_allowed=2)
    for _ in range(3):
        region.update(improved=True)
    assert region.length == min(2 * LENGTH, MOST)
    for _ in range(4):
        region.update(improved=False)
    assert region.length == min(2 * LENGTH, MOST) / 4
