"""A user's table as a study: objects become a pool (or belong to a space), values are told, rows keep their numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from likewise.campaign.console import Console, Progress
from likewise.campaign.objects import Bad, shown
from likewise.campaign.sheet import Sheet, cell_of, without_bad
from likewise.campaign.similarities import Request, chosen, molecular
from likewise.errors import SimilarityError, TableError, UsageError
from likewise.similarity.auto.prices import LEAST, affordable, encoding_seconds
from likewise.similarity.encodings.pieces import PIECE

if TYPE_CHECKING:
    from likewise.similarity.base import Similarity
    from likewise.spaces.base import Space
    from likewise.spaces.pools.pool import Pool
    from likewise.study.study import Study

Answer = TypeVar("Answer")
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

    def place(self, x: Any) -> int | None:
        """The place that an object has in the table, counted from 0."""
        return self.rows.get(_key(self.study.space, x))

    def row(self, x: Any) -> int | None:
        """The number of the row that an object has in the table."""
        place = self.place(x)
        return None if place is None or self.sheet is None else self.sheet.table.number(place)


def answered(
    sheet: Sheet | None,
    request: Request,
    work: Callable[[Problem], Answer],
    console: Console,
    extra: Sequence[Any] = (),
    progress: Progress | None = None,
) -> tuple[Problem, Answer]:
    """The study of a table, and what some work on it gives.

    Objects that cannot be compared come to light in the work; they are reported by their rows, or skipped and the work
    is done again without them.
    """
    while True:
        similarities: list[Similarity] = []
        try:
            problem = posed(sheet, request, console, similarities, extra, progress or Progress())
            return problem, work(problem)
        except SimilarityError:
            check = _check_of(similarities)
            _check_given(extra, check)
            bad = [] if sheet is None else _incomparable(sheet, check, console)
            if sheet is None or not bad:
                _check_together(sheet, extra, check)
                raise
            sheet = without_bad(sheet, bad, request.skip_bad, console)


def posed(
    sheet: Sheet | None,
    request: Request,
    console: Console,
    found: list[Similarity],
    extra: Sequence[Any],
    progress: Progress,
) -> Problem:
    """The study of a table's objects with its values told; the similarities it compares them by are put in `found`."""
    from likewise.spaces.pools.pool import Pool
    from likewise.study.study import Study

    objects = [] if sheet is None else [x for x in sheet.objects if x is not None]
    pool = Pool([*objects, *extra]) if request.space is None else None
    space: Space = request.space if pool is None else pool  # type: ignore[assignment]
    found += chosen(request, space, objects if pool is None else pool.objects, _column(sheet), console)
    if request.searching and sheet is not None and pool is not None:
        found[:] = _prepared(found, pool, sheet, request, console, progress)
    study = Study(
        space,
        found,
        direction=request.direction,
        seed=request.seed,
        acquisition=request.acquisition,
        strategy=request.strategy,
    )
    rows: dict[str, int] = {}
    if sheet is not None:
        _told(study, sheet)
        for place in (*sheet.measured, *sheet.candidates):
            rows.setdefault(_key(space, sheet.objects[place]), place)
    return Problem(study, found, sheet, rows, pool)


def _key(space: Space, x: Any) -> str:
    """What tells an object from others; texts are their own key, which is quicker for a million of them."""
    return x if isinstance(x, str) else space.key(x)


def _column(sheet: Sheet | None) -> str:
    """The name of the objects' column, where they have one alone."""
    return "" if sheet is None or sheet.roles.record else sheet.roles.objects[0]


def _prepared(
    found: list[Similarity], pool: Pool, sheet: Sheet, request: Request, console: Console, progress: Progress
) -> list[Similarity]:
    """The similarities to search a pool by: those for which a large one would take too long are left out."""
    if all(map(molecular, found)) and len(sheet.measured) < FIRST:
        _readable(pool.objects, progress)
        return found
    if len(pool) > PIECE:
        # The pool has a progress bar of its own.
        progress.end()
    costs, seconds = encoding_seconds(found, len(pool))
    if request.similarity or len(found) == 1 or sum(costs) <= seconds:
        return found
    shares = _weights(found, sheet, request)
    kept = affordable(shares, costs, seconds)
    for k in (k for k in range(len(found)) if k not in kept and shares[k] >= LEAST):
        console.note(
            f"{found[k].name} is left out, as comparing {len(pool)} objects by it would take about {costs[k]:.0f} s "
            "more; --similarity takes all that it names"
        )
    return [found[k] for k in kept]


