"""A user's table as a study: objects become a pool (or belong to a space), values are told, rows keep their numbers."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from likewise.campaign.columns import Kind
from likewise.campaign.names import Request, choose_similarities, molecular
from likewise.campaign.objects import Bad
from likewise.campaign.sheet import Sheet, cell_of, far_value, leave_out_bad
from likewise.campaign.text import Listener, Progress, count, shown
from likewise.errors import SimilarityError, SuspectWarning, TableError, UsageError
from likewise.similarity.auto import LEAST, affordable, encoding_seconds
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.molecules import parsed
from likewise.similarity.parallel import PIECE
from likewise.spaces.base import Space
from likewise.spaces.pool import Pool
from likewise.study.explanation import Recommendation
from likewise.study.goals import Computed
from likewise.study.recording import far_places
from likewise.study.study import Study
from likewise.study.trial import Trial
from likewise.tables.cells import numbers

Answer = TypeVar("Answer")
Check = Callable[[Sequence[Any]], Any]
# Fewer observations than this, and a study spreads its suggestions instead of modelling.
FIRST = 5
CHECKED = 512


@dataclass(frozen=True, eq=False)
class Problem:
    """A study of a table's objects, and the row of each."""

    study: Study
    similarities: list[Similarity]
    sheet: Sheet | None
    rows: dict[str, int]
    # The table's own objects, where candidates come from those.
    pool: Pool | None

    @property
    def known(self) -> int:
        """How many rows have a value that is no limit."""
        return 0 if self.sheet is None else len(self.sheet.known)

    @property
    def measured(self) -> int:
        """How many rows have a value."""
        return 0 if self.sheet is None else len(self.sheet.measured)

    @property
    def level(self) -> bool:
        """Whether all measured values are the same."""
        sheet = self.sheet
        return sheet is not None and len({tuple(sheet.results(i).values()) for i in sheet.measured}) == 1

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The names of outcomes with a measured value, if outcomes have names."""
        names, sheet = self.study.goals.named_outcomes if self.study.goals.named else (), self.sheet
        return () if sheet is None else tuple(n for n in names if any(n in sheet.results(i) for i in sheet.measured))

    @property
    def front(self) -> list[Trial]:
        """The measured objects that no other beats in every objective, and that keep to the limits; the best first.

        They are ordered by the first objective.
        """
        goals, study = self.study.goals, self.study
        first = next(iter(goals.objectives))
        return sorted(study.front, key=lambda t: -goals.sign(first) * study.objectives_of(t)[first])

    def place(self, x: Any) -> int | None:
        """The place that an object has in the table, counted from 0."""
        return self.rows.get(_key(self.study.space, x))

    def row(self, x: Any) -> int | None:
        """The number of the row that an object has in the table."""
        place = self.place(x)
        return None if place is None or self.sheet is None else self.sheet.table.number(place)

    def measured_rows(self, x: Any) -> list[int]:
        """The places of the rows in which an object was measured."""
        if self.sheet is None:
            return []
        space, objects, first = self.study.space, self.sheet.objects, self.place(x)
        key = _key(space, x)
        # Texts of a million rows are compared as they are; the first row is known.
        return [i for i in self.sheet.measured if i == first or _key(space, objects[i]) == key]

    def recommended(self) -> Recommendation | None:
        """The measured object with the highest expected value, or None if that is the best one."""
        if not self.measured or self.study.goals.named:
            return None
        study, (recommendation,) = self.study, self.study.recommend()
        return None if study.space.key(recommendation.object) == study.space.key(study.best.object) else recommendation

    def measured_of(self, outcome: str) -> int:
        """How many rows have a value of an outcome."""
        return 0 if self.sheet is None else len(self.sheet.measured_in(outcome))

    def known_of(self, outcome: str) -> int:
        """How many rows have a value of an outcome that is no limit."""
        return 0 if self.sheet is None else len(self.sheet.exact_in(outcome))

    def weights(self, outcome: str | None = None) -> list[tuple[str, float]]:
        """The similarities by name with their shares of the votes, the largest first; none before a first value.

        Without an outcome they are means over all that were measured.
        """
        if not self.measured:
            return []
        shares: dict[str, float] = {}
        outcomes: tuple[str | None, ...] = (self.outcomes or (None,)) if outcome is None else (outcome,)
        for name in outcomes:
            committee = self.study.committee(name)
            weights = committee.similarity_weights().tolist()
            for similarity, weight in zip(committee.similarities, weights, strict=True):
                shares[similarity.name] = shares.get(similarity.name, 0.0) + weight / len(outcomes)
        return sorted(shares.items(), key=lambda pair: -pair[1])

    def need(self, least: int, what: str) -> None:
        """A UsageError where there are too few observations for what was asked."""
        if self.measured < least:
            name = "the table" if self.sheet is None else self.sheet.table.name
            raise UsageError(f"{name} has {count(self.measured, 'measured row')}; {what} needs at least {least}.")


def solve(
    sheet: Sheet | None,
    request: Request,
    work: Callable[[Problem], Answer],
    listener: Listener,
    extra: Sequence[Any] = (),
    progress: Progress | None = None,
) -> tuple[Problem, Answer]:
    """The study of a table, and what some work on it gives.

    Objects that cannot be compared come to light in the work. They are reported by their rows, or left out and the work
    is done again. `extra` are objects that are not in the table.
    """
    while True:
        objects = [] if sheet is None else sheet.in_play
        pool: Pool | None = None
        space = request.space
        if space is None:
            space = pool = Pool([*objects, *extra])
        column = "" if sheet is None or sheet.roles.record else sheet.roles.objects[0]
        similarities = choose_similarities(request, space, objects if pool is None else pool.objects, column, listener)
        try:
            problem = _build(sheet, request, space, pool, similarities, listener, progress or Progress())
            return problem, work(problem)
        except SimilarityError:
            rest = _without_refused(sheet, extra, _check_of(similarities), request.skip_bad, listener)
            if rest is None:
                raise
            sheet = rest


def _build(
    sheet: Sheet | None,
    request: Request,
    space: Space,
    pool: Pool | None,
    similarities: list[Similarity],
    listener: Listener,
    progress: Progress,
) -> Problem:
    """The study of a table's objects with its values told."""
    if request.searching and sheet is not None and pool is not None:
        similarities = _affordable_similarities(similarities, pool, sheet, request, listener, progress)
    study = Study(
        space,
        similarities,
        **_goals(request, sheet, space),
        seed=request.seed,
        acquisition=request.acquisition,
        strategy=request.strategy,
        bounds=request.bounds,
        method=request.method,
    )
    rows: dict[str, int] = {}
    if sheet is not None:
        _tell(study, sheet)
        _remark_on_suspects(study, sheet, listener)
        _tell_states(study, sheet)
        for place in (*sheet.measured, *sheet.candidates, *sheet.under_way, *sheet.in_state(Kind.FAILED)):
            rows.setdefault(_key(space, sheet.objects[place]), place)
    return Problem(study, similarities, sheet, rows, pool)


