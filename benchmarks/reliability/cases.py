"""What may happen to a study, drawn from a seed: the same seed and number give the same case.

The moments at which processes run are the machine's; everything else repeats.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

DATABASES = ("sqlite", "postgresql")
WORKERS = (1, 2, 3, 4, 8, 16)
# Who the workers are and what becomes of the process that started them; the first has no study of its own.
PARENTS = ("without a study", "keeps its study", "drops its study", "writes too", "is killed")
STARTS = ("fork", "forkserver", "spawn")


@dataclass(frozen=True)
class Fate:
    """When a worker is killed: `wait` seconds after it began, or after its first acknowledgement.

    One that is spared ends by itself, while others go on.
    """

    opening: bool
    wait: float
    spared: bool


@dataclass(frozen=True)
class Wave:
    """Processes that run together: how each worker ends, and when the parent and the server die (in seconds)."""

    seed: int
    fates: tuple[Fate, ...]
    parent_wait: float
    server_waits: tuple[float, ...]
    visits: tuple[float, ...]


@dataclass(frozen=True)
class Case:
    """One study's life: where it is kept, who writes it how, and the waves of processes that are killed.

    `inherited`: forked workers use their parent's study rather than open it. `reopen`: a worker drops its study after
    so many tells and opens it again; 0 for never. `modelled`: asks come from a model, not from the initial design.
    """

    seed: int
    number: int
    database: str
    level: str
    workers: int
    start: str
    parent: str
    inherited: bool
    reopen: int
    lease: float | None
    modelled: bool
    waves: tuple[Wave, ...]

    @property
    def server_dies(self) -> bool:
        return any(wave.server_waits for wave in self.waves)

    @property
    def name(self) -> str:
        return f"{self.seed}/{self.number}"


def draw(seed: int, number: int) -> Case:
    """The case of that number. Databases and levels take turns.

    >>> draw(0, 5) == draw(0, 5)
    True
    """
    rng = random.Random(f"{seed}/{number}")
    database = DATABASES[number % 2]
    level = ("study", "storage")[number // 2 % 2]
    workers, parent = rng.choice(WORKERS), rng.choice(PARENTS)
    # A fresh interpreter takes half a second to begin, so that most are forked.
    start = rng.choices(STARTS, (0.8, 0.1, 0.1))[0]
    inherited = start == "fork" and parent != "without a study" and rng.random() < 0.5
    study = level == "study"
    server = database == "postgresql" and rng.random() < 0.3
    return Case(
        seed=seed,
        number=number,
        database=database,
        level=level,
        workers=workers,
        start=start,
        parent=parent,
        inherited=inherited,
        reopen=rng.choice((0, 0, 1, 5)),
        lease=2.0 if study and rng.random() < 0.15 else None,
        modelled=study and rng.random() < 0.15,
        waves=tuple(_wave(rng, workers, server) for _ in range(rng.randint(1, 3))),
    )


def _wave(rng: random.Random, workers: int, server: bool) -> Wave:
    fates = tuple(_fate(rng) for _ in range(workers + rng.randint(0, 2 * workers)))
    return Wave(
        seed=rng.getrandbits(32),
        fates=fates,
        parent_wait=rng.uniform(0.0, 0.8),
        server_waits=tuple(rng.uniform(0.1, 0.8) for _ in range(rng.randint(1, 2))) if server else (),
        visits=tuple(rng.uniform(0.0, 0.6) for _ in range(rng.choice((0, 0, 1, 3)))),
    )


def _fate(rng: random.Random) -> Fate:
    opening = rng.random() < 0.4
    return Fate(opening, rng.uniform(0.0, 0.1 if opening else 0.4), rng.random() < 0.1)
