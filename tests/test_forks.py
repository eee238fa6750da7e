"""A child inherits nothing half done: forks wait for what other threads are in the middle of."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import likewise as lw
from likewise import forks
from likewise.forks import ForkLock, postponed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
FORKS, LIMIT = 14, 30


def near(x: float, y: float) -> float:
    return 1.0 / (1.0 + abs(x - y))


def in_child(work: Callable[[], object]) -> int:
    """The exit code of a forked child that does this; it ends by a signal if it hangs."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LIMIT)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Does something in another thread until the end, or once if that takes longer."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join(LIMIT)
    assert not thread.is_alive()


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_children_go_on_with_a_study_that_another_thread_asks(storage: str, sqlite_url: str) -> None:
    study = lw.Study(
        lw.Pool([i / 7 for i in range(700)]),
        lw.Matern(),
        storage=None if storage == "memory" else sqlite_url,
        lease=60.0,
    )
    study.tell_many([(i / 7, abs(i - 300) / 7) for i in range(0, 700, 9)])
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            for s in study.ask():
                study.tell(s, s.object)

    with meanwhile(work):
        codes = []
        for _ in range(FORKS):
            time.sleep(0.03)
            codes.append(in_child(lambda: study.tell(study.ask()[0], 1.0)))
        stop.set()
    assert codes == [0] * FORKS


def test_a_fork_waits_for_an_ask() -> None:
    inside = threading.Event()

    def slow(x: float, y: float) -> float:
        inside.set()
        time.sleep(0.01)
        return near(x, y)

    study = lw.Study(lw.Pool([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), slow, initial=1)
    done = []

    def ask() -> None:
        study.ask()
        done.append(time.monotonic())

    with meanwhile(ask):
        inside.wait()
        assert in_child(study.ask) == 0
        assert done


def test_a_child_does_not_inherit_the_lock_of_studies_in_memory_held() -> None:
    """A heartbeat holds it now and then."""
    study = lw.Study(lw.Pool([1.0, 2.0, 3.0]), near)
    held = threading.Event()

    def hold() -> None:
        with study._log.storage._logs[study._log.study].lock:  # type: ignore[attr-defined]
            held.set()
            time.sleep(0.3)

    with meanwhile(hold):
        held.wait()
        assert in_child(lambda: study.tell(1.0, 1.0)) == 0


def test_two_threads_that_fork_within_what_takes_long_do_not_wait_for_one_another() -> None:
    both = threading.Barrier(2, timeout=LIMIT)

    def work() -> None:
        with postponed(long=True):
            both.wait()
            assert in_child(lambda: None) == 0

    begun = time.monotonic()
    with meanwhile(work):
        work()
    assert time.monotonic() - begun < LIMIT


def test_a_fork_waits_for_long_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ask may wait for the very thread that forks."""
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    lock, held, forked = ForkLock(long=True), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            assert forked.wait(LIMIT)

    def work() -> None:
        assert not lock.free()
        with lock:
            assert lock.free()

    with meanwhile(hold):
        held.wait()
        code = in_child(work)
        forked.set()
    assert code == 0


def test_a_child_forked_within_an_ask_of_its_own_thread_goes_on_with_it() -> None:
    lock = ForkLock(long=True)
    with lock, postponed():

        def work() -> None:
            with lock:
                assert lock.free()

        assert in_child(work) == 0
    with lock:
        pass
    assert in_child(lambda: None) == 0
