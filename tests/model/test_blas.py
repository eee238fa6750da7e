"""BLAS has one thread inside, and as many as before afterwards, whoever else is inside."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

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
