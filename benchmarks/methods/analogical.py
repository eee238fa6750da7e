"""likewise, as a user would call it, and the paper's method as printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.methods import OURS
from benchmarks.methods.base import Method
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.box import Box, Gaussian
from benchmarks.tasks.families import Members
from benchmarks.tasks.mixed import Field, Mixed, Range
from benchmarks.tasks.pool import Pool
from benchmarks.tasks.qap import Assignment
from likewise.similarity.algebra import fixed
from likewise.similarity.catalogue import of_records, usual_lengthscale
from likewise.similarity.kinds.sets import Equal

Options = Callable[[Task], Mapping[str, Any]]


class StudyOptimiser:
    """A study over the task's space, told every object under the suggestion that it came from."""

    def __init__(self, task: Task, seed: int, options: Mapping[str, Any]) -> None:
        self.face = face(task)
        self.study = lw.Study(self.face.space, seed=seed, **options)
        self.asked: list[Any] = []

    def tell(self, objects: Sequence[Any], scores: Vector) -> None:
        told = self.asked or [self.face.seen(x) for x in objects]
        for what, score in zip(told, scores, strict=True):
            self.study.tell(what, float(score))
        self.asked = []

    def ask(self, n: int) -> list[Any]:
        self.asked = self.study.ask(n)
        return [self.face.known(suggestion.object) for suggestion in self.asked]

    def recommend(self) -> Any:
        (best,) = self.study.recommend()
        return self.face.known(best.object)


class Plain:
    """Objects that are the same on both sides."""

    def __init__(self, space: Any) -> None:
        self.space = space

    def seen(self, x: Any) -> Any:
        return x

    def known(self, x: Any) -> Any:
        return x


class Orders(Plain):
    """Permutations, as tuples on this side."""

    def known(self, x: Any) -> tuple[int, ...]:
        return tuple(int(i) for i in x)


class PoolMembers(Plain):
    """Members of a pool, known here by their rows."""

    def __init__(self, task: Pool) -> None:
        self.objects = members(task)
        super().__init__(lw.Pool(self.objects))

    def seen(self, x: int) -> Any:
        return self.objects[x]

    def known(self, x: Any) -> int:
        return int(self.space.index(x))


class Distributions(Plain):
    """Diagonal Gaussians, known here by their parameters (μ, σ²)."""

    def __init__(self, task: Gaussian) -> None:
        d = task.omega_dimension
        self.d = d
        super().__init__(lw.Gaussians((task.lower[:d], task.upper[:d]), (task.lower[d:], task.upper[d:])))

    def seen(self, x: Vector) -> Any:
        return lw.Gaussian(x[: self.d], x[self.d :])

    def known(self, x: Any) -> Vector:
        return np.concatenate([x.mean, x.variance])


class OfFamily(Plain):
    """Distributions of any kind, known here by their numbers."""

    def __init__(self, task: Members) -> None:
        self.task = task
        super().__init__(task.space)

    def seen(self, x: Vector) -> Any:
        return self.task.members([x])[0]

    def known(self, x: Any) -> Vector:
        return self.space.to_numbers([x])[0]


def face(task: Task) -> Plain:
    """The task's space, and its objects as likewise sees them."""
    if isinstance(task, Members):
        return OfFamily(task)
    if isinstance(task, Gaussian):
        return Distributions(task)
    if isinstance(task, Box):
        return Plain(lw.Box(task.lower, task.upper))
    if isinstance(task, Mixed):
        return Plain(lw.Record(**{name: _part(field) for name, field in task.fields.items()}))
    if isinstance(task, Pool):
        return PoolMembers(task)
    assert isinstance(task, Assignment)
    return Orders(lw.Permutations(task.n))


def _part(field: Field) -> Any:
    """A field of a record, as a user would write it."""
    if not isinstance(field, Range):
        return list(field)
    return lw.Int(int(field.low), int(field.high)) if field.whole else lw.Float(field.low, field.high, log=field.log)


def members(task: Pool) -> list[Any]:
    """The objects of a pool: texts as they are, vectors and series as arrays, the rest as records."""
    if task.kind in ("molecules", "string"):
        return list(task.parts[0].values)
    if task.kind == "series":
        return [np.array(values) for values in task.parts[0].values]
    rows = zip(*[part.values for part in task.parts], strict=True)
    if task.kind in ("vector", "composition"):
        return [np.array(row) for row in rows]
    names = [part.name for part in task.parts]
    return [dict(zip(names, row, strict=True)) for row in rows]


