"""Who optimises in each experiment: the paper's method in its variants, and what it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.experiments.judgement import Judgement
from benchmarks.experiments.mmd import MMDKernel
from benchmarks.methods import METHODS as SUITE
from benchmarks.methods import method as of_suite
from benchmarks.methods.analogical import StudyOptimiser, face, own
from benchmarks.methods.base import Method
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.box import Box, Gaussian
from benchmarks.tasks.families import Members
from benchmarks.tasks.pool import Pool
from likewise.similarity.catalogue import usual_lengthscale

# Module and name, imported when used: torch is loaded by those that need it alone.
PEERS = {
    "botorch-qlogei": ("botorch_batches", "Q_LOG_EI"),
    "botorch-qucb": ("botorch_batches", "Q_UCB"),
    "turbo-1": ("turbo", "TURBO"),
    "gp-ucb": ("gp_ucb", "GP_UCB"),
}
STRATEGIES = {"1": "two_stage", "2": "top"}
STEPS = {"": "unit", "-safe": "safeguarded"}
KAPPA = 2.0
# Of each distribution without a closed form, for a divergence.
DRAWS = 64
# What a chemist takes for alike: about one pair of molecules in sixteen.
ALIKE = 0.2


class Standardised(StudyOptimiser):
    """A study that is told values of mean 0 and standard deviation 1, by those that were told first."""

    scale: tuple[float, float] | None = None

    def tell(self, objects: Sequence[Any], scores: Vector) -> None:
        if self.scale is None:
            self.scale = float(np.mean(scores)), float(np.std(scores)) or 1.0
        mean, std = self.scale
        super().tell(objects, (np.asarray(scores) - mean) / std)


def similarity(task: Task) -> Any:
    """The one score by which the methods that take one compare the objects of a task."""
    if isinstance(task, Gaussian):
        return lw.SymmetricKL(constant=face(task).space.divergence_bound())
    if isinstance(task, Members):
        return _divergence(task)
    if isinstance(task, Box):
        return lw.RBF(usual_lengthscale(task.dimension) * (task.upper - task.lower))
    assert isinstance(task, Pool)
    return {"strings": lw.JaroWinkler(), "series": lw.DTW(), "rises": lw.DTW(), "judgement": Judgement(ALIKE)}[
        task.name
    ]


def _divergence(task: Members) -> Any:
    """const − KL of other distributions: by closed form where there is one, else by Monte Carlo."""
    if isinstance(task.space, lw.Gaussians):
        return lw.SymmetricKL(constant=task.space.divergence_bound(), full=True)
    corners = task.members(
        list(np.array(np.meshgrid(*zip(task.lower, task.upper, strict=True))).reshape(task.dimension, -1).T)
    )
    kl = lw.MonteCarloKL(lengthscale=1.0, samples=DRAWS)
    farthest = float(kl.distances(kl.encode(corners), kl.encode(corners)).max())
    # Estimates have errors: a tenth more keeps every score positive.
    return lw.MonteCarloKL(constant=1.1 * farthest, samples=DRAWS)


def _exponential(task: Task) -> Any:
    """exp(−KL/ℓ), ℓ the median of the first."""
    if isinstance(task, Members) and isinstance(task.space, lw.Family):
        return lw.MonteCarloKL(samples=DRAWS)
    return lw.SymmetricKL(full=isinstance(task, Members))


def _paper(strategy: str, step: str, score: Callable[[Task], Any]) -> Callable[[Task], Mapping[str, Any]]:
    return lambda task: {"method": lw.Paper(kappa=KAPPA, strategy=strategy, step=step), "similarity": score(task)}


def _settings(strategy: str, step: str) -> str:
    return f"method=Paper(strategy={strategy!r}, step={step!r}), σ² = 0.01, κ = 2"


def _distributions() -> list[Method]:
    """The paper's method over Gaussians: two similarities, two strategies, two kinds of step."""
    scores: dict[str, tuple[str, Callable[[Task], Any]]] = {
        "const": ("constant − D_SYM", similarity),
        "exp": ("exp(−D_SYM/ℓ), ℓ the median of the first", _exponential),
    }
    return [
        own(f"paper-{name}-{number}{end}", f"{_settings(strategy, step)}; {words}", _paper(strategy, step, score))
        for name, (words, score) in scores.items()
        for number, strategy in STRATEGIES.items()
        for end, step in STEPS.items()
    ]


def _standardised(method: Method, options: Callable[[Task], Mapping[str, Any]]) -> Method:
    """The same study, told standardised values."""
    return Method(
        f"{method.name}-std",
        lambda task: f"{method.settings(task)}; values standardised by the first ten",
        method.libraries,
        method.suits,
        lambda task, seed: Standardised(task, seed, options(task)),
    )


def _strategies() -> list[Method]:
    """Both strategies by one similarity, on raw values and on standardised ones."""
    made = []
    for number, strategy in STRATEGIES.items():
        options = _paper(strategy, "unit", similarity)
        plain = own(f"paper-{number}", f"{_settings(strategy, 'unit')}; RBF of lengthscale ½√d widths", options)
        made += [plain, _standardised(plain, options)]
    return made


def _by_similarity() -> list[Method]:
    """Those that are given one similarity of a pool and nothing else."""
    options = _paper("top", "unit", similarity)
    plain = own("paper", f"{_settings('top', 'unit')}; the similarity as it is", options)
    spectra = {"likewise-given": "krein", "cego-clip": "clip", "cego-flip": "flip"}
    return [plain, _standardised(plain, options), *(_treated(name, kind) for name, kind in spectra.items())]


def _treated(name: str, spectrum: str) -> Method:
    """One similarity, its negative eigenvalues treated, powers, noise and amplitude by evidence, log-EI."""
    words = f"Study(space, similarity, spectrum={spectrum!r})"
    return own(name, words, lambda task: {"similarity": similarity(task), "spectrum": spectrum})


AIRBO = own(
    "airbo-like",
    "similarity=exp(−MMD²/2θ²) with θ the median, UpperConfidence(2)",
    lambda task: {"similarity": MMDKernel(), "acquisition": lw.UpperConfidence(KAPPA)},
)
GIVEN = {m.name: m for m in _by_similarity()}
OWN = {m.name: m for m in (*_distributions(), *_strategies(), AIRBO)}


def method(name: str, task: Task) -> Method:
    """The method of this name on a task: "paper" is another one on pools of which a similarity is given."""
    if isinstance(task, Pool) and name in GIVEN:
        return GIVEN[name]
    if name in OWN:
        return OWN[name]
    if name in PEERS:
        module, constant = PEERS[name]
        found: Method = getattr(import_module(f"benchmarks.methods.{module}"), constant)
        return found
    if name in SUITE:
        return of_suite(name)
    raise SystemExit(f"no method is called {name!r}; choose from {', '.join((*OWN, *GIVEN, *PEERS, *SUITE))}")
