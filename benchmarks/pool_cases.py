"""What benchmarks.pools measures, one case to a process, so that their peaks of memory do not mix.

A case takes options and returns figures, both JSON. All models have fixed parameters: one Tanimoto similarity, no warp,
a noise of 1 % of the amplitude, and the amplitude that likewise finds in closed form, which the peer is given too.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from os import environ
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import likewise as lw
from benchmarks.tasks.catalogue import data_folder
from likewise.model.fit import FitSettings
from likewise.similarity.features import packed_sizes
from likewise.similarity.kinds.sets import Sets

RATIO = 0.01
FIXED = FitSettings(warps=(1.0,), ratios=(RATIO,), mixes=False, learn=False, offset=0.0, rescale=False)
WORDS = 32
PARENTS = 20_000
Figures = dict[str, Any]


def measured(name: str, threads: int = 1, **options: Any) -> Figures:
    """The figures of a case, run in a process of its own with that many threads of BLAS."""
    # NumPy comes first, or the package would set it to one thread.
    command = "import numpy; from benchmarks.pool_cases import run; run()"
    own = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", command, name],
        input=json.dumps(options),
        env={**environ, **own},
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"the case {name} has ended with code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def run() -> None:
    """The case of the command line with the options of the input; figures go to the last line of the output."""
    figures = CASES[sys.argv[1]](**json.load(sys.stdin))
    print(json.dumps({**figures, "peak_rss": peak()}))


def peak() -> int:
    """The most memory this process has held, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def timed(action: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of an action: on the clock, and on the processors."""
    before = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - before[0], time.process_time() - before[1]


def medians(rounds: Sequence[tuple[float, float]]) -> list[float]:
    return [median(column) for column in zip(*rounds, strict=True)]


def zinc(rows: int, columns: Sequence[str] = ("smiles", "penalized_logp")) -> list[list[Any]]:
    """The first molecules of the table, and their values."""
    import polars as pl

    path = data_folder() / "zinc250k" / "zinc250k.csv.gz"
    if not path.exists():
        raise SystemExit(f"{path} is not there; set LIKEWISE_BENCHMARK_DATA to the folder of the tables")
    frame = pl.read_csv(path, columns=list(columns)).unique(columns[0], maintain_order=True).head(rows)
    return [frame[column].to_list() for column in columns]


@dataclass(frozen=True)
class Stored(lw.Tanimoto):
    """Tanimoto of fingerprints that stand in a file; an object is the text of its row number."""

    path: str = ""

    def encode(self, objects: Sequence[Any]) -> Sets:
        rows = np.array([int(x) for x in objects], dtype=np.int64)
        if len(rows) > 1 and (np.diff(rows) == 1).all():
            # Read, not mapped: mapped pages would count as memory of this process a second time.
            bits = np.fromfile(self.path, np.uint64, len(rows) * WORDS, offset=8 * WORDS * int(rows[0]))
            bits = bits.reshape(-1, WORDS)
        else:
            bits = np.array(np.memmap(self.path, np.uint64, "r").reshape(-1, WORDS)[rows])
        return bits, packed_sizes(bits)


def synthetic(n: int, path: str) -> Figures:
    """Writes fingerprints at ZINC's bit density: every word of 64 bits is that of one of two random molecules."""
    (smiles,) = zinc(PARENTS, ["smiles"])
    bits, sizes = lw.Tanimoto().encode(smiles)
    rng = np.random.default_rng(0)
    with Path(path).open("wb") as file:
        for start in range(0, n, PARENTS):
            count = min(PARENTS, n - start)
            parents = bits[rng.integers(len(bits), size=(2, count))]
            np.where(rng.random((count, WORDS)) < 0.5, *parents).tofile(file)
    return {"bits_set": float(sizes.mean())}


Values = Callable[[list[int]], Any]


def started(
    objects: Sequence[str], similarity: lw.Similarity, values: Values, told: int, client: Any = None
) -> lw.Study:
    """A study of this pool with fixed parameters and that many random observations."""
    study = lw.Study(lw.Pool(objects, client=client), similarity, initial=1)
    study._proposer.inner.model.settings = FIXED
    rows = np.random.default_rng(1).choice(len(objects), size=told, replace=False).tolist()
    for row, value in zip(rows, values(rows), strict=True):
        study.tell(objects[row], float(value))
    return study


def asks(study: lw.Study, n: int, value: Callable[[Any], float]) -> Iterator[tuple[float, float]]:
    """Seconds of telling `n` values and asking for `n` objects, again and again; the first ask is not among them."""
    found = study.ask(n)

    def step() -> None:
        nonlocal found
        for one in found:
            study.tell(one, value(one.object))
        found = study.ask(n)

    while True:
        yield timed(step)


def ask_zinc(rows: int, told: int, repeats: int) -> Figures:
    """likewise on ZINC: encoding, the first ask, and asks after a tell; with the state of the last one for a peer."""
    smiles, numbers = zinc(rows)
    place = {text: i for i, text in enumerate(smiles)}
    study = started(smiles, lw.Tanimoto(), lambda index: [numbers[i] for i in index], told)
    steps = asks(study, 1, lambda x: numbers[place[x]])
    first = timed(lambda: next(steps))
    rounds = [next(steps) for _ in range(repeats)]
    open_one = next(t for t in study.trials if t.state is lw.State.ASKED)
    committee = study.committee()
    member = committee.members[0]
    return {
        "seconds": medians(rounds),
        "first": first,
        "observed": [place[x] for x in committee.grams[0].objects],
        "values": member.regression.values.tolist(),
        "amplitude": member.regression.amplitude,
        "pick": place[open_one.object],
    }


@dataclass
class Stopwatch:
    """Seconds spent inside a method, over all its calls."""

    total: tuple[float, float] = (0.0, 0.0)

    def on(self, owner: Any, name: str) -> None:
        method = getattr(owner, name)

        def watched(*given: Any) -> Any:
            results: list[Any] = []
            taken = timed(lambda: results.append(method(*given)))
            self.total = self.total[0] + taken[0], self.total[1] + taken[1]
            return results[0]

        setattr(owner, name, watched)

    def read(self) -> tuple[float, float]:
        """The seconds since the last reading."""
        total, self.total = self.total, (0.0, 0.0)
        return total


def of_bits(similarity: Stored) -> Values:
    """A value for each fingerprint: a random linear function of its bits."""
    weights = np.random.default_rng(2).normal(size=64 * WORDS)

    def values(rows: list[int]) -> NDArray[np.float64]:
        bits, _ = similarity.encode([str(row) for row in rows])
        return np.unpackbits(bits.view(np.uint8), axis=1) @ weights

    return values


def ask_synthetic(path: str, n: int, told: int, batch: int, repeats: int, read: bool = False) -> Figures:
    """likewise on stored fingerprints; `read` compares with a sum over a matrix of the same size, in turn."""
    from likewise.search.pool.exhaustive import Partition

    similarity = Stored(path=path)
    values = of_bits(similarity)
    # So many are told when the last round ends, and the peak is taken.
    study = started([f"{i}" for i in range(n)], similarity, values, told - batch * (repeats + 1))
    columns = Stopwatch()
    columns.on(Partition, "_prepare")
    steps = asks(study, batch, lambda x: float(values([int(x)])[0]))
    first = timed(lambda: next(steps))
    columns.read()
    found: Figures = {"first": first, "rounds": [next(steps) for _ in range(repeats)], "peak": peak()}
    found["seconds"] = medians(found.pop("rounds"))
    return {**found, **_reading(steps, columns, n, told, repeats)} if read else found


def _reading(steps: Iterator[tuple[float, float]], columns: Stopwatch, n: int, told: int, repeats: int) -> Figures:
    """Asks and readings in turn; `without` is an ask without the time it spent on new columns."""
    matrix = np.zeros((n, told), dtype=np.float32)
    matrix.fill(0.5)
    columns.read()
    rounds = [(next(steps), columns.read(), timed(matrix.sum)) for _ in range(repeats)]
    without = [(whole[0] - part[0], whole[1] - part[1]) for whole, part, _ in rounds]
    return {
        "seconds": medians([whole for whole, _, _ in rounds]),
        "without": medians(without),
        "read": medians([reading for _, _, reading in rounds]),
    }


def ask_words(told: int, batch: int, seed: int) -> Figures:
    """One ask for a batch among all DNA words of eight letters, everything learnt, after so many observations."""
    words = ["".join(letters) for letters in product("ACGT", repeat=8)]

    def value(x: str) -> float:
        chance = int(hashlib.md5(x.encode()).hexdigest()[:8], 16) / 2**32
        return sum(a == b for a, b in zip(x, "ACGTTGCA", strict=True)) + 0.5 * x.count("GC") + 0.2 * chance

    study = lw.Study(lw.Pool(words), seed=seed)
    for row in np.random.default_rng(seed).choice(len(words), told - batch, replace=False).tolist():
        study.tell(words[row], value(words[row]))
    steps = asks(study, batch, value)
    seconds = next(steps)
    picks = [trial.object for trial in study.trials if trial.state is lw.State.ASKED]
    return {"seconds": seconds, "mixes": len({member.mix for member in study.committee().members}), "picks": picks}


def ask_dask(path: str, n: int, told: int, batch: int, repeats: int, workers: int) -> Figures:
    """The same on a cluster of processes on this machine; sizes are those of pickles, seconds those on the clock."""
    import logging
    import pickle

    from distributed import Client, LocalCluster

    from likewise.search.pool.cluster import ClusterPartitions

    sizes: dict[str, list[int]] = {"question": [], "contenders": [], "entries": []}
    send, answers = ClusterPartitions._pieces, ClusterPartitions._answers

    def sent(self: Any, value: Any, **where: Any) -> Any:
        if not where:
            sizes["question"].append(len(pickle.dumps(value)))
        return send(self, value, **where)

    def answered(self: Any, message: str, *rest: Any) -> Any:
        found = answers(self, message, *rest)
        sizes[message].append(len(pickle.dumps(found)))
        return found

    ClusterPartitions._pieces, ClusterPartitions._answers = sent, answered  # type: ignore[method-assign]
    similarity = Stored(path=path)
    values = of_bits(similarity)
    with (
        LocalCluster(workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL) as cluster,
        Client(cluster) as client,
    ):
        study = started([f"{i}" for i in range(n)], similarity, values, told, client)
        steps = asks(study, batch, lambda x: float(values([int(x)])[0]))
        first = timed(lambda: next(steps))
        rounds = [next(steps) for _ in range(repeats)]
        peaks = list(client.run(peak).values())
    found = {name: median(column) for name, column in sizes.items()}
    return {"first": first, "seconds": medians(rounds), "bytes": found, "worker_peaks": peaks}


def botorch(rows: int, state: Figures, chunk: int, joint: bool, tried: Sequence[int], whole: bool) -> Figures:
    """BoTorch over the same pool with the same parameters: log-EI, or joint posteriors and log-EI of each."""
    import torch

    from benchmarks.methods.botorch_large import fixed_model, log_ei

    (smiles,) = zinc(rows, ["smiles"])
    words = lw.Tanimoto().encode(smiles)[0]
    bits = torch.from_numpy(np.unpackbits(words.view(np.uint8), axis=1))
    values, amplitude = torch.tensor(state["values"], dtype=torch.double), state["amplitude"]

    def model() -> Any:
        return fixed_model(bits[state["observed"]].double(), values, amplitude, RATIO * amplitude)

    def scores(part: Any, fresh: Any) -> Any:
        return torch.cat([log_ei(fresh, piece.double(), values.max(), joint) for piece in part.split(chunk)])

    trial = {}
    for count in tried:
        torch.set_num_threads(count)
        fresh = model()
        scores(bits[:100], fresh)
        trial[count] = min(timed(lambda fresh=fresh: scores(bits[:chunk], fresh)) for _ in range(2))
    best = min(tried, key=lambda count: trial[count][0])
    torch.set_num_threads(best)
    found: Figures = {"threads": best, "one_chunk": trial}
    if whole:
        kept: list[Any] = []
        found["seconds"] = timed(lambda: kept.append(scores(bits, model())))
        kept[0][state["observed"]] = -np.inf
        found["pick"], found["score"] = int(kept[0].argmax()), float(kept[0].max())
        found["score_of_their_pick"] = float(kept[0][state["pick"]])
    return found


def encode(rows: int, processes: int, repeats: int) -> Figures:
    """Fingerprints by likewise and by RDKit's bulk generator (in threads of its own, in processes), in turn.

    Seconds on the processors count those of the processes that were started.
    """
    (smiles,) = zinc(rows, ["smiles"])
    pool, similarity = lw.Pool(smiles, processes=processes), lw.Tanimoto()
    size = -(-rows // processes)
    parts = [smiles[i : i + size] for i in range(0, rows, size)]

    def by_processes() -> None:
        with ProcessPoolExecutor(processes) as executor:
            list(executor.map(_bulk, parts))

    ways: dict[str, Callable[[], Any]] = {
        "likewise": lambda: list(pool.encodings([similarity])),
        "RDKit, threads": lambda: _bulk(smiles, processes),
    }
    if processes > 1:
        ways["RDKit, processes"] = by_processes
    _bulk(smiles[:2000])
    rounds = [[_with_children(way) for way in ways.values()] for _ in range(repeats)]
    return {"rows": rows} | {name: medians([one[i] for one in rounds]) for i, name in enumerate(ways)}


def _with_children(action: Callable[[], Any]) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock, own = timed(action)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, own + after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _bulk(smiles: Sequence[str], threads: int = 1) -> bytes:
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import BitVectToBinaryText

    generator = GetMorganGenerator(radius=2, fpSize=64 * WORDS)
    found = generator.GetFingerprints([MolFromSmiles(text) for text in smiles], threads)
    return b"".join(map(BitVectToBinaryText, found))


CASES: dict[str, Callable[..., Figures]] = {
    "synthetic": synthetic,
    "ask_zinc": ask_zinc,
    "ask_synthetic": ask_synthetic,
    "ask_words": ask_words,
    "ask_dask": ask_dask,
    "botorch": botorch,
    "encode": encode,
}
