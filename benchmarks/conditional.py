"""Conditional settings: which classifier, and the settings that it alone has. `python -m benchmarks.conditional`.

Three of scikit-learn's bundled data sets, accuracy in threefold cross-validation. Every method begins with the same
random objects. Runs that are stored are not run again; with `--again` they are replaced. With `--report` nothing is
run, and the table of docs/benchmarks.md is made from what is stored. With `--dry` all is run, and nothing is stored.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.sections import write_section

RESULTS = Path(__file__).parent / "results" / "conditional.json"
TASKS = ("digits", "breast_cancer", "wine")
SEEDS, BEGUN, BUDGET = 10, 8, 40
Evaluate = Callable[[Mapping[str, Any]], float]

SPACE = lw.OneOf(
    svm=lw.Record(C=lw.Float(1e-3, 1e3, log=True), gamma=lw.Float(1e-5, 10.0, log=True)),
    forest=lw.Record(depth=lw.Int(1, 20), features=lw.Float(0.05, 1.0)),
    neighbours=lw.Record(k=lw.Int(1, 40), weights=["uniform", "distance"]),
)


def classifier(x: Mapping[str, Any]) -> Any:
    """The classifier of an object of the space."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    match x:
        case {"svm": {"C": c, "gamma": gamma}}:
            return SVC(C=c, gamma=gamma)
        case {"forest": {"depth": depth, "features": features}}:
            return RandomForestClassifier(30, max_depth=depth, max_features=features, random_state=0)
        case {"neighbours": {"k": k, "weights": weights}}:
            return KNeighborsClassifier(k, weights=weights)
    raise ValueError(f"{x!r} is none of the classifiers")


def task(name: str) -> Evaluate:
    """The accuracy of an object on a data set."""
    from sklearn import datasets
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = getattr(datasets, f"load_{name}")()
    order = np.random.default_rng(0).permutation(len(data.target))[:600]
    rows, labels = data.data[order], data.target[order]

    @cache
    def scored(key: str) -> float:
        model = make_pipeline(StandardScaler(), classifier(SPACE.from_json(json.loads(key))))
        return float(cross_val_score(model, rows, labels, cv=3).mean())

    return lambda x: scored(SPACE.key(x))


def ours(evaluate: Evaluate, begun: list[Any], seed: int) -> list[float]:
    """The values of likewise, in their order."""
    study = lw.Study(SPACE, seed=seed)
    for x in begun:
        study.tell(x, evaluate(x))
    values = [evaluate(x) for x in begun]
    while len(values) < BUDGET:
        (s,) = study.ask()
        values.append(evaluate(s.object))
        study.tell(s, values[-1])
    return values


def parzen(evaluate: Evaluate, begun: list[Any], seed: int) -> list[float]:
    """The values of Optuna's tree-structured Parzen estimator, whose settings are asked for branch by branch."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    for x in begun:
        ((branch, inside),) = x.items()
        study.enqueue_trial({"branch": branch, **{f"{branch}.{name}": value for name, value in inside.items()}})
    values: list[float] = []
    while len(values) < BUDGET:
        trial = study.ask()
        values.append(evaluate(_suggested(trial)))
        study.tell(trial, values[-1])
    return values


def _suggested(trial: Any) -> dict[str, Any]:
    branch = trial.suggest_categorical("branch", list(SPACE.branches))
    if branch == "svm":
        c = trial.suggest_float("svm.C", 1e-3, 1e3, log=True)
        return {"svm": {"C": c, "gamma": trial.suggest_float("svm.gamma", 1e-5, 10.0, log=True)}}
    if branch == "forest":
        depth = trial.suggest_int("forest.depth", 1, 20)
        return {"forest": {"depth": depth, "features": trial.suggest_float("forest.features", 0.05, 1.0)}}
    k = trial.suggest_int("neighbours.k", 1, 40)
    weights = trial.suggest_categorical("neighbours.weights", ["uniform", "distance"])
    return {"neighbours": {"k": k, "weights": weights}}


def forests(evaluate: Evaluate, begun: list[Any], seed: int) -> list[float]:
    """The values of SMAC3's random forests, with its defaults for hyperparameters: a new forest after eight values."""
    from smac import HyperparameterOptimizationFacade as Facade
    from smac import Scenario
    from smac.runhistory.dataclasses import TrialValue

    space, values = _configurations(seed), list[float]()
    # SMAC takes the mean of an empty list of times for its log, and numpy warns.
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        scenario = Scenario(space, n_trials=BUDGET, deterministic=True, seed=seed, output_directory=Path(folder))
        first = [_configuration(space, x) for x in begun]
        facade = Facade(
            scenario,
            lambda config, seed: 0.0,
            initial_design=Facade.get_initial_design(scenario, n_configs=0, additional_configs=first),
            logging_level=False,
        )
        while len(values) < BUDGET:
            trial = facade.ask()
            values.append(evaluate(SPACE.fit(_object(trial.config))))
            # It minimises.
            facade.tell(trial, TrialValue(cost=1.0 - values[-1]))
    return values


