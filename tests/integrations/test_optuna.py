"""likewise inside Optuna: Optuna's own suite of samplers, and what only a similarity gives."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)

import likewise as lw
from likewise.integrations.optuna import LikewiseSampler

WORDS = [a + b + c + d for a in "ACGT" for b in "ACG" for c in "ATC" for d in "CGT"]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield
    optuna.logging.set_verbosity(before)


class TestConformance(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    """All that Optuna asks of a sampler."""

    @pytest.fixture
    def sampler(self) -> Callable[[], LikewiseSampler]:
        return lambda: LikewiseSampler(seed=0)


def _run(sampler: optuna.samplers.BaseSampler, objective: Any, n: int, **settings: Any) -> optuna.Study:
    study = optuna.create_study(sampler=sampler, **settings)
    study.optimize(objective, n_trials=n)
    return study


def _mixed(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", 1e-3, 1e3, log=True)
    k = trial.suggest_int("k", 1, 9, step=2)
    return (x - 1) ** 2 + math.log10(y) ** 2 + abs(k - 5)


def test_the_same_seed_gives_the_same_trials() -> None:
    one, other = (_run(LikewiseSampler(seed=3), _mixed, 10) for _ in range(2))
    assert [t.params for t in one.trials] == [t.params for t in other.trials]


def test_a_pool_of_words_by_their_similarity() -> None:
    """With a similarity of the choices the best of 108 words is found long before half of them are tried."""

    def objective(trial: optuna.Trial) -> float:
        word = trial.suggest_categorical("word", WORDS)
        return sum(letter == best for letter, best in zip(word, "CGCG", strict=True))

    found = [
        _run(LikewiseSampler({"word": lw.Hamming()}, seed=seed), objective, 24, direction="maximize").best_value
        for seed in range(2)
    ]
    assert found == [4.0] * 2


def test_choices_stand_for_objects() -> None:
    """Names are chosen, and what they stand for is compared: here numbers, by their distance."""
    names, places = [f"site {i}" for i in range(60)], [float(i * i) for i in range(60)]

    def objective(trial: optuna.Trial) -> float:
        return abs(places[names.index(trial.suggest_categorical("site", names))] - 900.0)

    sampler = LikewiseSampler(distance={"site": lambda a, b: abs(a - b)}, objects={"site": places}, seed=0)
    assert _run(sampler, objective, 20).best_value == 0.0


def _conditional(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("model", ["svm", "forest", "bayes"]) == "svm":
        kernel = trial.suggest_categorical("kernel", ["rbf", "linear"])
        wide = (math.log10(trial.suggest_float("gamma", 1e-4, 1.0, log=True)) + 2) ** 2 if kernel == "rbf" else 1.0
        return 0.5 + (math.log10(trial.suggest_float("C", 1e-2, 1e2, log=True)) - 1) ** 2 + wide
    if trial.params["model"] == "forest":
        return 1.0 + abs(trial.suggest_int("depth", 1, 20) - 8) / 8
    return 2.0


def test_conditional_parameters_are_proposed_together() -> None:
    """A trial's parameters come from the model, also those of a branch within a branch."""
    sampler = LikewiseSampler(seed=0, independent_sampler=_Counting())
    study = _run(sampler, _conditional, 24)
    assert study.best_value < 1.1
    # The first trial of each branch is not from the model, as nobody knows of its parameters yet.
    assert sampler._independent.asked <= 10  # type: ignore[attr-defined]


