"""BoTorch: a Gaussian process and log expected improvement, with the settings its documentation recommends."""

from __future__ import annotations

from benchmarks.methods.base import Method, Optimiser
from benchmarks.tasks.base import Task
from benchmarks.tasks.box import Box
from benchmarks.tasks.pool import Pool


def _start(task: Task, seed: int) -> Optimiser:
    if isinstance(task, Box):
        from benchmarks.methods.botorch_box import BoxOptimiser

        return BoxOptimiser(task, seed)
    from benchmarks.methods.botorch_pool import PoolOptimiser

    assert isinstance(task, Pool)
    return PoolOptimiser(task, seed)


def _settings(task: Task) -> str:
    if isinstance(task, Box):
        from benchmarks.methods.botorch_box import SETTINGS

        return SETTINGS
    from benchmarks.methods.botorch_pool import settings

    assert isinstance(task, Pool)
    return settings(task)


def _start_described(task: Task, seed: int) -> Optimiser:
    from benchmarks.methods.botorch_kernels import described
    from benchmarks.methods.botorch_pool import PoolOptimiser

    assert isinstance(task, Pool)
    return PoolOptimiser(task, seed, described)


def _described_settings(task: Task) -> str:
    from benchmarks.methods.botorch_kernels import described
    from benchmarks.methods.botorch_pool import settings

    assert isinstance(task, Pool)
    return settings(task, described)


LIBRARIES = ("botorch", "gpytorch", "torch")
BOTORCH = Method("botorch", _settings, LIBRARIES, lambda task: isinstance(task, Box | Pool), _start)
BOTORCH_DESCRIPTORS = Method(
    "botorch-descriptors",
    _described_settings,
    LIBRARIES,
    lambda task: isinstance(task, Pool) and task.kind == "molecules",
    _start_described,
)