def own(name: str, settings: str, options: Options, suits: Callable[[Task], bool] = lambda task: True) -> Method:
    """A method that is a study with some options."""
    return Method(
        name,
        lambda task: settings,
        ("likewise", "numpy", "scipy"),
        suits,
        lambda task, seed: StudyOptimiser(task, seed, options(task)),
    )


def _gaussian(task: Task) -> bool:
    return isinstance(task, Gaussian)


def _constant_kl(task: Task) -> Any:
    """const − D_SYM, the paper's own, with the constant that keeps it non-negative."""
    return lw.SymmetricKL(constant=face(task).space.divergence_bound())


def _paper(task: Task) -> Mapping[str, Any]:
    return {"method": lw.Paper(strategy="top"), "similarity": _similarity(task)}


def _similarity(task: Task) -> Any:
    """The one similarity of the paper's method: its own for distributions, the usual one elsewhere."""
    if isinstance(task, Gaussian):
        return _constant_kl(task)
    if isinstance(task, Box):
        # The paper names no lengthscale; this is the one that `auto` begins with, in the units of the task.
        return lw.RBF(usual_lengthscale(len(task.lower)) * (np.asarray(task.upper) - np.asarray(task.lower)))
    if isinstance(task, Pool) and task.kind == "molecules":
        return lw.Tanimoto()
    return lw.Hamming()


def _has_paper(task: Task) -> bool:
    return isinstance(task, Box) or (isinstance(task, Pool) and task.kind in ("molecules", "string"))


def _auto(task: Task) -> str:
    """The settings of likewise, with what it sees of molecules."""
    seen = {"molecules": "counts of Morgan features, MACCS keys, 13 RDKit descriptors"}
    seen["reaction"] = "of each molecule counts of Morgan features, and which one it is"
    kind = task.kind if isinstance(task, Pool) else ""
    return "Study(space, similarity='auto'), defaults" + (f"; sees {seen[kind]}" if kind in seen else "")


def _fingerprints(task: Task) -> Mapping[str, Any]:
    """Tanimoto of the bits that BoTorch sees; in a reaction, in place of every molecule's own similarity."""
    assert isinstance(task, Pool)
    if task.kind == "molecules":
        return {"similarity": lw.Tanimoto()}
    similarities = {"molecule": lw.Tanimoto(), "number": fixed(lw.RBF(usual_lengthscale(1))), "category": Equal()}
    changing = [part for part in task.parts if len(set(part.values)) > 1]
    return {"similarity": list(of_records({part.name: (similarities[part.kind],) for part in changing}))}


def _has_molecules(task: Task) -> bool:
    return isinstance(task, Pool) and any(part.kind == "molecule" for part in task.parts)


LIKEWISE = replace(own(OURS, "", lambda task: {}), settings=_auto)
FINGERPRINTS = own(
    "likewise-fingerprints",
    "similarity=Tanimoto() on Morgan bits (radius 2, 2,048), in reactions for each molecule",
    _fingerprints,
    _has_molecules,
)
PAPER = own(
    "paper",
    "method=Paper(strategy='top'): one similarity (constant − D_SYM, RBF, Tanimoto or Hamming) with fixed parameters, "
    "σ² = 0.01, values as they are, unit steps from every observation in the objects' own units, u₂ with κ = 2",
    _paper,
    _has_paper,
)
SEQUENTIAL = own("likewise-sequential", "strategy=Sequential()", lambda task: {"strategy": lw.Sequential()})
TWO_STAGE = own("likewise-twostage", "strategy=TwoStage()", lambda task: {"strategy": lw.TwoStage()})
TOP_SCORE = own("likewise-topscore", "strategy=TopScore()", lambda task: {"strategy": lw.TopScore()})
KL = own(
    "likewise-kl",
    "similarity=SymmetricKL(constant=…), spectrum='as_is'",
    lambda task: {"similarity": _constant_kl(task), "spectrum": "as_is"},
    _gaussian,
)


def _alone(name: str, similarity: Callable[[], lw.Similarity]) -> Method:
    """One similarity of Gaussians and no committee."""
    return own(name, f"similarity={similarity().name}()", lambda task: {"similarity": similarity()}, _gaussian)


EMBEDDING = _alone("likewise-embedding", lw.GaussianEmbedding)
BHATTACHARYYA = _alone("likewise-bhattacharyya", lw.Bhattacharyya)
WASSERSTEIN = _alone("likewise-wasserstein", lw.Wasserstein2)
