"""Evaluations in threads, in processes and on executors: all told, none twice, stuck and dying workers included."""

from __future__ import annotations

import itertools
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.run import loop, runners
from likewise.run.runners import Evaluation, ExecutorRunner, Inline, ProcessRunner, Runner, ThreadRunner, can_send

NUMBERS = lw.Pool(list(range(40)))


def near(x: int, y: int) -> float:
    return 1.0 / (1.0 + abs(x - y))


def peak(x: int) -> float:
    return -abs(x - 21) / 10


def act(x: Any) -> Any:
    """Does what it is told: sleep, wait for a file, raise, die, or return who did it."""
    what, argument = x
    if what == "sleep":
        time.sleep(argument)
    elif what == "wait":
        while not argument.exists():
            time.sleep(0.01)
    elif what == "raise":
        raise ValueError(argument)
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "worker":
        time.sleep(0.05)
        return os.getpid()
    return 1.0


def dies_at_one(x: int) -> float:
    if x == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return peak(x)


class Lazy(Executor):
    """An executor of the user's own, which does not say how many workers it has."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                future.set_result(fn(*args, **kwargs))

        threading.Thread(target=work).start()
        return future


def spawning(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("forkserver"))


CREWS: dict[str, Callable[[], Runner]] = {
    "threads": lambda: ThreadRunner(act, 2),
    "processes": lambda: ProcessRunner(act, 2),
    "thread pool": lambda: ExecutorRunner(act, ThreadPoolExecutor(2)),
    "own executor": lambda: ExecutorRunner(act, Lazy()),
}


@pytest.fixture(params=CREWS)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with CREWS[request.param]() as runner:
        yield runner


def collected(runner: Runner, n: int) -> dict[int, Any]:
    found: dict[int, Any] = {}
    while len(found) < n:
        found.update(runner.ended(None))
    return found


def test_every_evaluation_ends_once_with_its_own_outcome(runner: Runner) -> None:
    assert runner.capacity >= 2
    found = {}
    for start in range(0, 6, 2):
        runner.begin(start, ("sleep", 0.01))
        runner.begin(start + 1, ("raise", f"number {start + 1}"))
        found.update(collected(runner, 2))
    assert [found[i].value for i in (0, 2, 4)] == [1.0] * 3
    assert all(found[i].error.endswith(f"ValueError: number {i}") for i in (1, 3, 5))
    assert runner.ended(0.0) == []


def test_waiting_ends_when_its_time_is_over(runner: Runner, tmp_path: Path) -> None:
    runner.begin(0, ("wait", tmp_path / "go"))
    assert runner.ended(0.05) == []
    (tmp_path / "go").touch()
    assert collected(runner, 1)[0].value == 1.0


def test_what_is_given_up_is_never_heard_of_again(runner: Runner, tmp_path: Path) -> None:
    runner.begin(0, ("wait", tmp_path / "go"))
    runner.begin(1, ("sleep", 0.01))
    runner.stop(0)
    assert list(collected(runner, 1)) == [1]
    (tmp_path / "go").touch()
    assert runner.ended(0.3) == []


def test_what_ended_well_is_handed_over_before_what_broke() -> None:
    futures: list[Future[Any]] = []

    class Held(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            futures.append(Future())
            return futures[-1]

    runner = ExecutorRunner(act, Held())
    for number in range(3):
        runner.begin(number, None)
    futures[1].set_exception(BrokenExecutor("a worker died"))
    futures[2].set_exception(KeyboardInterrupt())
    futures[0].set_result(Evaluation(1.0))
    assert runner.ended(None) == [(0, Evaluation(1.0))]
    with pytest.raises(KeyboardInterrupt):
        runner.ended(None)
    assert runner.ended(0.0) == []


def test_evaluating_here_takes_its_turn() -> None:
    with Inline(act) as runner:
        runner.begin(0, ("worker", None))
        runner.begin(1, ("raise", "x"))
        ((first, outcome), (second, failed)) = runner.ended(0.0)
    assert (first, second, outcome.value) == (0, 1, os.getpid())
    assert failed.error is not None
    assert failed.error.endswith("ValueError: x")


def test_processes_work_at_the_same_time_and_are_kept() -> None:
    with ProcessRunner(act, 2) as runner:
        pids = []
        for start in (0, 2):
            runner.begin(start, ("worker", None))
            runner.begin(start + 1, ("worker", None))
            pids.append({outcome.value for outcome in collected(runner, 2).values()})
        assert pids[0] == pids[1]
        assert len(pids[0]) == 2
        assert os.getpid() not in pids[0]
    for pid in pids[0]:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_a_process_that_is_stuck_or_dies_is_replaced_alone() -> None:
    with ProcessRunner(act, 2) as runner:
        runner.begin(0, ("sleep", 600.0))
        runner.begin(1, ("kill", None))
        assert "exit code -9" in collected(runner, 1)[1].error
        runner.stop(0)
        for number in (2, 3):
            runner.begin(number, ("sleep", 0.01))
        assert [outcome.value for outcome in collected(runner, 2).values()] == [1.0, 1.0]


def test_a_process_that_died_while_idle_is_replaced() -> None:
    with ProcessRunner(act, 1) as runner:
        runner.begin(0, ("worker", None))
        os.kill(int(collected(runner, 1)[0].value), signal.SIGKILL)
        runner._workers[0].process.join()
        runner.begin(1, ("sleep", 0.0))
        assert collected(runner, 1)[1].value == 1.0


def test_an_object_that_cannot_be_sent_is_a_failure() -> None:
    with ProcessRunner(act, 1) as runner:
        runner.begin(0, ("sleep", lambda: None))
        assert "cannot be sent" in collected(runner, 1)[0].error
        runner.begin(1, ("sleep", 0.0))
        assert collected(runner, 1)[1].value == 1.0


def test_functions_that_cannot_be_sent_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners.multiprocessing, "get_start_method", lambda: "spawn")
    assert can_send(peak)
    assert not can_send(lambda x: x)


def test_orphans_end_when_their_parent_is_killed() -> None:
    script = """
