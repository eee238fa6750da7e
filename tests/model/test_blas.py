"""BLAS has one thread inside, and as many as before afterwards, whoever else is inside."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from likewise.model.blas import one_thread
from likewise.study.study import Study

controller = pytest.importorskip("threadpoolctl").ThreadpoolController()


def counts() -> set[int]:
    return {library["num_threads"] for library in controller.info() if library["user_api"] == "blas"}


def test_one_thread_inside_and_two_before_and_after() -> None:
    with controller.limit(limits=2, user_api="blas"):
        if counts() != {2}:
            pytest.skip("this BLAS has one thread only")
        with one_thread():
            with one_thread():
                assert counts() == {1}
            assert counts() == {1}
        assert counts() == {2}
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert counts() == {2}


def test_those_inside_at_the_same_time_leave_it_as_it_was() -> None:
    """The first one in is the first one out: restoring what each found would leave one thread for ever."""
    both, left = Barrier(2, timeout=200), Barrier(2, timeout=200)

    def first() -> None:
        with one_thread():
            both.wait()
        left.wait()

    def last() -> None:
        both.wait()
        with one_thread():
            left.wait()

    with controller.limit(limits=2, user_api="blas"):
        before = counts()
        with ThreadPoolExecutor(2) as executor:
            for done in (executor.submit(first), executor.submit(last)):
                done.result()
        assert counts() == before


def test_libraries_that_nobody_has_loaded_yet_have_one_thread_too() -> None:
    code = (
        "from likewise.model.blas import one_thread\n"
        "with one_thread():\n"
        "    import numpy, scipy.linalg, threadpoolctl\n"
        "    print(*(each['num_threads'] for each in threadpoolctl.threadpool_info() if each['user_api'] == 'blas'))"
    )
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    answer = subprocess.run([sys.executable, "-c", code], env=free, capture_output=True, text=True, check=True)
    assert set(answer.stdout.split()) == {"1"}


@pytest.mark.parametrize("command", ["suggest --report report.html --json", "diagnose", "compare", "explain ABBA"])
def test_a_command_has_one_thread_from_its_first_line_to_its_answer(
    run: Callable[..., Any], words: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    pytest.importorskip("matplotlib", reason="a report needs Matplotlib")
    from scipy import linalg

    seen = set[int]()

    def watching(function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **options: Any) -> Any:
            seen.update(counts())
            return function(*arguments, **options)

        return watched

    for module, name in ((linalg, "cho_solve"), (linalg, "solve_triangular"), (np.linalg, "eigh"), (np, "exp")):
        monkeypatch.setattr(module, name, watching(getattr(module, name)))
    with controller.limit(limits=2, user_api="blas"):
        name, *options = command.split()
        assert run(name, words, *options, "-o", "word", "--similarity", "hamming").code == 0
        assert seen == {1}
        assert counts() <= {2}


def test_a_study_thinks_with_one_thread() -> None:
    import likewise as lw

    seen = []

    class Watching(lw.Similarity):
        def encode(self, objects: object) -> object:
            return np.array(objects, dtype=float)

        def between(self, a: object, b: object) -> object:
            seen.append(counts())
            return np.exp(-np.abs(np.subtract.outer(a, b)))

        def within(self, a: object) -> object:
            return np.ones(len(a))  # type: ignore[arg-type]

    with controller.limit(limits=2, user_api="blas"):
        study = Study(lw.Pool([1.0, 2.0, 3.0, 4.0]), Watching(), initial=1)
        study.tell(1.0, 0.5)
        study.tell(3.0, 0.7)
        study.ask()
        study.predict([2.0])
    assert {1} in seen
