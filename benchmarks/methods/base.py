"""The protocol of a method: start on a task, then tell and ask in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.tasks.base import Task, Vector


class Optimiser(Protocol):
    """A running optimisation that maximises."""

    def tell(self, objects: Sequence[Any], scores: Vector) -> None: ...

    def ask(self, n: int) -> list[Any]: ...


class Recommending(Optimiser, Protocol):
    """One that can say, where measurements are noisy, which of them it holds for the best."""

    def recommend(self) -> Any: ...


@dataclass(frozen=True)
class Method:
    """A way to optimise: its name, its settings in words, which libraries it is, what it suits, how it starts."""

    name: str
    settings: Callable[[Task], str]
    libraries: tuple[str, ...]
    suits: Callable[[Task], bool]
    start: Callable[[Task, int], Optimiser]