def _goals(request: Request, sheet: Sheet | None, space: Space) -> dict[str, Any]:
    """Returns the direction, or the goals of several columns; a column that is full needs no model."""
    if request.aims is None:
        return {"direction": request.direction}
    given_columns = frozenset() if sheet is None else sheet.given
    if missed := [name for name in request.aims.limits if name in given_columns]:
        raise UsageError(
            f"{missed[0]!r} is known of every row, so nothing has to be learnt of it; leave such rows out "
            "by a condition on the candidates."
        )
    objectives: dict[str, Any] = dict(request.aims.objectives)
    for name in (name for name in objectives if name in given_columns):
        assert sheet is not None
        objectives[name] = Computed(column_of(sheet, space, name), objectives[name])
    return {"objectives": objectives, "constraints": dict(request.aims.limits)}


def column_of(sheet: Sheet, space: Space, name: str) -> Callable[[Any], float]:
    """A column of numbers as a function of the objects."""
    read = numbers(sheet.table.column(name), sheet.sign).values
    cells = {_key(space, x): read[i] for i, x in reversed([*enumerate(sheet.objects)]) if x is not None}
    return lambda x: cells[_key(space, x)]


def _key(space: Space, x: Any) -> str:
    """What tells an object from others; texts are their own key, which is quicker for a million of them."""
    return x if isinstance(x, str) else space.key(x)


def _affordable_similarities(
    similarities: list[Similarity], pool: Pool, sheet: Sheet, request: Request, listener: Listener, progress: Progress
) -> list[Similarity]:
    """The similarities to search a pool by: those for which a large one would take too long are left out."""
    if all(map(molecular, similarities)) and len(sheet.measured) < FIRST:
        _read_all(pool.objects, progress)
        return similarities
    if len(pool) > PIECE:
        # The pool has a progress bar of its own.
        progress.end()
    costs, seconds = encoding_seconds(similarities, len(pool))
    if request.similarity or len(similarities) == 1 or sum(costs) <= seconds:
        return similarities
    shares = _weights(similarities, sheet, request)
    chosen = affordable(shares, costs, seconds)
    for k in (k for k in range(len(similarities)) if k not in chosen and shares[k] >= LEAST):
        listener.note(
            f"{similarities[k].name} is left out: comparing {len(pool)} objects by it would take about {costs[k]:.0f} "
            "s more. Similarities that you name are all used"
        )
    return [similarities[k] for k in chosen]


def _read_all(molecules: Sequence[Any], progress: Progress) -> None:
    """Read all molecules: a first batch is chosen among a few, and those that are wrong are to come out at once."""
    progress.stage(f"reading {len(molecules)} molecules", len(molecules))
    for start in range(0, len(molecules), CHECKED):
        parsed(molecules[start : start + CHECKED])
        progress.advance(CHECKED)
    progress.stage("comparing objects")


def _weights(similarities: list[Similarity], sheet: Sheet, request: Request) -> list[float]:
    """How much each similarity counts on the measured rows alone."""
    places = [i for i in sheet.measured if not math.isnan(sheet.values[i])]
    study = Study(Pool([sheet.objects[i] for i in places]), similarities, direction=request.direction)
    study.tell_many([(sheet.objects[i], sheet.values[i], sheet.std(i)) for i in places])
    shares: list[float] = study.committee().similarity_weights().tolist()
    return shares


