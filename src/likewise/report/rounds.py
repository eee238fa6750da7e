"""How it has gone, round by round."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate, groupby

from likewise.campaign.problem import Problem
from likewise.campaign.sheets.sheet import Sheet


@dataclass(frozen=True)
class RoundResult:
    """A round: its measured runs, the best of them, and the best until then; `better` where it was its doing."""

    label: str
    runs: int
    best: float
    best_so_far: float
    better: bool


def _labels(sheet: Sheet, names: Collection[str] = ()) -> list[str]:
    """The round of each measured row, in the order of the measurements; those before the first have none.

    Of several outcomes those rows count that have all of these, measured or known.
    """
    column = sheet.order if sheet.order is not None and sheet.order.strip().lower() == "round" else sheet.own.round
    needed = {*names} - sheet.given
    return [sheet.cell(column, place) for place in sheet.measured if needed <= sheet.results(place).keys()]


def reaching(problem: Problem) -> list[int]:
    """The measured rows that are as good as their value: not those which are only known to be worse than a limit."""
    sheet, worse = problem.sheet, "above" if problem.study.direction == "minimize" else "below"
    return [] if sheet is None else [i for i in sheet.measured if sheet.measurement(i).limit != worse]


def round_starts(problem: Problem, names: Collection[str] = ()) -> list[int]:
    """At which measurement of all these outcomes each round begins; none where there are no rounds."""
    if problem.sheet is None or len(set(labels := _labels(problem.sheet, names))) < 2:
        return []
    sizes = [len(list(group)) for _, group in groupby(labels)]
    return [0, *accumulate(sizes[:-1])]


def rounds(problem: Problem) -> list[RoundResult]:
    """The rounds of a table in their order; none where it has no such column, or one round alone."""
    starts, sheet = round_starts(problem), problem.sheet
    if not starts or sheet is None:
        return []
    pick = min if problem.study.direction == "minimize" else max
    labels, good, found = _labels(sheet), set(reaching(problem)), list[RoundResult]()
    for begin, end in zip(starts, [*starts[1:], len(labels)], strict=True):
        places = sheet.measured[begin:end]
        best = pick(sheet.values[i] for i in [i for i in places if i in good] or places)
        before = found[-1].best_so_far if found else None
        so_far = best if before is None else pick(best, before)
        found.append(RoundResult(labels[begin] or "before", end - begin, best, so_far, so_far != before))
    return found


def fruitless(found: list[RoundResult]) -> int:
    """How many rounds at the end brought nothing better.

    >>> fruitless([RoundResult("1", 4, 3.0, 3.0, True), RoundResult("2", 4, 2.0, 3.0, False)])
    1
    """
    return next((n for n, one in enumerate(reversed(found)) if one.better), 0)
