"""What is asked of a task before its first run."""

from __future__ import annotations

from benchmarks.tasks.base import Task
from benchmarks.tasks.pool import Pool


def check(task: Task) -> None:
    """Stop where the pool is too small for the evaluations, or where regret has no meaning."""
    if isinstance(task, Pool) and task.initial + task.budget > len(task.values):
        raise SystemExit(
            f"{task.name} has {len(task.values)} objects, fewer than --initial {task.initial} + --budget "
            f"{task.budget}; lower one of them"
        )
    if not task.facts.best > task.facts.median:
        raise SystemExit(
            f"half of {task.name} or more has the best value, {task.sign * task.facts.best:g}, so regret, which is "
            "measured from it to the median, has no meaning; choose another --value or direction"
        )
