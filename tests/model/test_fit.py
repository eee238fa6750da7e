"""What stands for election, and a committee of branches: each varies by itself, which is neither noise nor a tail."""

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.model.fit import DEFAULT, OCCAM, Targets, learn, mixes, suitable_transform
from likewise.model.scores import Gram
from likewise.model.transforms import Standardised
from likewise.similarity.algebra import fixed

SPACE = lw.OneOf(quiet=lw.Record(x=lw.Float(0, 1)), wild=lw.Record(x=lw.Float(0, 1)))


def value(x: Any) -> float:
    if "quiet" in x:
        return 0.95 + 0.005 * float(np.sin(5.0 * x["quiet"]["x"]))
    return 0.7 + 0.27 * float(np.sin(7.0 * x["wild"]["x"]))


def study(seed: int, n: int = 14) -> lw.Study:
    found = lw.Study(SPACE, seed=seed)
    for x in SPACE.sample(n, np.random.default_rng(seed)):
        found.tell(x, value(x))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_doubt_is_as_large_as_the_values_of_the_branch_vary(seed: int) -> None:
    told = study(seed)
    at = [0.03, 0.5, 0.97]
    quiet = told.predict([{"quiet": {"x": x}} for x in at])
    wild = told.predict([{"wild": {"x": x}} for x in at])
    assert float(np.max(quiet.std)) < 0.03
    assert float(np.max(wild.std)) > 2.0 * float(np.max(quiet.std))


def test_a_branch_that_varies_more_is_no_reason_to_bend_the_values() -> None:
    rng = np.random.default_rng(0)
    similarity = lw.Branches(quiet=lw.RBF(0.4), wild=lw.RBF(0.4))
    plain = 0
    for _ in range(20):
        objects = [{name: [x]} for name in ("quiet", "wild") for x in rng.uniform(size=12)]
        gram = Gram.of(similarity, objects)
        drawn = np.linalg.cholesky(gram.scores + 1e-6 * np.eye(24)) @ rng.standard_normal(24)
        scale = np.where(np.arange(24) < 12, 0.1, 1.0)
        plain += suitable_transform([gram], scale * drawn) is Standardised
    assert plain >= 18


@pytest.mark.parametrize("dimension", [1, 3, 10])
def test_mixes_pay_for_what_is_learnt_and_warps_share_one_prior(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    x = rng.random((12, dimension))
    data = Targets(rng.standard_normal(12), np.zeros(12))
    kernels = (lw.Matern(), fixed(lw.RBF(0.5)), lw.RBF())
    grams = [Gram.of(kernel, x) for kernel in kernels]
    learnt = {k: learn(kernels[k], grams[k].encodings, data.values) for k in (0, 2)}
    priors: dict[tuple[int, ...], float] = {}
    for mix, _, log_prior in mixes(grams, learnt, data, DEFAULT):
        priors[mix.used] = priors.get(mix.used, 0.0) + float(np.exp(log_prior))
    assert len(priors) == 7
    for used, prior in priors.items():
        learnt_in_it = sum(dimension for k in used if k in learnt)
        assert np.log(prior) == pytest.approx(-OCCAM * learnt_in_it)