def _configurations(seed: int) -> Any:
    """The space in SMAC3's terms: the settings of a branch exist where the branch is chosen."""
    from ConfigSpace import Categorical, ConfigurationSpace, EqualsCondition, Float, Integer

    branch = Categorical("branch", list(SPACE.branches))
    settings = {
        "svm": [Float("svm.C", (1e-3, 1e3), log=True), Float("svm.gamma", (1e-5, 10.0), log=True)],
        "forest": [Integer("forest.depth", (1, 20)), Float("forest.features", (0.05, 1.0))],
        "neighbours": [
            Integer("neighbours.k", (1, 40)),
            Categorical("neighbours.weights", ["uniform", "distance"]),
        ],
    }
    space = ConfigurationSpace(seed=seed)
    space.add(branch, *(one for own in settings.values() for one in own))
    space.add(*(EqualsCondition(one, branch, name) for name, own in settings.items() for one in own))
    return space


def _configuration(space: Any, x: Mapping[str, Any]) -> Any:
    from ConfigSpace import Configuration

    ((branch, inside),) = x.items()
    return Configuration(space, {"branch": branch, **{f"{branch}.{name}": value for name, value in inside.items()}})


def _object(config: Mapping[str, Any]) -> dict[str, Any]:
    settings = dict(config)
    branch = str(settings.pop("branch"))
    return {branch: {name.removeprefix(f"{branch}."): value for name, value in settings.items()}}


def uniform(evaluate: Evaluate, begun: list[Any], seed: int) -> list[float]:
    """The values of random objects."""
    drawn = SPACE.sample(BUDGET - len(begun), np.random.default_rng(1000 + seed))
    return [evaluate(x) for x in [*begun, *drawn]]


METHODS = {"likewise": ours, "optuna-tpe": parzen, "smac3": forests, "random": uniform}


def run(tasks: Sequence[str], methods: Sequence[str], seeds: int, *, again: bool, dry: bool) -> dict[str, Any]:
    """All results; what is stored is run only with `again`. They are stored after each run, unless it is a dry run."""
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in tasks:
        evaluate, runs = task(name), found.setdefault(name, {})
        for seed in range(seeds):
            begun = SPACE.sample(BEGUN, np.random.default_rng(seed))
            for method in (one for one in methods if again or seed >= len(runs.get(one, []))):
                values = METHODS[method](evaluate, begun, seed)
                runs.setdefault(method, [])[seed : seed + 1] = [[round(value, 6) for value in values]]
                print(name, seed, method, round(max(values), 5), flush=True)
                if not dry:
                    RESULTS.write_text(json.dumps(found) + "\n")
    return found


def regrets(values: Mapping[str, list[list[float]]]) -> dict[str, tuple[float, float]]:
    """Mean regret over the evaluations after the first, and at the end, by method.

    As a share of what the best of all lies above the median of random objects.
    """
    every = np.array([run for runs in values.values() for run in runs])
    best, middle = every.max(), np.median(np.array(values["random"]))
    found = {}
    for method, runs in values.items():
        regret = (best - np.maximum.accumulate(np.array(runs), axis=1)[:, BEGUN:]) / (best - middle)
        found[method] = float(regret.mean()), float(regret[:, -1].mean())
    return found


def table(stored: Mapping[str, Any]) -> str:
    """The section of docs/benchmarks.md."""
    lines = [
        f"## Conditional settings: {BEGUN} random objects + {BUDGET - BEGUN} evaluations, {SEEDS} seeds",
        "",
        "Made by `python -m benchmarks.conditional --report`. A support vector machine, a forest or nearest",
        "neighbours, each with settings of its own (`lw.OneOf`). Optuna's TPE asks for them branch by branch;",
        "SMAC3 has them as conditions of its space; its defaults grow a new forest after every eight values.",
        "Mean regret over the evaluations after the first eight, and at the end in brackets, as a share of the",
        "best accuracy found by any above the median of random objects.",
        "",
        "| data set | " + " | ".join(METHODS) + " | likewise / TPE |",
        "|---" * (len(METHODS) + 2) + "|",
    ]
    ratios = []
    for name in (name for name in TASKS if name in stored):
        found = regrets(stored[name])
        ratios.append((found["likewise"][0] + 0.005) / (found["optuna-tpe"][0] + 0.005))
        cells = [f"{found[method][0]:.3f} ({found[method][1]:.3f})" for method in METHODS]
        lines.append(f"| {name} | {' | '.join(cells)} | {ratios[-1]:.2f} |")
    mean = float(np.exp(np.mean(np.log(ratios))))
    return "\n".join([*lines, "", f"Geometric mean of the ratios: {mean:.2f}.", ""])


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conditional", description=__doc__)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="data sets; all by default")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=tuple(METHODS), help="all by default")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"so many runs of each, {SEEDS} by default")
    parser.add_argument("--again", action="store_true", help="replace runs that are there")
    parser.add_argument("--report", action="store_true", help="make the table from what is stored, and run nothing")
    parser.add_argument("--dry", action="store_true", help="store nothing, and print the table")
    given = parser.parse_args()
    if not given.report:
        found = run(given.tasks, given.methods, given.seeds, again=given.again or given.dry, dry=given.dry)
    if given.dry and not given.report:
        print(table({name: found[name] for name in given.tasks}))
    else:
        write_section("conditional", table(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
