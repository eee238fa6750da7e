"""Runs: what they evaluate, record and return, and what ends them."""

from __future__ import annotations

import inspect
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import StorageError
from likewise.run import loop
from likewise.run import optimize as running
from likewise.run.loop import Options, RunOptions, RunSettings, Watch, patiently
from likewise.study.explanation import Gain
from likewise.study.storage.database import Database

NUMBERS = lw.Pool(list(range(30)))


def near(x: int, y: int) -> float:
    return 1.0 / (1.0 + abs(x - y))


def peak(x: int) -> float:
    return -abs(x - 21) / 10


@pytest.fixture
def usual_signals() -> Iterator[None]:
    """Ctrl-C as in a terminal; whoever runs the tests in the background of a shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


def run(f: Any = peak, **options: Any) -> Any:
    return lw.maximize(f, NUMBERS, near, **{"budget": 12, **options})


def states(study: lw.Study) -> list[str]:
    return [t.state.value for t in study.trials]


def test_the_best_object_comes_with_its_value_and_study() -> None:
    best = run(budget=20)
    assert (best.object, best.value) == (21, 0.0)
    assert best.study.best.object == 21
    assert len(best.study.trials) == 20
    assert best.stopped == "the budget of 20 evaluations is spent"


def test_minimising_mirrors_maximising() -> None:
    up = run()
    down = lw.minimize(lambda x: -peak(x), NUMBERS, near, budget=12)
    assert [t.object for t in up.study.trials] == [t.object for t in down.study.trials]
    assert (up.object, up.value) == (down.object, -down.value)


def test_a_run_is_what_asking_and_telling_by_hand_is() -> None:
    study = lw.Study(NUMBERS, near, seed=3)
    for _ in range(4):
        for s in study.ask(3):
            study.tell(s, peak(s.object))
    assert [t.object for t in run(batch=3, seed=3).study.trials] == [t.object for t in study.trials]


@pytest.mark.parametrize("named", [False, True])
def test_measurements_keep_their_standard_deviation_and_their_block(named: bool) -> None:
    def f(x: float) -> Any:
        found = lw.Measurement(peak(x), std=0.25, block="plate 3")
        return {"height": found} if named else found

    study = lw.Study(NUMBERS, near, objectives={"height": "maximize"} if named else None)
    study.optimize(f, budget=3)
    told = [t.outcomes["height" if named else "value"] for t in study.trials]
    assert [(one.std, one.block) for one in told] == [(0.25, "plate 3")] * 3


def test_a_study_of_ones_own_can_be_run() -> None:
    study = lw.Study(NUMBERS, near, acquisition=lw.UpperConfidence(), direction="minimize")
    best = study.optimize(lambda x: abs(x - 4), budget=15)
    assert best.study is study
    assert best.object == 4


def test_failures_are_recorded_with_their_traceback_and_the_run_goes_on() -> None:
    def fragile(x: int) -> float:
        if x % 3 == 0:
            raise RuntimeError(f"{x} precipitated")
        return peak(x)

    study = run(fragile, budget=30).study
    assert states(study).count("failed") == 10
    failed = next(t for t in study.trials if t.state is lw.State.FAILED)
    assert failed.error is not None
    assert failed.error.startswith("Traceback")
    assert failed.error.endswith(f"RuntimeError: {failed.object} precipitated")
    assert "fragile" in failed.error
    assert "evaluation.py" not in failed.error


@pytest.mark.parametrize(
    ("returned", "reason"),
    [(float("nan"), "nan"), (float("inf"), "inf"), (None, "no number: None"), ("high", "no number: 'high'")],
)
def test_what_is_no_number_is_a_failure(returned: Any, reason: str) -> None:
    study = run(lambda x: returned if x == 21 else peak(x), budget=30).study
    (failed,) = [t for t in study.trials if t.state is lw.State.FAILED]
    assert failed.object == 21
    assert reason in (failed.error or "")


@pytest.mark.parametrize("workers", [None, 2], ids=["here", "processes"])
def test_an_objective_that_exits_ends_the_run(workers: int | None) -> None:
    def leaving(x: int) -> float:
        if x == 21:
            sys.exit(3)
        return peak(x)

    study = lw.Study(NUMBERS, near)
    study.enqueue(5, 21)
    with pytest.raises(SystemExit) as ended:
        study.optimize(leaving, workers=workers, budget=20)
    assert ended.value.code == 3
    assert {"told", "abandoned"} >= set(states(study)) >= {"abandoned"}


def test_too_many_failures_in_a_row_stop_the_run_and_show_the_last() -> None:
    def broken(x: int) -> float:
        raise RuntimeError("the pump is off")

    study = lw.Study(NUMBERS, near)
    with pytest.raises(lw.StudyError, match=r"last 4 evaluations failed.*kept.*(?s:.)*the pump is off"):
        study.optimize(broken, most_failures=4)
    assert states(study) == ["failed"] * 4


def test_a_run_without_any_value_says_so() -> None:
    def broken(x: int) -> float:
        raise RuntimeError("the pump is off")

    with pytest.raises(lw.StudyError, match=r"without a value: all 3 evaluations failed(?s:.)*the pump is off"):
        run(broken, budget=3)


def test_the_target_ends_the_run_in_both_directions() -> None:
    best = run(target=-0.1, budget=30)
    assert best.value >= -0.1
    assert best.stopped == "the target -0.1 is reached"
    values = [t.value for t in best.study.trials]
    assert all(value < -0.1 for value in values[:-1])
    down = lw.minimize(lambda x: abs(x - 21) / 10, NUMBERS, near, target=0.1, budget=30)
    assert len(down.study.trials) == len(values)


def test_a_target_that_was_reached_before_needs_no_evaluation() -> None:
    study = lw.Study(NUMBERS, near)
    study.tell(3, 10.0)
    best = study.optimize(peak, target=5.0)
    assert (best.object, best.value, len(study.trials)) == (3, 10.0, 1)


def test_the_timeout_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes only in evaluations, ten seconds in each."""
    now = [0.0]

    def slow(x: int) -> float:
        now[0] += 10.0
        return peak(x)

    monkeypatch.setattr("likewise.run.optimize.Watch", partial(Watch, clock=lambda: now[0]))
    best = run(slow, timeout=35.0, batch=3, budget=30)
    assert best.stopped == "the time of 35 s is over"
    assert states(best.study) == ["told"] * 4 + ["abandoned"] * 2