class _Counting(optuna.samplers.RandomSampler):
    """Counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__(seed=0)
        self.asked = 0

    def sample_independent(self, *given: Any, **named: Any) -> Any:
        self.asked += 1
        return super().sample_independent(*given, **named)


def test_several_objectives_find_a_front() -> None:
    """BraninCurrin-like: with the hypervolume in mind the front is better than that of random search."""

    def objective(trial: optuna.Trial) -> tuple[float, float]:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        return (x - 0.2) ** 2 + (y - 0.2) ** 2, (x - 0.8) ** 2 + (y - 0.8) ** 2

    def worst(sampler: optuna.samplers.BaseSampler) -> float:
        study = _run(sampler, objective, 20, directions=["minimize", "minimize"])
        return max(abs((t.values[0] ** 0.5 + t.values[1] ** 0.5) - 0.72**0.5) for t in study.best_trials)

    assert worst(LikewiseSampler(seed=0)) < worst(optuna.samplers.RandomSampler(seed=0))


def test_constraints_are_kept() -> None:
    def objective(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        trial.set_constraint("sum", x + y - 0.6)
        return x + 2 * y

    study = _run(LikewiseSampler(seed=0), objective, 20, direction="maximize")
    kept = [t for t in study.trials if t.constraints["sum"] <= 0]
    assert max(t.value for t in kept if t.value is not None) > 1.0
    assert sum(t.constraints["sum"] <= 0.05 for t in study.trials[10:]) >= 6


def test_running_trials_are_taken_into_account() -> None:
    study = optuna.create_study(sampler=LikewiseSampler(seed=0))
    study.optimize(_mixed, n_trials=8)
    running = [study.ask() for _ in range(4)]
    for trial in running:
        _mixed(trial)
    assert len({tuple(trial.params.values()) for trial in running}) == 4


def test_workers_share_a_storage(tmp_path: Path) -> None:
    """Another process's sampler reads what this one's trials found."""
    storage = f"sqlite:///{tmp_path / 'optuna.db'}"
    study = optuna.create_study(sampler=LikewiseSampler(seed=0), storage=storage, study_name="s")
    study.optimize(_mixed, n_trials=6)
    other = optuna.load_study(sampler=LikewiseSampler(seed=0), storage=storage, study_name="s")
    other.optimize(_mixed, n_trials=4, n_jobs=2)
    assert len(study.trials) == 10
    assert len({tuple(t.params.values()) for t in study.trials}) == 10


def test_what_cannot_be_compared_is_named() -> None:
    with pytest.raises(lw.SimilarityError, match="name the parameter"):
        LikewiseSampler(lw.Hamming())  # type: ignore[arg-type]
    with pytest.raises(lw.SimilarityError, match="nothing that compares"):
        LikewiseSampler(objects={"x": [1, 2]})
    with pytest.raises(lw.SimilarityError, match="give one of them"):
        LikewiseSampler({"x": lw.Hamming()}, {"x": lambda a, b: 0.0})
    study = optuna.create_study(sampler=LikewiseSampler({"x": lw.Hamming()}, objects={"x": ["AC"]}, seed=0))
    with pytest.raises(lw.SpaceError, match="2 choices and 1 objects"):
        study.optimize(lambda trial: len(trial.suggest_categorical("x", ["a", "b"])), n_trials=2)


def test_the_hub_package_holds_the_sampler() -> None:
    """It is laid out as OptunaHub loads it: a folder with the module, a description and a licence."""
    from importlib.util import module_from_spec, spec_from_file_location

    folder = Path(__file__).parents[2] / "optunahub" / "package" / "samplers" / "likewise"
    spec = spec_from_file_location("hub", folder / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.LikewiseSampler is LikewiseSampler
    head = (folder / "README.md").read_text(encoding="utf-8").split("---")[1]
    assert {line.split(":")[0] for line in head.strip().splitlines()} == {
        "author", "title", "description", "tags", "optuna_versions", "license",
    }  # fmt: skip
    assert (folder / "LICENSE").exists()


def test_a_copy_of_a_sampler_goes_on_as_the_sampler_does() -> None:
    """Between processes a sampler is pickled: with the trials so far, the copy proposes what the sampler would have."""
    sampler = LikewiseSampler({"word": lw.Hamming()}, seed=0)
    study = _run(sampler, lambda trial: len(set(trial.suggest_categorical("word", WORDS))), 8)
    copied = optuna.create_study(sampler=pickle.loads(pickle.dumps(sampler)))
    copied.add_trials(study.trials)
    assert copied.ask().suggest_categorical("word", WORDS) == study.ask().suggest_categorical("word", WORDS)