def _readable(molecules: Sequence[Any], progress: Progress) -> None:
    """Read all molecules: a first batch is chosen among a few, and those that are wrong are to come out at once."""
    progress.stage(f"reading {len(molecules)} molecules", len(molecules))
    for start in range(0, len(molecules), CHECKED):
        _parsed(molecules[start : start + CHECKED])
        progress.advance(CHECKED)
    progress.stage("comparing objects")


def _weights(found: list[Similarity], sheet: Sheet, request: Request) -> list[float]:
    """How much each similarity counts on the measured rows alone."""
    from likewise.spaces.pools.pool import Pool
    from likewise.study.study import Study

    study = Study(Pool([sheet.objects[i] for i in sheet.measured]), found, direction=request.direction)
    _told(study, sheet)
    shares: list[float] = study.committee().similarity_weights().tolist()
    return shares


def _told(study: Study, sheet: Sheet) -> None:
    for place in sheet.measured:
        study.tell(sheet.objects[place], sheet.values[place], std=sheet.std(place))


def _incomparable(sheet: Sheet, check: Check, console: Console) -> list[Bad]:
    """The rows whose objects a similarity refuses; halves of the table are tried until single rows are left."""
    places = [i for i, x in enumerate(sheet.objects) if x is not None]
    bad: list[Bad] = []
    with console.working("looking for rows that cannot be compared", len(places)) as progress:
        for start in range(0, len(places), CHECKED):
            some = places[start : start + CHECKED]
            bad += _refused(sheet, some, check)
            progress.advance(len(some))
    return bad


Check = Callable[[Sequence[Any]], Any]


def _refused(sheet: Sheet, places: Sequence[int], check: Check) -> list[Bad]:
    try:
        check([sheet.objects[i] for i in places])
    except SimilarityError as error:
        if len(places) > 1:
            half = len(places) // 2
            return [*_refused(sheet, places[:half], check), *_refused(sheet, places[half:], check)]
        return [Bad(places[0], sheet.roles.objects[0], shown(sheet.objects[places[0]]), _reason(error))]
    return []


def _reason(error: SimilarityError) -> str:
    """What is wrong with a single object; its own count of rows begins anew, and would mislead."""
    return str(error).removeprefix("row 0 is ").removeprefix("record 0 ").removeprefix("object 0 ")


def _check_given(extra: Sequence[Any], check: Check) -> None:
    """Refuse objects of the command line that cannot be compared."""
    for x in extra:
        try:
            check([x])
        except SimilarityError as error:
            raise UsageError(f"OBJECT {shown(x)!r} cannot be compared: {_reason(error)}.") from None


def _check_together(sheet: Sheet | None, extra: Sequence[Any], check: Check) -> None:
    """Refuse the first object that cannot be compared with those above it, though each could be on its own."""
    if sheet is None:
        return
    places = [i for i, x in enumerate(sheet.objects) if x is not None]
    objects = [*(sheet.objects[i] for i in places), *extra]
    first = bisect_left(range(len(objects) + 1), True, key=lambda count: _complaint(objects[:count], check) is not None)
    if first > len(objects):
        return
    reason, text = str(_complaint(objects[:first], check)), shown(objects[first - 1])
    if first > len(places):
        raise UsageError(f"OBJECT {text!r} does not go with the table: {reason}.")
    bad = Bad(places[first - 1], sheet.roles.objects[0], text, reason)
    raise TableError(f"{cell_of(sheet.table, bad)}: {reason}.")


def _complaint(objects: Sequence[Any], check: Check) -> SimilarityError | None:
    try:
        check(objects)
    except SimilarityError as error:
        return error
    return None


def _check_of(compared: Sequence[Similarity]) -> Check:
    return _parsed if any(map(molecular, compared)) else _encoded_by(compared)


def _parsed(objects: Sequence[Any]) -> None:
    from likewise.similarity.kinds.smiles import parsed

    parsed(objects)


def _encoded_by(compared: Sequence[Similarity]) -> Check:
    return lambda objects: [similarity.encode(objects) for similarity in compared]


def enough(problem: Problem, least: int, what: str) -> None:
    """A complaint where there are too few observations for what was asked."""
    count = 0 if problem.sheet is None else len(problem.sheet.measured)
    if count < least:
        name = "the table" if problem.sheet is None else problem.sheet.table.name
        raise UsageError(
            f"{name} has {count} measured {'row' if count == 1 else 'rows'}; {what} needs at least {least}."
        )