def test_nothing_to_gain_ends_the_run_after_some_patience() -> None:
    best = run(stop_when=1e6, patience=2, budget=30)
    assert best.stopped == "the last 2 asks promised a gain of less than 1e+06"
    # Five are spread out, which promises nothing yet; the first hopeless one is still tried.
    assert states(best.study) == ["told"] * 6 + ["abandoned"]
    assert run(stop_when=1e-300, budget=8).stopped == "the budget of 8 evaluations is spent"


def test_a_function_of_the_gain_ends_the_run() -> None:
    """It is the gain of the whole batch that was asked."""
    seen: list[Gain] = []
    best = run(stop_when=lambda gain: seen.append(gain) or True, patience=1, batch=3, budget=30)
    assert best.stopped == "the last ask promised too little gain"
    assert [gain.n for gain in seen] == [3]


def test_an_exhausted_space_ends_the_run() -> None:
    best = run(budget=100)
    assert best.stopped == "every object of the space has been tried"
    assert sorted(t.object for t in best.study.trials) == list(range(30))


@pytest.mark.parametrize("how", ["returns", "raises"])
def test_a_callback_sees_every_trial_and_can_stop(how: str) -> None:
    seen = []

    def watch(study: lw.Study, trial: lw.Trial) -> bool:
        seen.append((trial.id, trial.state, study.count(lw.State.TOLD)))
        if len(seen) == 4 and how == "raises":
            raise StopIteration
        return len(seen) == 4

    best = run(callbacks=watch)
    assert best.stopped == "a callback stopped it"
    assert seen == [(i, lw.State.TOLD, i + 1) for i in range(4)]


def test_a_callback_that_breaks_ends_the_run_and_loses_nothing() -> None:
    study = lw.Study(NUMBERS, near)

    def broken(study: lw.Study, trial: lw.Trial) -> None:
        if trial.id == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        study.optimize(peak, batch=2, callbacks=[lambda study, trial: None, broken])
    assert states(study) == ["told", "told", "told", "abandoned"]


