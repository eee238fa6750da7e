"""A genetic algorithm for permutations and strings: steady state, population 20."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from benchmarks.methods.base import Method
from benchmarks.methods.features import GAP, letters
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.pool import Pool
from benchmarks.tasks.qap import Assignment

POPULATION, TOURNAMENT = 20, 3
# How often a child is mutated further before the free member of the pool that is most like it takes its place.
TRIES = 200
Genome = tuple[Any, ...]
Generator = np.random.Generator


class Breed(Protocol):
    """How a task's objects are read as genomes, mixed and changed."""

    def genome(self, x: Any) -> Genome: ...

    def object(self, genome: Genome) -> Any | None:
        """The object of a genome; nothing where the pool does not hold it."""
        ...

    def nearest(self, genome: Genome, seen: set[Genome]) -> Genome:
        """The genome most like this one that the pool holds and that was not seen."""
        ...

    def cross(self, a: Genome, b: Genome, rng: Generator) -> Genome: ...

    def mutate(self, a: Genome, rng: Generator) -> Genome: ...


class Orders:
    """Permutations: order crossover, and the swap of two places."""

    def genome(self, x: Any) -> Genome:
        return tuple(x)

    def object(self, genome: Genome) -> Any:
        return genome

    def nearest(self, genome: Genome, seen: set[Genome]) -> Genome:
        raise ValueError("all permutations were measured")

    def cross(self, a: Genome, b: Genome, rng: Generator) -> Genome:
        """A slice of `a` stays; the rest follows in the order of `b`, starting behind the slice."""
        n = len(a)
        first, last = sorted(rng.choice(n + 1, 2, replace=False))
        kept = set(a[first:last])
        places = [i % n for i in range(last, last + n - len(kept))]
        rest = [g for g in (b[i % n] for i in range(last, last + n)) if g not in kept]
        child = list(a)
        for place, gene in zip(places, rest, strict=True):
            child[place] = gene
        return tuple(child)

    def mutate(self, a: Genome, rng: Generator) -> Genome:
        i, j = rng.choice(len(a), 2, replace=False)
        child = list(a)
        child[i], child[j] = child[j], child[i]
        return tuple(child)


class Letters:
    """Strings: one-point crossover, and each letter drawn anew with probability 1/length."""

    def __init__(self, task: Pool) -> None:
        self.strings = task.parts[0].values
        self.rows = {string: row for row, string in enumerate(self.strings)}
        self.alphabet = sorted({letter for string in self.strings for letter in string})
        self.table = letters(self.strings)

    def genome(self, x: Any) -> Genome:
        return tuple(self.strings[x])

    def object(self, genome: Genome) -> Any | None:
        return self.rows.get("".join(genome))

    def nearest(self, genome: Genome, seen: set[Genome]) -> Genome:
        width = self.table.shape[1]
        mismatches = np.sum(self.table != np.array((*genome, *[GAP] * width)[:width]), axis=1)
        ranked = (self.genome(row) for row in np.argsort(mismatches, kind="stable").tolist())
        return next(found for found in ranked if found not in seen)

    def cross(self, a: Genome, b: Genome, rng: Generator) -> Genome:
        cut = int(rng.integers(1, max(min(len(a), len(b)), 2)))
        return a[:cut] + b[cut:]

    def mutate(self, a: Genome, rng: Generator) -> Genome:
        return tuple(str(rng.choice(self.alphabet)) if rng.random() < 1 / len(a) else g for g in a)


@dataclass
class Genetic:
    """The best 20 measured genomes breed; a child that was measured or asked before is mutated further."""

    breed: Breed
    rng: Generator
    population: list[tuple[float, Genome]] = field(default_factory=list)
    seen: set[Genome] = field(default_factory=set)

    def tell(self, objects: Sequence[Any], scores: Vector) -> None:
        genomes = [self.breed.genome(x) for x in objects]
        self.seen.update(genomes)
        self.population += list(zip(map(float, scores), genomes, strict=True))
        self.population = sorted(self.population, key=lambda entry: -entry[0])[:POPULATION]

    def ask(self, n: int) -> list[Any]:
        return [self._child() for _ in range(n)]

    def _child(self) -> Any:
        child = self.breed.cross(self._parent(), self._parent(), self.rng)
        for _ in range(TRIES):
            child = self.breed.mutate(child, self.rng)
            if child not in self.seen and self.breed.object(child) is not None:
                break
        else:
            child = self.breed.nearest(child, self.seen)
        self.seen.add(child)
        return self.breed.object(child)

    def _parent(self) -> Genome:
        entrants = self.rng.integers(len(self.population), size=TOURNAMENT)
        return self.population[int(entrants.min())][1]


def _start(task: Task, seed: int) -> Genetic:
    breed = Letters(task) if isinstance(task, Pool) else Orders()
    return Genetic(breed, np.random.default_rng([seed, 2]))


GA = Method(
    "ga",
    lambda task: (
        "steady state, population 20, tournaments of 3, order or one-point crossover, swap or 1/length mutation"
    ),
    ("numpy",),
    lambda task: isinstance(task, Assignment) or (isinstance(task, Pool) and task.kind == "string"),
    _start,
)
