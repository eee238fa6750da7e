"""A pool on a Dask cluster gives the answers of a pool at hand, with two workers, with four, and when some are lost.

Real clusters live in processes of their own, which are simply ended: a cluster whose workers were killed does not
always close in peace. A cluster in the mind, whose workers die whenever they like, serves for the law.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.search.pool.cluster import ATTEMPTS, ClusterPartitions
from likewise.search.pool.exhaustive import ExhaustiveSearch

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

PATIENCE = 150
PRELUDE = """
import json, logging, os, signal, sys
import numpy as np
import likewise as lw

def words(n, length):
    rng = np.random.default_rng(0)
    return list(dict.fromkeys("".join(letters) for letters in rng.choice(list("ACGT"), size=(n, length))))

def study_of(objects, similarity, client, **options):
    return lw.Study(lw.Pool(objects, client=client), similarity, **options)

def story(study, rounds, n, accident=lambda: None):
    '''What is asked, round for round; the last of each batch fails; there is an accident in the middle.'''
    asked = []
    for number in range(rounds):
        found = study.ask(n)
        asked.append([s.object for s in found])
        for s in found[:-1]:
            study.tell(s, str(s.object).count("A") + 0.1 * len(asked))
        study.fail(found[-1])
        if number == rounds // 2:
            accident()
    return asked

def equal(x, y):
    return 1.0 if x == y else 0.5

def both(client, objects, similarity, rounds, n, accident=lambda: None, **options):
    near = story(study_of(objects, similarity, None, **options), rounds, n)
    far = story(study_of(objects, similarity, client, **options), rounds, n, accident)
    print(json.dumps([near, far]), flush=True)

def cluster(n):
    from distributed import Client, LocalCluster
    return Client(LocalCluster(
        n_workers=n, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
    ))
"""

TWO = """
client = cluster(2)

def rich(word):
    cost = float(np.exp(0.5 * word.count("G")))
    return {"rich": word.count("A") + 0.5 * word.count("AC"), "cost": cost, "odd": float(word.count("T"))}

def outcomes(client, seed):
    pool = lw.Pool(words(400, 8), client=client)
    goals = {"rich": "maximize", "cost": "minimize"}
    limits = {"odd": lw.AtMost(3.0)}
    study = lw.Study(pool, [lw.NGrams(3), lw.Hamming()], objectives=goals, constraints=limits, initial=8, seed=seed)
    asked = []
    for number in range(3):
        found = study.ask(4)
        asked.append([s.object for s in found])
        # The last of each batch has one of its outcomes alone.
        for s in found[:-1]:
            study.tell(s, rich(s.object))
        study.tell(found[-1], {"cost": rich(found[-1].object)["cost"]})
    return asked

print(json.dumps([outcomes(None, 0), outcomes(client, 0)]), flush=True)
several = [lw.NGrams(3), lw.Hamming()]

def kill():
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)

both(client, words(300, 8), several, 5, 3, initial=4, seed=1)
both(client, words(300, 8), several, 6, 3, kill, initial=4, seed=2)

study = study_of(["ACGT"] + 60 * ["TTTT"] + [f"AC{i}" for i in range(60)] + [5], lw.NGrams(3), client, initial=1)
study.tell("ACGT", 1.0)
try:
    study.ask()
except lw.SimilarityError as error:
    print(json.dumps(str(error)), flush=True)
os._exit(0)
"""

FOUR = """
client = cluster(4)
for seed in (0, 1):
    both(client, list(range(60)), equal, 3, 4, initial=1, seed=seed)