def _tell(study: Study, sheet: Sheet) -> None:
    """Tell a study what was measured."""
    with warnings.catch_warnings():
        # Suspects are noted by their rows.
        warnings.simplefilter("ignore", SuspectWarning)
        if not study.goals.named:
            study.tell_many([(sheet.objects[i], sheet.measurement(i)) for i in sheet.measured])
        else:
            study.tell_many([(sheet.objects[i], _outcomes(sheet, i)) for i in sheet.measured])


def _outcomes(sheet: Sheet, place: int) -> dict[str, Any]:
    """What was measured in a row by column: values or limits; the first may have a standard deviation."""
    return {name: sheet.measurement(place, name) for name in sheet.results(place)}


def _remark_on_suspects(study: Study, sheet: Sheet, listener: Listener) -> None:
    """Note which values are far from all others, by their rows."""
    for outcome in study.goals.named_outcomes:
        column, of = (outcome, f"{outcome} ") if study.goals.named else (sheet.roles.value, "")
        measurements = sheet.exact_in(column)
        for i in ([*measurements][k] for k in far_places([*measurements.values()])):
            listener.note(f"row {sheet.table.number(i)}: {of}{far_value(sheet.objects[i], measurements[i].value)}")


def _tell_states(study: Study, sheet: Sheet) -> None:
    """Tell a study the failures and the running objects; in a space, objects not to be suggested count as running."""
    for place in sheet.in_state(Kind.FAILED):
        study.fail(sheet.objects[place], sheet.states[place].said)
    closed = [] if isinstance(study.space, Pool) else sheet.closed
    measured = set(sheet.measured)
    study.mark_running([sheet.objects[place] for place in (*sheet.under_way, *closed) if place not in measured])


def _without_refused(
    sheet: Sheet | None, extra: Sequence[Any], check: Check, skip_bad: bool, listener: Listener
) -> Sheet | None:
    """The sheet without rows whose objects cannot be compared; None where no object is to blame.

    What cannot be left out is raised, by its row.
    """
    places = [] if sheet is None else [i for i, x in enumerate(sheet.objects) if x is not None]
    objects = [*(sheet.objects[i] for i in places), *extra] if sheet is not None else list(extra)
    refused: list[tuple[int, str]] = []
    with listener.working("looking for rows that cannot be compared", len(objects)) as progress:
        for start in range(0, len(objects), CHECKED):
            refused += _refusals(objects, range(start, min(start + CHECKED, len(objects))), check)
            progress.advance(CHECKED)
    for place, reason in refused:
        if place >= len(places):
            raise UsageError(f"Object {shown(objects[place])!r} cannot be compared: {reason}.")
    if sheet is None:
        return None
    if not refused:
        _check_together(sheet, places, objects, check)
        return None
    return leave_out_bad(sheet, [_bad(sheet, places[i], reason) for i, reason in refused], skip_bad, listener)


def _bad(sheet: Sheet, place: int, reason: str) -> Bad:
    return Bad(place, sheet.roles.objects[0], shown(sheet.objects[place]), reason)


def _refusals(objects: Sequence[Any], places: range, check: Check) -> list[tuple[int, str]]:
    """Returns the places of objects that a similarity cannot compare, and why, by trying halves of halves."""
    error = _error_of([objects[i] for i in places], check)
    if error is None:
        return []
    if len(places) == 1:
        # Its own count of rows begins anew, and would mislead.
        text = str(error).removeprefix("row 0 is ").removeprefix("record 0 ").removeprefix("object 0 ")
        return [(places[0], text)]
    half = len(places) // 2
    return [*_refusals(objects, places[:half], check), *_refusals(objects, places[half:], check)]


def _check_together(sheet: Sheet, places: Sequence[int], objects: Sequence[Any], check: Check) -> None:
    """Refuse the first object that cannot be compared with those above it, though each could be on its own."""
    first = bisect_left(range(len(objects) + 1), True, key=lambda n: _error_of(objects[:n], check) is not None)
    if first > len(objects):
        return
    reason = str(_error_of(objects[:first], check))
    if first > len(places):
        raise UsageError(f"Object {shown(objects[first - 1])!r} does not go with the table: {reason}.")
    raise TableError(f"{cell_of(sheet.table, _bad(sheet, places[first - 1], reason))}: {reason}.")


def _error_of(objects: Sequence[Any], check: Check) -> SimilarityError | None:
    try:
        check(objects)
    except SimilarityError as error:
        return error
    return None


def _check_of(compared: Sequence[Similarity]) -> Check:
    """What every similarity has to say about some objects; of molecules, reading them is enough."""

    def check(objects: Sequence[Any]) -> None:
        for similarity in compared:
            try:
                parsed(objects) if molecular(similarity) else similarity.encode(objects)
            except SimilarityError as error:
                whose = f" (similarity {similarity.name})" if len(compared) > 1 else ""
                raise SimilarityError(f"{error}{whose}") from None

    return check