def test_the_same_call_goes_on_and_its_budget_is_its_own(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    run(budget=5, storage=url)
    again = run(budget=7, storage=url)
    assert len(again.study.trials) == 12
    assert [t.object for t in again.study.trials] == [t.object for t in run(budget=12).study.trials]


def test_what_was_asked_by_hand_stays_open() -> None:
    study = lw.Study(NUMBERS, near)
    (mine,) = study.ask()
    study.optimize(peak, target=-100.0, batch=3)
    assert states(study) == ["asked", "told", "abandoned", "abandoned"]
    study.tell(mine, 1.0)


def test_options_that_make_no_sense_are_refused() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"budget": 0}, "budget must be at least 1"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"evaluation_timeout": 0.0}, "evaluation_timeout must be positive"),
        ({"timeout": -1.0}, "timeout must be positive"),
        ({"stop_when": 0.0}, "stop_when must be positive"),
        ({"patience": 0}, "patience must be at least 1"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"executor": "dask"}, "'dask' is not an executor"),
        ({"executor": "dask", "workers": 2}, "not both"),
    ]
    for options, message in wrong:
        with pytest.raises(lw.StudyError, match=message):
            run(**options)


INTERRUPTED = """
import os, signal, sys, time
from concurrent.futures import ThreadPoolExecutor
import likewise as lw
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored in the background of a shell
def f(x):
    os.write(1, b"evaluating\\n")  # one write, so that two processes' lines cannot mix
    time.sleep(0.0 if x % 2 else 0.3)
    return -abs(x - 21)
url = None if sys.argv[1] == "memory" else sys.argv[1]
where = {"here": {}, "workers": {"workers": 2}, "threads": {"executor": ThreadPoolExecutor(2)}}[sys.argv[2]]
best = lw.maximize(f, lw.Pool(list(range(5000))), lambda x, y: 1 / (1 + abs(x - y)), budget=5000, storage=url, **where)
print("stopped:", best.stopped, len(best.study.trials))
assert {t.state.value for t in best.study.trials} <= {"told", "abandoned"}
"""


@pytest.mark.parametrize(
    ("where", "workers", "times"),
    [("memory", "here", 1), ("sqlite", "workers", 1), ("sqlite", "threads", 2)],
)
def test_an_interrupted_run_returns_what_it_has_and_says_how_to_go_on(
    where: str, workers: str, times: int, tmp_path: Path
) -> None:
    url = "memory" if where == "memory" else f"sqlite:///{tmp_path / 'study.db'}"
    command = [sys.executable, "-c", INTERRUPTED, url, workers]
    # A session of its own, so that Ctrl-C can go to all its processes at once, as in a terminal.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        for _ in range(4):
            assert process.stdout.readline() == "evaluating\n"
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
        out, error = process.communicate(timeout=200)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == 0, error
    assert "stopped: interrupted" in out
    assert "Traceback" not in error
    assert error.count("likewise: interrupted after") == 1
    if where == "sqlite":
        assert f"storage={url!r} and name='study'" in error
        again = lw.Study(lw.Pool(list(range(5000))), near, storage=url)
        assert again.count(lw.State.TOLD) >= 1
        assert again.count(lw.State.ASKED) == 0
        assert again.ask()
    else:
        assert "storage='sqlite:///study.db' keeps it on disk" in error


class Near(lw.Similarity):
    """The nearness of numbers; `hook` is called whenever it is asked for."""

    def __init__(self, hook: Callable[[], None] = lambda: None) -> None:
        self.hook = hook

    def encode(self, objects: Any) -> Any:
        return np.array(objects, dtype=float)

    def between(self, a: Any, b: Any) -> Any:
        self.hook()
        return 1.0 / (1.0 + np.abs(a[:, None] - b))

    def within(self, a: Any) -> Any:
        return np.ones(len(a))