import os, time
from likewise.run.runners import ProcessRunner
runner = ProcessRunner(lambda x: os.getpid(), 2)
for number in range(2):
    runner.begin(number, None)
pids = []
while len(pids) < 2:
    pids += [int(outcome.value) for _, outcome in runner.ended(None)]
print(*pids, flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
    finally:
        process.kill()
        # The orphans hold the other end of this pipe: reading it to its end is waiting for theirs.
        process.communicate(timeout=200)
    assert len(pids) == 2


def test_idle_workers_end_by_themselves_and_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "GRACE", 10.0)
    runner = ProcessRunner(act, 4)
    workers = [worker.process for worker in runner._workers]
    begun = time.monotonic()
    runner.close()
    assert time.monotonic() - begun < 5.0
    assert [process.exitcode for process in workers] == [0] * 4


def test_workers_of_a_crew_that_cannot_be_made_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[runners._Worker] = []
    start = ProcessRunner._start

    def second_fails(runner: ProcessRunner) -> runners._Worker:
        if started:
            raise KeyboardInterrupt
        started.append(start(runner))
        return started[0]

    monkeypatch.setattr(ProcessRunner, "_start", second_fails)
    with pytest.raises(KeyboardInterrupt):
        ProcessRunner(act, 2)
    assert not started[0].process.is_alive()


def ended_after(script: str, presses: int) -> str:
    """What a script of a terminal says when Ctrl-C is pressed so many times; it has ended soon after."""
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "evaluating\n"
        for _ in range(presses):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.2)
        # Workers hold the other end of these pipes: reading them to their end is waiting for the workers' ends.
        return process.communicate(timeout=20)[1]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