both(client, words(18_000, 10), lw.Hamming(), 3, 5, initial=2, acquisition=lw.UpperConfidence())
both(client, ["A", "B", "CA"], equal, 2, 2, initial=1)
os._exit(0)
"""


def output(script: str) -> list[Any]:
    done = subprocess.run([sys.executable, "-c", PRELUDE + script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def flat(asked: list[list[Any]]) -> list[Any]:
    return [x for batch in asked for x in batch]


def test_two_workers_answer_as_one_machine_also_when_one_is_killed_between_two_asks() -> None:
    """Of one outcome and of several."""
    *stories, complaint = output(TWO)
    assert len(stories) == 3
    for near, far in stories:
        assert near == far
        assert len(set(flat(far))) == len(flat(far))
    assert complaint.startswith("object 62 is not a string")


def test_four_workers_answer_as_one_machine_with_ties_and_with_pools_smaller_than_they_are() -> None:
    *stories, (near, far) = output(FOUR)
    assert all(ours == theirs for ours, theirs in stories)
    assert flat(stories[0][0]) != flat(stories[1][0])
    assert near == far
    assert sorted(flat(far)) == ["A", "B", "CA"]


@dataclass(eq=False)
class Imagined:
    """A future of the imagined cluster: done at once, lost with its worker."""

    worker: str
    cluster: Cluster
    value: Any = None

    @property
    def status(self) -> str:
        return "finished" if self.worker in self.cluster.alive else "pending"

    def result(self, timeout: float) -> Any:
        return self.value

    def cancel(self) -> None:
        pass


@dataclass(eq=False)
class Cluster:
    """Four imagined workers; before each task some may die, as told, and come back under another name."""

    deaths: list[int]
    alive: dict[str, int] = field(default_factory=lambda: {f"{i}": 1 for i in range(4)})
    tasks: int = 0

    def nthreads(self) -> dict[str, int]:
        return dict(self.alive)

    def scatter(self) -> None:
        """Named, not used: what is scattered is lost with its worker."""

    def submit(self, function: Any, *arguments: Any, workers: list[str] | None = None, pure: bool) -> Imagined:
        (worker,) = workers or [next(iter(self.alive))]
        given = [x.value if isinstance(x, Imagined) else x for x in arguments]
        self.tasks += 1
        future = Imagined(worker, self, function(*given) if worker in self.alive else None)
        if self.tasks in self.deaths:
            del self.alive[next(iter(self.alive))]
            self.alive[f"{self.tasks} again"] = 1
        return future


def asked(client: Any) -> list[list[int]]:
    pool = lw.Pool(list(range(40)), client=client)
    study = lw.Study(pool, lambda x, y: 1.0 / (1.0 + abs(x - y)), initial=1)
    found = []
    for _ in range(3):
        batch = study.ask(2)
        found.append([s.object for s in batch])
        for s in batch:
            study.tell(s, -abs(s.object - 30.0))
    return found


@pytest.fixture
def _imagined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "wait", lambda *_, **__: None)
    monkeypatch.setattr("likewise.search.pool.cluster.PAUSE", 0.0)


@pytest.mark.usefixtures("_imagined")
@settings(max_examples=10)
@given(st.lists(st.integers(1, 30), max_size=ATTEMPTS - 1))
def test_whoever_dies_and_whenever_the_answer_is_the_same(deaths: list[int]) -> None:
    assert asked(Cluster(deaths)) == asked(None)


@pytest.mark.usefixtures("_imagined")
def test_a_pool_that_loses_every_worker_it_gets_says_so() -> None:
    with pytest.raises(lw.StudyError, match="rows 0 to 10 of the pool lost their worker"):
        asked(Cluster(list(range(1, 200))))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(1, 12), st.integers(0, 11))
def test_parts_are_spread_over_threads_and_follow_workers_that_come(threads: list[int], parts: int, lost: int) -> None:
    """No worker could hand a part to another and both have less to do than it has."""
    cluster = Cluster([], {f"{i}": n for i, n in enumerate(threads)})
    spread = ClusterPartitions(cluster, range(parts), list(range(parts + 1)))
    for _ in range(2):
        spread._level(cluster.alive)
        for i in range(parts):
            spread._place(i, cluster.alive)
        load = spread._load()
        assert sum(load.values()) == parts
        busiest = max(load[name] / n for name, n in cluster.alive.items())
        assert all((load[name] + 1) / n >= busiest for name, n in cluster.alive.items())
        cluster.alive = {f"{name} again" if name == str(lost) else name: n for name, n in cluster.alive.items()}


def test_other_clients_are_refused() -> None:
    class Asynchronous:
        asynchronous = True
        scatter = None

    for client in (Asynchronous(), np.random):
        with pytest.raises(lw.SpaceError, match=r"distributed\.Client"):
            lw.Pool([1, 2], client=client)


@pytest.mark.usefixtures("_imagined")
@pytest.mark.parametrize("deaths", [[], [3, 9]])
def test_a_cluster_is_ready_once_and_names_what_it_cannot_compare(deaths: list[int]) -> None:
    words: list[Any] = [f"{i:02d}" for i in range(40)]
    words[25] = 25.0
    client = Cluster(deaths)
    for exclude in ([], [25.0]):
        pool = lw.Pool(words, client=client, exclude=exclude)
        search = ExhaustiveSearch.over(pool, pool.key)
        if exclude:
            search.ready([lw.Hamming()])
            tasks = client.tasks
            search.ready([lw.Hamming()])
            assert client.tasks == tasks
        else:
            with pytest.raises(lw.SimilarityError, match=r"^object 25 is not a string.*exclude="):
                search.ready([lw.Hamming()])
