"""Tasks with several objectives, some with constraints: two real tables, and functions that everyone uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.tasks.base import Matrix, Vector
from benchmarks.tasks.box import Box
from benchmarks.tasks.functions import branin
from benchmarks.tasks.pool import Part, Pool
from likewise.acquisition.hypervolume import hypervolume, is_nondominated

INITIAL, BUDGET, GRID = 10, 30, 700
# Random objects, of which those that break a constraint are taken to begin with: this many times as many as needed.
MANY = 10
MOLECULES, WINDOW = 5000, (0.0, 0.5)


@dataclass(frozen=True)
class Several:
    """Objects of a table or of a box, with outcomes in their own units, a row for each object.

    objectives: the direction of each, by name, in the order of the outcomes' first columns.
    constraints: how many further outcomes have to be at most 0.
    most: the hypervolume of the best front there is, where it is known; else it is sought on all rows, or on a grid.
    """

    base: Pool | Box
    outcomes: Callable[[Sequence[Any]], Matrix]
    objectives: Mapping[str, str]
    constraints: int = 0
    given: tuple[float, ...] = ()
    most: float | None = None

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def signs(self) -> Vector:
        return np.array([1.0 if one == "maximize" else -1.0 for one in self.objectives.values()])

    def start(self, seed: int) -> list[Any]:
        """The first objects; where there are constraints, none of them keeps all, so that one has to be found."""
        if not self.constraints:
            return self.base.start(seed)
        many = replace(self.base, initial=MANY * INITIAL).start(seed)
        return [many[i] for i in np.flatnonzero(~self.feasible(self.outcomes(many)))[:INITIAL]]

    def signed(self, outcomes: Matrix) -> Matrix:
        """The objectives, more of which is better."""
        return outcomes[:, : len(self.objectives)] * self.signs

    def feasible(self, outcomes: Matrix) -> Any:
        return (outcomes[:, len(self.objectives) :] <= 0).all(axis=1)

    @cached_property
    def reference(self) -> Vector:
        """Signed: as it is usual, or the worst of the best front and a tenth of its extent below."""
        if self.given:
            return np.array(self.given) * self.signs
        worst, best = self._front.min(axis=0), self._front.max(axis=0)
        return worst - 0.1 * (best - worst)

    @cached_property
    def best(self) -> float:
        return self.most if self.most is not None else hypervolume(self._front, self.reference)

    @cached_property
    def _front(self) -> Matrix:
        if isinstance(self.base, Pool):
            every: Sequence[Any] = range(len(self.base.values))
        else:
            axes = [np.linspace(low, high, GRID) for low, high in zip(self.base.lower, self.base.upper, strict=True)]
            every = list(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(axes)))
        outcomes = self.outcomes(every)
        kept = self.signed(outcomes)[self.feasible(outcomes)]
        return kept[is_nondominated(kept)]

    def volumes(self, outcomes: Matrix) -> list[float]:
        """The hypervolume after each evaluation."""
        signed = np.where(self.feasible(outcomes)[:, None], self.signed(outcomes), -np.inf)
        kept = [signed[: i + 1][np.isfinite(signed[: i + 1]).all(axis=1)] for i in range(len(signed))]
        return [hypervolume(np.maximum(points, self.reference), self.reference) for points in kept]


def _table(name: str, data: Path, kind: str, objects: Mapping[str, str], objectives: Mapping[str, str]) -> Several:
    frame = pl.read_csv(data / name / f"{name}.csv")
    if name == "redoxmers":
        frame = frame.with_columns((pl.col("absorption_nm") - 375).abs().alias("absorption off 375 nm"))
    parts = tuple(Part(column, part, tuple(frame[column].to_list())) for column, part in objects.items())
    values = frame.select(list(objectives)).to_numpy().astype(float)
    pool = Pool(name, kind, parts, values[:, 0], initial=INITIAL, budget=BUDGET)
    return Several(pool, lambda rows: values[np.asarray(rows, dtype=int)], objectives)


def _arylation(data: Path) -> Several:
    molecules = dict.fromkeys(("Base_SMILES", "Ligand_SMILES", "Solvent_SMILES"), "molecule")
    parts = {**molecules, "Concentration": "number", "Temp_C": "number"}
    return _table("arylation_cost", data, "reaction", parts, {"yield": "maximize", "cost": "minimize"})


def _redoxmers(data: Path) -> Several:
    names = ("reduction_potential_V", "solvation_energy_eV", "absorption off 375 nm")
    return _table("redoxmers", data, "molecules", {"smiles": "molecule"}, dict.fromkeys(names, "minimize"))


def _zinc(data: Path) -> Several:
    """Molecules by their drug-likeness and how easily they are made; logP has to be in a window that 4 % are in."""
    frame = pl.read_csv(data / "zinc250k" / "zinc250k.csv.gz", columns=["smiles", "logp", "qed", "sa"])
    frame = frame[np.sort(np.random.default_rng(0).choice(len(frame), MOLECULES, replace=False))]
    qed, ease, logp = (frame[column].to_numpy() for column in ("qed", "sa", "logp"))
    values = np.stack([qed, ease, WINDOW[0] - logp, logp - WINDOW[1]], axis=1)
    part = Part("smiles", "molecule", tuple(frame["smiles"].to_list()))
    pool = Pool("zinc_window", "molecules", (part,), qed, initial=INITIAL, budget=BUDGET)
    objectives = {"qed": "maximize", "sa": "minimize"}
    return Several(pool, lambda rows: values[np.asarray(rows, dtype=int)], objectives, constraints=2)


def branin_currin(x: Matrix) -> Matrix:
    """Branin's function, and Currin's:

    (1 − e^(−1/2b)) (2300 a³ + 1900 a² + 2092 a + 60) / (100 a³ + 500 a² + 4 a + 20).
    """
    a, b = x.T
    with np.errstate(divide="ignore"):
        factor = 1 - np.exp(-1 / (2 * b))
    top, bottom = 2300 * a**3 + 1900 * a**2 + 2092 * a + 60, 100 * a**3 + 500 * a**2 + 4 * a + 20
    return np.stack([branin(np.stack([15 * a - 5, 15 * b], axis=1)), factor * top / bottom], axis=1)


def _zdt(shape: Callable[[Vector, Vector], Vector]) -> Callable[[Matrix], Matrix]:
    """x₁, and g · shape(x₁, g) with g = 1 + 9 mean(x₂ …)."""

    def function(x: Matrix) -> Matrix:
        g = 1 + 9 * x[:, 1:].mean(axis=1)
        return np.stack([x[:, 0], g * shape(x[:, 0], g)], axis=1)

    return function


zdt1 = _zdt(lambda a, g: 1 - np.sqrt(a / g))
zdt2 = _zdt(lambda a, g: 1 - (a / g) ** 2)
zdt3 = _zdt(lambda a, g: 1 - np.sqrt(a / g) - a / g * np.sin(10 * np.pi * a))


def dtlz2(x: Matrix) -> Matrix:
    """Three coordinates of a point on a sphere of radius 1 + Σ (x_i − ½)², i > 2."""
    radius, a, b = 1 + np.sum((x[:, 2:] - 0.5) ** 2, axis=1), x[:, 0] * np.pi / 2, x[:, 1] * np.pi / 2
    return np.stack([radius * np.cos(a) * np.cos(b), radius * np.cos(a) * np.sin(b), radius * np.sin(a)], axis=1)


def c2_dtlz2(x: Matrix) -> Matrix:
    """A point on a circle of radius 1 + Σ (x_i − ½)², i > 1, and how far it is out of three discs of radius 0.2.

    The discs are around (1, 0), (0, 1) and (1, 1)/√2.
    """
    radius, a = 1 + np.sum((x[:, 1:] - 0.5) ** 2, axis=1), x[:, 0] * np.pi / 2
    f = np.stack([radius * np.cos(a), radius * np.sin(a)], axis=1)
    centres = np.array([[1.0, 0.0], [0.0, 1.0], [0.5**0.5, 0.5**0.5]])
    outside = ((f[:, None, :] - centres) ** 2).sum(axis=2).min(axis=1) - 0.2**2
    return np.column_stack([f, outside])


def _c2_volume() -> float:
    """Of the front of C2-DTLZ2: the unit circle's parts within the discs."""
    x = np.column_stack([np.linspace(0, 1, 20001), np.full((20001, 3), 0.5)])
    f = c2_dtlz2(x)
    return hypervolume(-f[f[:, 2] <= 0, :2], np.full(2, -1.1))