ASLEEP = """
import os, signal, time
from multiprocessing.process import BaseProcess
import likewise as lw
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored in the background of a shell
def f(x):
    os.write(1, b"evaluating\\n")  # one write, so that two processes' lines cannot mix
    time.sleep(600)
"""
TORN = """
join, left = BaseProcess.join, [2]
def torn(process, timeout=None):
    left[0] -= 1
    if left[0] >= 0:
        raise KeyboardInterrupt
    join(process, timeout)
BaseProcess.join = torn
"""


@pytest.mark.parametrize("torn", ["", TORN], ids=["pressed three times", "torn out of its closing"])
def test_ctrl_c_ends_a_run_and_its_workers_however_often_it_is_pressed(torn: str) -> None:
    run = "lw.maximize(f, lw.Pool(list(range(40))), lambda x, y: 1 / (1 + abs(x - y)), workers=4, batch=2)"
    assert "KeyboardInterrupt" in ended_after(ASLEEP + torn + run, 1 if torn else 3)


def all_told(study: lw.Study, objects: int) -> bool:
    counts = Counter(t.object for t in study.trials)
    return sorted(counts) == list(range(objects)) and set(counts.values()) == {1}


RUNNERS: dict[str, Callable[[], dict[str, Any]]] = {
    "workers": lambda: {"workers": 2},
    "threads": lambda: {"executor": ThreadPoolExecutor(3)},
    "processes": lambda: {"executor": spawning(2)},
    "own executor": lambda: {"executor": Lazy(), "batch": 3},
}


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("synchronous", [False, True])
def test_runs_anywhere_evaluate_everything_once(runner: str, synchronous: bool) -> None:
    study = lw.Study(NUMBERS, near, initial=40)
    options = RUNNERS[runner]()
    best = study.optimize(operator.neg, budget=100, synchronous=synchronous, **options)
    assert best.object == 0
    assert best.stopped == "every object of the space has been tried"
    assert all_told(study, 40)
    if isinstance(options.get("executor"), ProcessPoolExecutor | ThreadPoolExecutor):
        options["executor"].shutdown()


@pytest.mark.parametrize("synchronous", [False, True])
def test_asynchronous_runs_refill_and_synchronous_ones_wait_for_the_plate(synchronous: bool) -> None:
    """The very first evaluation waits for the tenth to begin, which a plate of four never sees."""
    tenth, begun, waited = threading.Event(), itertools.count(1), []

    def f(x: int) -> float:
        number = next(begun)
        if number == 1:
            waited.append(tenth.wait(0.5 if synchronous else None))
        elif number == 10:
            tenth.set()
        return peak(x)

    study = lw.Study(NUMBERS, near, initial=40)
    with ThreadPoolExecutor(4) as executor:
        study.optimize(f, budget=16, executor=executor, batch=4, synchronous=synchronous)
    assert study.count(lw.State.TOLD) == 16
    assert waited == [not synchronous]


def test_a_batch_larger_than_the_crew_waits_its_turn_before_its_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes only in evaluations: the six of them take three times the timeout of each."""
    now = [0.0]

    def slow(x: int) -> float:
        now[0] += 50.0
        return 1.0

    monkeypatch.setattr(loop, "clock", lambda: now[0])
    study = lw.Study(NUMBERS, near, initial=40)
    with ThreadPoolExecutor(1) as executor:
        study.optimize(slow, budget=6, executor=executor, batch=6, evaluation_timeout=100.0)
    assert [t.state for t in study.trials] == [lw.State.TOLD] * 6


@pytest.mark.parametrize("runner", ["workers", "alone", "threads"])
def test_evaluations_that_take_too_long_are_failures_and_do_not_block(
    runner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time stands still until the stuck evaluation has begun and everything else that can end has ended."""
    mark, release = tmp_path / "begun", tmp_path / "release"
    study = lw.Study(lw.Pool(list(range(8))), near, initial=8)

    def f(x: int) -> float:
        if x == 1:
            mark.touch()
            act(("wait", release))
        return peak(x)

    def late() -> float:
        return 1000.0 if mark.exists() and (runner == "alone" or study.count(lw.State.TOLD) == 7) else 0.0

    monkeypatch.setattr(loop, "clock", late)
    if runner == "threads":
        monkeypatch.setattr(runners, "can_send", lambda f: False)
    study.optimize(f, budget=8, evaluation_timeout=50.0, **({} if runner == "alone" else {"workers": 2}))
    release.touch()
    (failed,) = [t for t in study.trials if t.state is lw.State.FAILED]
    assert failed.object == 1
    assert failed.error == "the evaluation took longer than the timeout of 50 s"
    assert study.count(lw.State.TOLD) == 7


