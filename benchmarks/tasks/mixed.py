"""Tasks over records of floats, whole numbers and choices, with a known optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.tasks.base import SAMPLES, Sampled, Vector, generator
from benchmarks.tasks.functions import ackley


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; whole ones alone, or spread over a logarithmic scale."""

    low: float
    high: float
    whole: bool = False
    log: bool = False

    def draw(self, n: int, rng: np.random.Generator) -> list[Any]:
        if self.whole:
            return rng.integers(int(self.low), int(self.high) + 1, n).tolist()
        low, high = (np.log([self.low, self.high])) if self.log else (self.low, self.high)
        drawn = rng.uniform(low, high, n)
        return (np.exp(drawn) if self.log else drawn).tolist()


Field = Range | tuple[str, ...]
Value = Callable[[Mapping[str, Any]], float]


@dataclass(frozen=True)
class Mixed(Sampled):
    """A function of records; each field is a range of numbers, or a tuple of choices.

    `noise` is that of measurements, as a share of the values' spread.
    """

    name: str
    function: Value
    fields: Mapping[str, Field]
    optimum: float
    sign: float
    initial: int = 10
    budget: int = 64
    noise: float = 0.0

    @cached_property
    def samples(self) -> Vector:
        return self.score(self._uniform(SAMPLES, np.random.default_rng(0)))

    def start(self, seed: int) -> list[dict[str, Any]]:
        return self._uniform(self.initial, generator(self.name, seed))

    def score(self, objects: Sequence[Mapping[str, Any]]) -> Vector:
        return np.array([self.sign * self.function(x) for x in objects])

    def _uniform(self, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        columns = [
            field.draw(n, rng) if isinstance(field, Range) else [field[i] for i in rng.integers(len(field), size=n)]
            for field in self.fields.values()
        ]
        return [dict(zip(self.fields, row, strict=True)) for row in zip(*columns, strict=True)]


# What a solvent and a base cost in yield, and the temperature and concentration at which each does best.
SOLVENTS = {"DMF": 0.0, "DMSO": 0.3, "MeCN": 0.6, "THF": 1.0, "toluene": 1.4, "water": 2.0}
HOTTEST = {"DMF": 92.0, "DMSO": 108.0, "MeCN": 70.0, "THF": 55.0, "toluene": 100.0, "water": 80.0}
BASES = {"K2CO3": 0.5, "Cs2CO3": 0.0, "Et3N": 0.9}
STRONGEST = {"K2CO3": -0.8, "Cs2CO3": -0.55, "Et3N": -1.2}


def reaction_yield(x: Mapping[str, Any]) -> float:
    """100 exp(−f): f ≥ 0 adds what the choices cost and the squared distances from each one's own best settings."""
    cost = SOLVENTS[x["solvent"]] + BASES[x["base"]]
    heat = ((x["T"] - HOTTEST[x["solvent"]]) / 25.0) ** 2
    strength = ((np.log10(x["c"]) - STRONGEST[x["base"]]) / 0.5) ** 2
    dose = ((x["equivalents"] - 3) / 2.0) ** 2
    # More of the base is needed where the mixture is thin.
    thin = 0.3 * (x["equivalents"] - 3) * (np.log10(x["c"]) - STRONGEST[x["base"]])
    return float(100.0 * np.exp(-0.5 * (cost + heat + strength + dose + thin)))


# Choices are places on Ackley's axes, in no order.
PLACES = {"a": 1.5, "b": -0.5, "c": 0.0, "d": 2.0}


def mixed_ackley(x: Mapping[str, Any]) -> float:
    """Ackley's function of three floats, two whole numbers and two choices, whose best lie off the middle."""
    floats = (x["x1"] - 0.3, x["x2"] + 0.8, x["x3"] - 1.1)
    place = (*floats, (x["k1"] - 7) / 2.0, (x["k2"] - 2) / 2.0, PLACES[x["first"]], PLACES[x["second"]])
    return float(ackley(np.array([place]))[0])


RECORDS = {
    task.name: task
    for task in (
        Mixed(
            "reaction",
            reaction_yield,
            {
                "solvent": tuple(SOLVENTS),
                "base": tuple(BASES),
                "equivalents": Range(1, 8, whole=True),
                "T": Range(20.0, 120.0),
                "c": Range(0.01, 1.0, log=True),
            },
            100.0,
            1.0,
        ),
        Mixed(
            "mixed_ackley",
            mixed_ackley,
            {
                "x1": Range(-2.0, 2.0),
                "x2": Range(-2.0, 2.0),
                "x3": Range(-2.0, 2.0),
                "k1": Range(0, 10, whole=True),
                "k2": Range(0, 10, whole=True),
                "first": tuple(PLACES),
                "second": tuple(PLACES),
            },
            0.0,
            -1.0,
        ),
    )
}