def srinivas(x: Matrix) -> Matrix:
    """2 + (a − 2)² + (b − 1)² and 9a − (b − 1)², where a² + b² ≤ 225 and a − 3b + 10 ≤ 0."""
    a, b = x.T
    outcomes = (2 + (a - 2) ** 2 + (b - 1) ** 2, 9 * a - (b - 1) ** 2, a**2 + b**2 - 225, a - 3 * b + 10)
    return np.stack(outcomes, axis=1)


def _function(
    name: str, function: Callable[[Matrix], Matrix], bounds: tuple[float, float, int], m: int, **rest: Any
) -> Several:
    low, high, d = bounds
    first = replace(
        Box(name, lambda x: function(x)[:, 0], np.full(d, float(low)), np.full(d, float(high)), 0.0, -1.0),
        initial=INITIAL,
    )
    objectives = {f"f{i + 1}": "minimize" for i in range(m)}
    return Several(first, lambda xs: function(np.asarray(xs, dtype=float)), objectives, **rest)


TASKS: Mapping[str, Callable[[Path], Several]] = {
    "arylation_cost": _arylation,
    "redoxmers": _redoxmers,
    "branin_currin": lambda data: _function("branin_currin", branin_currin, (0, 1, 2), 2, given=(18.0, 6.0)),
    # Where the front is known, so is its volume.
    "zdt1": lambda data: _function("zdt1", zdt1, (0, 1, 6), 2, given=(11.0, 11.0), most=121 - 1 / 3),
    "zdt2": lambda data: _function("zdt2", zdt2, (0, 1, 6), 2, given=(11.0, 11.0), most=121 - 2 / 3),
    # ∫ (11 − the least f₂ up to x) dx over [0, 1] and 10 times its end, by four million steps.
    "zdt3": lambda data: _function("zdt3", zdt3, (0, 1, 6), 2, given=(11.0, 11.0), most=128.7781161),
    "dtlz2": lambda data: _function("dtlz2", dtlz2, (0, 1, 6), 3, given=(1.1,) * 3, most=1.1**3 - np.pi / 6),
    "c2_dtlz2": lambda data: _function(
        "c2_dtlz2", c2_dtlz2, (0, 1, 4), 2, constraints=1, given=(1.1, 1.1), most=_c2_volume()
    ),
    "srn": lambda data: _function("srn", srinivas, (-20, 20, 2), 2, constraints=2),
    "zinc_window": _zinc,
}