STUCK = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
import likewise as lw
from likewise.run import loop
mark = Path(sys.argv[1])
def f(x):
    if x == 1:
        mark.touch()
        time.sleep(600)
    return float(x)
study = lw.Study(lw.Pool(list(range(6))), lambda x, y: 1.0 / (1 + abs(x - y)), initial=6)
# Time stands still until all others have ended.
loop.clock = lambda: 1000.0 if mark.exists() and study.count(lw.State.TOLD) == 5 else 0.0
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as executor:
        study.optimize(f, budget=6, executor=executor, evaluation_timeout=50)
    print(sorted((t.object, t.state.value) for t in study.trials))
"""


def test_a_stuck_process_of_the_users_pool_blocks_neither_run_nor_exit(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STUCK, str(tmp_path / "mark")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    told = [(x, "failed" if x == 1 else "told") for x in range(6)]
    assert done.stdout.strip() == str(told)


def test_a_pool_with_every_worker_stuck_is_given_up_with_the_remedy() -> None:
    release = threading.Event()
    study = lw.Study(NUMBERS, near, initial=40)
    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(lw.StudyError, match=r"every worker of the executor is stuck.*workers="):
            study.optimize(lambda x: release.wait(), budget=8, executor=executor, evaluation_timeout=0.2)
        release.set()
    assert study.count(lw.State.FAILED) == 2
    assert study.count(lw.State.ASKED) == 0


def test_a_worker_that_dies_costs_its_own_evaluation_alone() -> None:
    study = lw.Study(lw.Pool(list(range(8))), near, initial=8)
    study.optimize(dies_at_one, budget=8, workers=2)
    (failed,) = [t for t in study.trials if t.state is lw.State.FAILED]
    assert (failed.object, study.count(lw.State.TOLD)) == (1, 7)
    assert "exit code -9" in (failed.error or "")


def test_a_broken_executor_ends_the_run_with_the_study_kept() -> None:
    study = lw.Study(lw.Pool(list(range(8))), near, initial=8)
    with spawning(2) as executor, pytest.raises(lw.StudyError, match=r"broken.*kept.*new executor"):
        study.optimize(os._exit, budget=8, executor=executor)
    assert study.count(lw.State.ASKED) == 0
    best = study.optimize(peak, budget=8, workers=2)
    assert best.study.count(lw.State.TOLD) == 8


def test_an_executor_that_is_shut_down_is_named() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(lw.StudyError, match="takes no more evaluations"):
        lw.maximize(peak, NUMBERS, near, executor=executor)


def test_a_function_that_a_pool_cannot_take_fails_with_the_reason() -> None:
    with spawning(1) as executor, pytest.raises(lw.StudyError, match=r"could not be run.*pickle"):
        lw.maximize(lambda x: 1.0, NUMBERS, near, executor=executor, most_failures=2)


def test_reaching_the_target_gives_up_what_is_in_flight() -> None:
    best = lw.maximize(lambda x: 1.0 if x % 2 else time.sleep(600), NUMBERS, near, workers=3, target=1.0)
    assert best.value == 1.0
    assert best.study.count(lw.State.ASKED) == 0
