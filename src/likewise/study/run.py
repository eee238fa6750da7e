"""One call: optimise a function over a space."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from likewise.errors import StudyError
from likewise.spaces.base import Space
from likewise.study.likenesses import Likeness
from likewise.study.progress import Progress
from likewise.study.study import Direction, Study

FAILURES_IN_A_ROW = 10


@dataclass(frozen=True)
class Result:
    """The best object found, its value, and the study behind them."""

    object: Any
    value: float
    study: Study


def maximize(
    f: Callable[[Any], Any],
    space: Space,
    similarity: Likeness | Sequence[Likeness] | Literal["auto"] = "auto",
    *,
    budget: int = 60,
    batch: int = 1,
    seed: int = 0,
    progress: bool | None = None,
    **study_options: Any,
) -> Result:
    """Find the object with the largest f, in `budget` evaluations.

    `f` returns a number, or a Measurement with its standard deviation; an f that raises is recorded as a failed trial.

    >>> import likewise as lw
    >>> best = lw.maximize(lambda x: -((x[0] - 0.7) ** 2), lw.Box([0.0], [1.0]), lw.RBF(), budget=12)
    >>> round(float(best.object[0]), 1)
    0.7
    """
    return _optimised(f, space, similarity, "maximize", budget, batch, seed, progress, study_options)


def minimize(
    f: Callable[[Any], Any],
    space: Space,
    similarity: Likeness | Sequence[Likeness] | Literal["auto"] = "auto",
    *,
    budget: int = 60,
    batch: int = 1,
    seed: int = 0,
    progress: bool | None = None,
    **study_options: Any,
) -> Result:
    """Find the object with the smallest f, in `budget` evaluations; see `maximize`."""
    return _optimised(f, space, similarity, "minimize", budget, batch, seed, progress, study_options)


def _optimised(
    f: Callable[[Any], Any],
    space: Space,
    similarity: Likeness | Sequence[Likeness] | Literal["auto"],
    direction: Direction,
    budget: int,
    batch: int,
    seed: int,
    progress: bool | None,
    study_options: dict[str, Any],
) -> Result:
    study = Study(space, similarity, direction=direction, seed=seed, **study_options)
    done = failures = 0
    with Progress(budget, shown=progress) as bar:
        while done < budget:
            suggestions = study.ask(min(batch, budget - done))
            if not suggestions:
                break
            for s in suggestions:
                try:
                    study.tell(s, f(s.object))
                    failures = 0
                except StudyError as error:
                    study.fail(s, str(error))
                    failures += 1
                except Exception:
                    study.fail(s, traceback.format_exc())
                    failures += 1
                done += 1
                bar.advance(done, study)
            if failures >= FAILURES_IN_A_ROW:
                raise StudyError(
                    f"the last {failures} evaluations failed, so the run was stopped; the study is kept. "
                    f"The last error was: {study.trials[-1].error}"
                )
    best = study.best
    assert best.value is not None
    return Result(best.object, best.value, study)
