"""Version 0.1 of likewise, for comparison: its source, a checkout, comes first on the path."""

from __future__ import annotations

from typing import Any

import numpy as np

import likewise as lw
from benchmarks.methods.base import Method, Recommending
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.box import Box
from benchmarks.tasks.mixed import Field, Mixed, Range


class EarlierStudy:
    """A study of version 0.1: numbers of a record are vectors of one, and the best measurement is recommended."""

    def __init__(self, task: Box | Mixed, seed: int) -> None:
        self.fields = task.fields if isinstance(task, Mixed) else None
        self.study = lw.Study(_space(task), seed=seed)
        self.asked: list[Any] = []

    def tell(self, objects: list[Any], scores: Vector) -> None:
        for what, score in zip(self.asked or map(self._seen, objects), scores, strict=True):
            self.study.tell(what, float(score))
        self.asked = []

    def ask(self, n: int) -> list[Any]:
        self.asked = self.study.ask(n)
        return [self._known(suggestion.object) for suggestion in self.asked]

    def recommend(self) -> Any:
        best: Any = self.study.best
        return self._known(getattr(best, "object", best))

    def _seen(self, x: Any) -> Any:
        if self.fields is None:
            return x
        return {name: np.array([x[name]]) if isinstance(f, Range) else x[name] for name, f in self.fields.items()}

    def _known(self, x: Any) -> Any:
        if self.fields is None:
            return x
        return {name: float(x[name][0]) if isinstance(f, Range) else x[name] for name, f in self.fields.items()}


def _space(task: Box | Mixed) -> Any:
    if isinstance(task, Box):
        return lw.Box(task.lower, task.upper)
    return lw.Record(**{name: _part(field) for name, field in task.fields.items()})


def _part(field: Field) -> Any:
    if not isinstance(field, Range):
        return list(field)
    return lw.Box([field.low], [field.high], log=[0] if field.log else [], integer=[0] if field.whole else [])


def _start(task: Task, seed: int) -> Recommending:
    assert isinstance(task, Box | Mixed)
    return EarlierStudy(task, seed)


EARLIER = Method(
    "likewise-0.1",
    lambda task: "Study(space), version 0.1",
    ("numpy", "scipy"),
    lambda task: isinstance(task, Box | Mixed),
    _start,
)
