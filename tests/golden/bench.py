"""A study at work: it is told, asked and looked at through the public API alone, and its answers are JSON data."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import likewise as lw

# The part of an answer that other last digits may change.
DELICATE = "delicate"
Step = Callable[["Bench"], None]
LOOKS = ("best", "gain", "recommend", "front", "predict", "explain", "diagnose")


@dataclass(frozen=True)
class Golden:
    """A small study: where its objects come from, what is measured of them, its options, and what is done with it.

    space: makes the space; spaces, similarities and methods are made anew for each run, as they remember things.
    f: the value of an object, as `tell` takes it; an ArithmeticError is a failure.
    steps: what is done, in order.
    options: of the `Study`; a function is called for its value.
    needs: libraries without which the study cannot run.
    looks: what the study is asked at its end; fewer where that takes long.
    delicate: whether the last digit of a sum decides what is picked, as where several objects are as good.
    """

    space: Callable[[], lw.Space]
    f: Callable[[Any], Any]
    steps: Sequence[Step]
    options: Mapping[str, Any] = field(default_factory=dict)
    needs: Sequence[str] = ()
    looks: Sequence[str] = LOOKS
    delicate: bool = False


@dataclass
class Bench:
    """A study under way, and what it has answered."""

    golden: Golden
    folder: Path
    answers: dict[str, Any] = field(default_factory=lambda: {"picks": [], "asked": []})
    space: lw.Space = field(init=False)
    study: lw.Study = field(init=False)

    def __post_init__(self) -> None:
        self.space = self.golden.space()
        self.study = self.open()

    def open(self, **changes: Any) -> lw.Study:
        """The study with these options changed; opened once more where it is kept in a file."""
        options = {name: value() if callable(value) else value for name, value in self.golden.options.items()}
        stored = {"storage": f"sqlite:///{self.folder / 'golden.db'}"} if "storage" in options else {}
        return lw.Study(self.space, **{"seed": 3, **options, **stored, **changes})

    def tell(self, what: Any, x: Any) -> None:
        """Measure an object and tell it."""
        try:
            value = self.golden.f(x)
        except ArithmeticError as error:
            self.study.fail(what, str(error))
        else:
            self.study.tell(what, value)

    def keep(self, suggestions: Sequence[lw.Suggestion]) -> None:
        """Write down what was suggested."""
        self.answers["picks"].append([self.space.to_json(s.object) for s in suggestions])
        self.answers["asked"].append([self.suggestion(s) for s in suggestions])

    def suggestion(self, s: lw.Suggestion) -> dict[str, Any]:
        named = isinstance(s.analogues, Mapping)
        analogues = [a for several in s.analogues.values() for a in several[:1]] if named else s.analogues[:2]
        numbers = {name: getattr(s, name) for name in ("mean", "std", "low", "high", "chance", "improvement")}
        outcomes = {name: [e.mean, e.std, e.low, e.high] for name, e in s.outcomes.items()}
        return without_nothing(
            {
                **numbers,
                "outcomes": outcomes,
                "feasible": s.chance_feasible,
                "notes": dict(s.notes),
                "analogues": self.analogues(analogues),
            }
        )

    def analogues(self, analogues: Sequence[lw.Analogue]) -> list[Any]:
        return [[self.space.to_json(a.object), a.measured, a.influence] for a in analogues]

    def look(self) -> None:
        """What the study says at its end; what it refuses to say is left out."""
        for name in self.golden.looks:
            with suppress(lw.LikewiseError):
                self.answers[name] = getattr(self, f"look_{name}")()
        self.answers = without_nothing(self.answers)

    def trial(self, trial: lw.Trial) -> list[Any]:
        return [self.space.to_json(trial.object), dict(trial.values) if self.outcomes != [None] else trial.value]

    def look_best(self) -> Any:
        return self.trial(self.study.best)

    def look_gain(self) -> Any:
        gain = self.study.expected_gain(2)
        return [gain.expected, gain.chance]

    def look_recommend(self) -> Any:
        recommended = [*self.study.recommend(2), *self.study.recommend(1, anywhere=True)]
        return [[self.space.to_json(r.object), r.mean, r.std, r.value] for r in recommended]

    def look_front(self) -> Any:
        if len(self.golden.options.get("objectives", ())) < 2:
            return None
        return {"trials": [self.trial(t) for t in self.study.front], "hypervolume": self.study.hypervolume}

    @property
    def outcomes(self) -> list[str | None]:
        """The names of what is measured; None where it has no name."""
        objectives = self.golden.options.get("objectives", {})
        measured = [name for name, goal in objectives.items() if isinstance(goal, str)]
        return [*measured, *self.golden.options.get("constraints", ())] or [None]

    def look_predict(self) -> Any:
        objects = self.space.sample(3, np.random.default_rng(11))
        answers = []
        for outcome in self.outcomes:
            predicted = self.study.predict(objects, outcome=outcome)
            measured = self.study.predict(objects, measurement=True, outcome=outcome)
            answers.append([predicted.mean.tolist(), predicted.std.tolist(), measured.std.tolist()])
        return answers

    def look_explain(self) -> Any:
        (x,) = self.space.sample(1, np.random.default_rng(12))
        return [self.analogues(self.study.explain(x, 3, outcome=outcome)) for outcome in self.outcomes]

    def look_diagnose(self) -> Any:
        judged = [self.study.diagnose(each=False, outcome=outcome) for outcome in self.outcomes]
        # Leave-one-out errors of a smooth function are the small rest of large numbers.
        self.answers[DELICATE] = [d.committee.rmse for d in judged]
        return [[d.observations, d.mean_rmse, d.limits] for d in judged]


def without_nothing(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None and value != {} and value != []}


def run(golden: Golden, folder: Path) -> dict[str, Any]:
    """The answers of a study as JSON data."""
    bench = Bench(golden, folder)
    for step in golden.steps:
        step(bench)
    bench.look()
    answers: dict[str, Any] = json.loads(json.dumps(bench.answers, default=plain))
    return answers


def plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is no JSON")


def begin(n: int = 10) -> Step:
    """Tell objects that are drawn from the space."""

    def step(bench: Bench) -> None:
        drawn = {bench.space.key(x): x for x in bench.space.sample(2 * n, np.random.default_rng(5))}
        for x in list(drawn.values())[:n]:
            bench.tell(x, x)

    return step


def tell(*rows: tuple[Any, ...]) -> Step:
    """Tell these values."""
    return lambda bench: bench.study.tell_many(rows)


def ask(n: int = 2, *, leave: int = 0, **options: Any) -> Step:
    """Ask, and tell all but the last `leave`."""

    def step(bench: Bench) -> None:
        suggestions = bench.study.ask(n, **options)
        bench.keep(suggestions)
        for s in suggestions[: len(suggestions) - leave]:
            bench.tell(s, s.object)

    return step


def do(work: Callable[[lw.Study], Any]) -> Step:
    """Anything else, whose answer is not looked at."""

    def step(bench: Bench) -> None:
        work(bench.study)

    return step


def resume(**changes: Any) -> Step:
    """Open the study anew from its file."""

    def step(bench: Bench) -> None:
        bench.study = bench.open(**changes)

    return step


def in_child(n: int = 2) -> Step:
    """What a forked child would ask, and what its parent asks after that."""

    def step(bench: Bench) -> None:
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if not child:
            # Whatever happens, the child does not go on with its parent's tests.
            try:
                gain = bench.study.expected_gain(n)
                os.write(writing, json.dumps([gain.expected, gain.chance]).encode())
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with os.fdopen(reading) as answer:
            bench.answers["child"] = json.loads(answer.read())
        ask(n)(bench)

    return step


def optimize(**options: Any) -> Step:
    """Have the study evaluate the function itself."""

    def step(bench: Bench) -> None:
        before = len(bench.study)
        result = bench.study.optimize(bench.golden.f, progress=False, **options)
        bench.answers["stopped"] = result.stopped
        bench.answers["picks"].append([bench.space.to_json(t.object) for t in bench.study.trials[before:]])

    return step


def in_threads(budget: int) -> Step:
    """Evaluate batches of two in two threads."""

    def step(bench: Bench) -> None:
        with ThreadPoolExecutor(2) as executor:
            optimize(budget=budget, batch=2, executor=executor, synchronous=True)(bench)

    return step


@contextmanager
def cluster() -> Iterator[Any]:
    """A small Dask cluster in this process."""
    from distributed import Client

    with (
        warnings.catch_warnings(),
        Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client,
    ):
        warnings.simplefilter("ignore")
        yield client


def on_cluster(*steps: Step) -> Step:
    """Go on with the pool on a Dask cluster."""

    def step(bench: Bench) -> None:
        before, told = bench.space, bench.study.trials
        with cluster() as client:
            bench.space = lw.Pool(before.objects, client=client)
            bench.study = bench.open()
            bench.study.tell_many([(t.object, t.value) for t in told])
            for inner in steps:
                inner(bench)
            bench.look()
            told = bench.study.trials
        bench.space = before
        bench.study = bench.open()
        bench.study.tell_many([(t.object, t.value) for t in told])

    return step