MOMENTS = ["in the first ask", "in a later ask", "in f", "before a tell", "after a tell", "in a callback"]


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    # Elsewhere it is not this thread that f is evaluated in.
    ("moment", "workers"),
    [*((moment, None) for moment in MOMENTS), *((moment, 2) for moment in MOMENTS if moment != "in f")],
)
def test_ctrl_c_loses_nothing_whenever_it_comes(
    moment: str, times: int, workers: int | None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every value that was computed here is told, nothing stays open, and the study believes what a fresh one does."""
    pressed, computed = [], []

    def press(now: str) -> None:
        # Not before the third value: most of what may be half done is not there earlier.
        if now == moment and not pressed and (len(computed) >= 3 or now == "in the first ask"):
            pressed.append(now)
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    def f(x: int) -> float:
        if workers is None:
            press("in f")
        computed.append(x)
        return peak(x)

    @contextmanager
    def change(kind: str) -> Any:
        if kind == "tell":
            press("before a tell")
        with changed(kind) as draft:
            yield draft
        if kind == "tell":
            press("after a tell")

    study = lw.Study(NUMBERS, Near(lambda: press(f"in {'a later' if computed else 'the first'} ask")), storage=url)
    changed = study._log.change
    monkeypatch.setattr(study._log, "change", change)
    if workers is not None:
        monkeypatch.setattr("likewise.run.runners.can_send", lambda f: False)
    callback = lambda study, trial: press("in a callback")  # noqa: E731
    if moment == "in the first ask":
        with pytest.raises(KeyboardInterrupt):
            study.optimize(f, budget=20, workers=workers, callbacks=callback)
        assert study.count(lw.State.TOLD) == 0
    else:
        best = study.optimize(f, budget=20, workers=workers, callbacks=callback)
        assert best.stopped == "interrupted"
    assert pressed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "asked" not in states(study)
    ended = [t.object for t in study.trials if t.state is lw.State.TOLD]
    if workers is None:
        assert ended == computed
    again = lw.Study(NUMBERS, Near(), storage=url)
    if ended:
        np.testing.assert_array_equal(study.predict(range(30)).mean, again.predict(range(30)).mean)
    assert study.ask()[0].object not in ended


@pytest.mark.usefixtures("usual_signals")
def test_the_third_ctrl_c_ends_the_run_at_once(url: str) -> None:
    def f(x: int) -> float:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return 0.0

    study = lw.Study(NUMBERS, near, storage=url)
    with pytest.raises(KeyboardInterrupt):
        study.optimize(f, batch=3)
    assert states(study) == ["abandoned"] * 3


def test_a_handler_of_the_users_own_is_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        best = run(lambda x: signal.raise_signal(signal.SIGINT) or peak(x), budget=3)
    finally:
        signal.signal(signal.SIGINT, before)
    assert best.stopped == "the budget of 3 evaluations is spent"
    assert len(seen) == 3


def test_a_run_in_a_thread_needs_no_signals() -> None:
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(run, budget=3).result().stopped == "the budget of 3 evaluations is spent"


@pytest.mark.parametrize("where", ["threads", "executor"])
def test_an_objective_that_raises_keyboard_interrupt_elsewhere_interrupts_the_run(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(x: int) -> float:
        if len(started) >= 3:
            raise KeyboardInterrupt
        started.append(x)
        return peak(x)

    started: list[int] = []
    monkeypatch.setattr("likewise.run.runners.can_send", lambda f: False)
    with ThreadPoolExecutor(1) as executor:
        best = run(f, **({"workers": 1} if where == "threads" else {"executor": executor}))
    assert best.stopped == "interrupted"
    assert states(best.study) == ["told"] * 3 + ["abandoned"]


def test_a_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from likewise.study.storage.memory import shown

    assert shown("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"


def test_the_bar_is_shown_in_a_terminal_only(capfd: pytest.CaptureFixture[str]) -> None:
    run(budget=2)
    assert capfd.readouterr() == ("", "")
    script = "import likewise as lw; lw.maximize(lambda x: 6 / (x - 1), lw.Pool([1, 2, 3]), lambda x, y: 1.0, budget=3)"
    main, terminal = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", script], stderr=terminal, stdout=subprocess.PIPE)
    os.close(terminal)
    shown = []

    def read() -> None:
        try:
            while chunk := os.read(main, 1000):
                shown.append(chunk)
        except OSError:
            # The other end is closed.
            return

    reader = threading.Thread(target=read)
    reader.start()
    try:
        out, _ = process.communicate(timeout=200)
    finally:
        process.kill()
        process.communicate()
        reader.join()
        os.close(main)
    text = b"".join(shown).decode()
    assert out == b""
    assert "3/3" in text
    assert "best 6, 1 failed" in text
    # Hours, minutes and seconds that are left.
    assert re.search(r"\d:\d\d:\d\d", text)


def test_a_storage_that_comes_back_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "PAUSES", (0.01,) * 5)
    study = lw.Study(NUMBERS, near)
    change, away = study._log.change, iter([True, True, False, True] + [False] * 100)

    def flaky(kind: str) -> Any:
        if kind == "tell" and next(away):
            raise StorageError("the server is restarting")
        return change(kind)

    monkeypatch.setattr(study._log, "change", flaky)
    study.optimize(peak, budget=6)
    assert states(study) == ["told"] * 6

    @contextmanager
    def answerless(kind: str) -> Any:
        with change(kind) as draft:
            yield draft
        if kind == "tell":
            monkeypatch.setattr(study._log, "change", change)
            raise StorageError("the answer was lost")

    monkeypatch.setattr(study._log, "change", answerless)
    study.optimize(peak, budget=2)
    assert states(study) == ["told"] * 8

    def broken(x: Any) -> float:
        raise ValueError("broke the vial")

    monkeypatch.setattr(study._log, "change", answerless)
    study.optimize(broken, budget=1)
    assert states(study) == ["told"] * 8 + ["failed"]

    def gone() -> None:
        raise StorageError("gone for good")

    with pytest.raises(StorageError, match="for good"):
        patiently(gone)


def test_the_watch_keeps_time() -> None:
    now = [100.0]
    watch = Watch(RunSettings(5, timeout=10.0), 1.0, clock=lambda: now[0])
    assert (watch.time_left, watch.done(None)) == (10.0, None)
    now[0] = 111.0
    assert (watch.time_left, watch.done(None)) == (0.0, "the time of 10 s is over")


def test_hopeless_suggestions_count_in_a_row_only() -> None:
    watch = Watch(RunSettings(50, stop_when=0.1, patience=3), 1.0)
    for improvement in (0.01, 0.01, 0.5, 0.01, 0.01):
        watch.asked(1, Gain(improvement, 0.5, 1))
        assert watch.enough is None
    watch.asked(1, Gain(0.01, 0.5, 1))
    assert "promised" in (watch.enough or "")


def test_the_error_of_a_lost_storage_holds_the_study(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that goes away for good: the study is in hand when it is back, whatever was told is there."""

    def gone(self: Any) -> Any:
        raise StorageError("the server is gone")

    def losing(x: int) -> float:
        if (evaluated := len(seen)) == 3:
            for way in ("reading", "writing"):
                patch.setattr(Database, way, gone)
        seen.append(x)
        return float(evaluated)

    seen: list[int] = []
    monkeypatch.setattr(loop, "PAUSES", ())
    with monkeypatch.context() as patch, pytest.raises(StorageError, match="the server is gone") as raised:
        run(losing, storage=url)
    assert any("the error holds the study" in note for note in raised.value.__notes__)
    study: lw.Study = raised.value.study  # type: ignore[attr-defined]
    assert [t.value for t in study.trials if t.state is lw.State.TOLD] == [0.0, 1.0, 2.0]


def test_a_storage_that_is_lost_at_the_very_end_leaves_the_study(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    study = lw.Study(NUMBERS, near, storage=url)
    lost = StorageError("the server is gone")

    def gone(study: lw.Study, stopped: str) -> Any:
        raise lost

    monkeypatch.setattr(running, "_result", gone)
    with pytest.raises(StorageError) as raised:
        study.optimize(peak, budget=2)
    assert raised.value.study is study  # type: ignore[attr-defined]


def test_a_run_takes_every_option_of_a_study_and_of_its_running() -> None:
    of_study = set(inspect.signature(lw.Study).parameters) - {"space", "similarity", "direction"}
    # Several outcomes are `lw.optimize`'s.
    of_study -= {"objectives", "constraints", "preference", "reference"}
    assert set(Options.__annotations__) == of_study | set(RunSettings.__dataclass_fields__)
    assert set(RunOptions.__annotations__) == set(RunSettings.__dataclass_fields__)


def test_every_option_of_a_run_is_described() -> None:
    for name in RunOptions.__annotations__:
        assert re.search(rf"\b{name}\b", lw.Study.optimize.__doc__ or ""), name


def test_options_of_the_study_reach_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    best = run(budget=7, initial=7, strategy=lw.TopScore(), seed=3, worker="me", storage=url, name="mine")
    assert {t.summary.get("stage") for t in best.study.trials} == {"initial"}
    assert {t.worker for t in best.study.trials} == {"me"}
    assert lw.studies(url)[0].name == "mine"


def test_an_option_that_nobody_knows_is_refused() -> None:
    with pytest.raises(TypeError, match="budgett"):
        run(budgett=3)
