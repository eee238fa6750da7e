"""Runs on a Dask cluster of two processes, with evaluations that fail, are stuck, or lose their worker.

Each cluster lives in a process of its own, which is simply ended: a cluster whose workers were killed does not always
close in peace.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import likewise as lw

pytest.importorskip("distributed", reason="distributed is not installed")

# Clusters on two busy cores may take their time.
PATIENCE = 600
pytestmark = pytest.mark.timeout(700)

PRELUDE = """
import json, logging, os, signal, sys, time
from pathlib import Path
import dask
from distributed import Client, LocalCluster
import likewise as lw
from likewise.run import loop
from likewise.run.runners import DaskRunner

mark = Path(sys.argv[1])
url = f"sqlite:///{sys.argv[1]}.db"

def study_of(n, **options):
    return lw.Study(lw.Pool(list(range(n))), lambda x, y: 1.0 / (1.0 + abs(x - y)), initial=n, **options)

def show(study):
    print(json.dumps([(t.object, t.state.value, t.value, t.error) for t in study.trials]), flush=True)

# An evaluation that kills its worker is tried once more.
dask.config.set({"distributed.scheduler.allowed-failures": 1})
cluster = LocalCluster(
    n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
)
client = Client(cluster)
"""

PEACEFUL = """
def inverse(x):
    time.sleep(0.05)
    return 1 / (x - 3)

def who(x):
    time.sleep(0.2)
    return os.getpid()

study = study_of(10)
study.optimize(inverse, budget=10, executor=client)
show(study)
study = study_of(8)
study.optimize(who, budget=8, executor=client)
show(study)
with DaskRunner(float, client) as runner:
    runner.begin(0, 1)
    runner.begin(1, 2)
    runner.stop(1)
    ended = [number for number, _ in runner.ended(None)]
    print(json.dumps(ended + [number for number, _ in runner.ended(0.5)]), flush=True)
study = study_of(12)
study.optimize(float, budget=12, batch=4, synchronous=True, executor=client)
show(study)
os._exit(0)
"""

DEADLY = """
def fatal(x):
    if x == 1 and not mark.exists():
        mark.write_text("killed once")
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(x)

study = study_of(6)
study.optimize(fatal, budget=6, executor=client, evaluation_timeout=60)
show(study)
os._exit(0)
"""

STUCK = """
def stuck(x):
    if x == 1:
        mark.touch()
        time.sleep(600)
    return float(x)

study = study_of(8)
# Time stands still until all others have ended.
loop.clock = lambda: 1000.0 if mark.exists() and study.count(lw.State.TOLD) == 7 else 0.0
study.optimize(stuck, budget=8, executor=client, evaluation_timeout=50)
show(study)
client.wait_for_workers(2)
study_of(2).optimize(float, budget=2, executor=client)
os._exit(0)
"""

INTERRUPTED = """
def press(x):
    if x == 5:
        # The one who runs the study, in its main thread, which may be asking, waiting or telling.
        if not release.exists():
            os.kill(int(mark.read_text()), signal.SIGINT)
        while not release.exists():
            time.sleep(0.01)
    return float(x)

mark.write_text(str(os.getpid()))
# It is ignored in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
release = mark.with_suffix(".release")
study = study_of(12, storage=url)
best = study.optimize(press, budget=12, executor=client)
assert best.stopped == "interrupted", best.stopped
show(study)
release.touch()
# The cluster and the study are as good as new.
show(study.optimize(float, budget=12, executor=client).study)
os._exit(0)
"""


def output(script: str, mark: Path) -> list[Any]:
    command = [sys.executable, "-c", PRELUDE + script, str(mark)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_everything_is_evaluated_once_at_the_same_time_elsewhere(tmp_path: Path) -> None:
    inverses, pids, ended, plates = output(PEACEFUL, tmp_path / "mark")
    assert sorted(x for x, *_ in inverses) == list(range(10))
    assert {x: value for x, _, value, _ in inverses} == {x: None if x == 3 else 1 / (x - 3) for x in range(10)}
    (error,) = [error for x, state, _, error in inverses if state == "failed"]
    assert error.endswith("ZeroDivisionError: division by zero")
    assert len({value for _, _, value, _ in pids}) == 2
    assert ended == [0]
    assert sorted(value for _, _, value, _ in plates) == list(range(12))


def test_an_evaluation_whose_worker_is_killed_is_run_elsewhere_or_fails(tmp_path: Path) -> None:
    """The first kill is forgiven; an object that kills whoever evaluates it has failed."""
    (trials,) = output(DEADLY, tmp_path / "mark")
    assert (tmp_path / "mark").exists()
    found = {x: (state, value) for x, state, value, _ in trials}
    assert found == {x: ("failed", None) if x == 4 else ("told", float(x)) for x in range(6)}


def test_a_stuck_evaluation_fails_and_its_worker_comes_back(tmp_path: Path) -> None:
    (trials,) = output(STUCK, tmp_path / "mark")
    found = {x: (state, error) for x, state, _, error in trials}
    assert found.pop(1) == ("failed", "the evaluation took longer than the timeout of 50 s")
    assert set(found.values()) == {("told", None)}


def test_ctrl_c_gives_back_what_the_cluster_was_evaluating(tmp_path: Path) -> None:
    before, after = output(INTERRUPTED, tmp_path / "mark")
    assert {state for _, state, _, _ in before} <= {"told", "abandoned"}
    assert (5, "abandoned") in {(x, state) for x, state, _, _ in before}
    assert after[: len(before)] == before
    assert sorted(x for x, state, _, _ in after if state == "told") == list(range(12))


def test_an_asynchronous_client_is_refused() -> None:
    class Asynchronous:
        asynchronous = True
        submit = nthreads = None

    study = lw.Study(lw.Pool([1, 2]), lambda x, y: 1.0)
    with pytest.raises(lw.StudyError, match="asynchronous"):
        study.optimize(abs, executor=Asynchronous())


class Failing:
    """As much of a client as a run needs; what is submitted ends as `ending` says."""

    asynchronous = False

    def __init__(self, ending: Callable[[Future[Any]], object], workers: int = 1) -> None:
        self.ending = ending
        self.workers = workers

    def nthreads(self) -> dict[str, int]:
        if not self.workers:
            raise OSError("timed out")
        return {"one": self.workers}

    def submit(self, *call: Any, key: str, pure: bool) -> Future[Any]:
        future: Future[Any] = Future()
        self.ending(future)
        return future


def test_a_cluster_that_is_gone_is_named_and_its_evaluations_are_given_back() -> None:
    study = lw.Study(lw.Pool([1, 2, 3]), lambda x, y: 1.0)
    with pytest.raises(lw.StudyError, match=r"cannot be reached: timed out; the study is kept"):
        study.optimize(abs, executor=Failing(Future.cancel, workers=0))
    with pytest.raises(lw.StudyError, match=r"has dropped an evaluation.*the study is kept"):
        study.optimize(abs, executor=Failing(Future.cancel))
    assert {t.state for t in study.trials} == {lw.State.ABANDONED}


def test_what_the_cluster_could_not_run_has_failed() -> None:
    study = lw.Study(lw.Pool([1, 2, 3]), lambda x, y: 1.0)
    killed = Failing(lambda future: future.set_exception(RuntimeError("the worker died thrice")))
    with pytest.raises(lw.StudyError, match="thrice"):
        study.optimize(abs, executor=killed, most_failures=2)
    assert [t.state for t in study.trials] == [lw.State.FAILED] * 2
