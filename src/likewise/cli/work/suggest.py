"""What `likewise suggest` does: it reads a table, asks its study, writes a round of runs, and says what to do next."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from likewise.campaign import names, space_text
from likewise.campaign.columns import Aims, Kind, read_value
from likewise.campaign.journal import Base, Journal
from likewise.campaign.names import Request
from likewise.campaign.outputs import (
    Asked,
    Committed,
    Unmerged,
    check_targets,
    commit_first_table,
    commit_round,
    find_unmerged,
    plate_map,
    write_plate,
)
from likewise.campaign.problem import Problem, solve
from likewise.campaign.reasons import (
    ORDER,
    Judgement,
    Reasons,
    cells_of,
    columns_of,
    front_prospect,
    headings_of,
    judge,
    named_cells,
    nothing_to_suggest,
    prospect,
)
from likewise.campaign.results import check_closed, persist, stamp
from likewise.campaign.rounds import lost_results, untouched_round
from likewise.campaign.settings import NAME
from likewise.campaign.sheet import Choices, Sheet, rows_named, sheet
from likewise.campaign.text import Listener, count, expectation, interval, percent, plus_minus
from likewise.cli.answers import analogues_json, header_json, object_json, weights_json
from likewise.cli.batches import Batch
from likewise.cli.commands import options
from likewise.cli.console import Console, answer_width, say
from likewise.cli.parameters import Reply
from likewise.cli.work.init import write_empty
from likewise.cli.work.session import OF_COLUMNS, Session, command, words
from likewise.errors import StudyError, UsageError
from likewise.report.page import Story, check_report, write_report
from likewise.spaces.base import Space
from likewise.study.explanation import Gain
from likewise.study.trial import Outcome, Suggestion, Trial
from likewise.tables.writing import check_name

# Rows for a terminal: under the names of their columns where they fit, else one below the other.

GAP = "  "
# Columns below which nothing can be laid out sensibly.
NARROWEST = 30


class Line(NamedTuple):
    """A row: its cells, and what is said of it below, each with a label."""

    cells: Sequence[str]
    below: Sequence[tuple[str, str]] = ()


def lay_out(columns: Sequence[str], rows: Sequence[Line], width: int, right: Collection[int] = ()) -> list[str]:
    """The rows as lines of text.

    >>> print("\\n".join(lay_out(("", "base", "t"), [Line(("1", "KOH", "80"), [("because", "of that")])], 40)))
       base  t
    1  KOH   80
       because of that
    >>> print("\\n".join(lay_out(("", "base", "t"), [Line(("1", "K" * 40, "80"))], 40)))
    1  base  KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK
             KKKKKKKKK
       t     80
    """
    cells = [columns, *(row.cells for row in rows)]
    widths = [max(_width(line[k]) for line in cells) for k in range(len(columns))]
    if sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        return _table(columns, rows, widths, max(width, NARROWEST), right)
    return _stack(columns, rows, max(width, NARROWEST))


def _table(
    columns: Sequence[str], rows: Sequence[Line], widths: Sequence[int], width: int, right: Collection[int]
) -> list[str]:
    indent = widths[0] + len(GAP)
    lines = [_row(columns, widths, right)]
    for row in rows:
        lines.append(_row(row.cells, widths, right))
        for label, text in row.below:
            first, *rest = wrap(f"{label} {text}" if label else text, width - indent)
            lines += [" " * indent + first, *(" " * (indent + 2) + other for other in rest)]
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    padded = [
        (" " * (w - _width(cell)) + cell) if k in right else cell + " " * (w - _width(cell))
        for k, (cell, w) in enumerate(zip(cells, widths, strict=True))
    ]
    return GAP.join(padded).rstrip()


def _stack(columns: Sequence[str], rows: Sequence[Line], width: int) -> list[str]:
    labels = [*columns[1:], *(label for row in rows for label, _ in row.below)]
    first, label = max(_width(row.cells[0]) for row in rows), max(map(_width, labels))
    indent = first + label + 2 * len(GAP)
    lines: list[str] = []
    for row in rows:
        title = row.cells[0]
        for name, text in [*zip(columns[1:], row.cells[1:], strict=True), *row.below]:
            head = f"{title}{' ' * (first - _width(title))}{GAP}{name}{' ' * (label - _width(name))}{GAP}"
            start, *rest = wrap(text, width - indent)
            lines += [(head + start).rstrip(), *(" " * indent + other for other in rest)]
            title = ""
        lines.append("")
    return lines[:-1]


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most this width; long words, such as structures, are broken."""
    import textwrap

    width = max(width, 12)
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


# What `likewise suggest` says where there are several outcomes: each with its uncertainty, the front, the limits.

# Objects of a front that are listed; the others are counted.
LISTED = 6


def lay_out_outcomes(
    problem: Problem, runs: Sequence[str], suggestions: Sequence[Suggestion], reasons: Reasons, columns: Sequence[str]
) -> list[str]:
    """The suggestions, a column for each factor and one for each outcome, and why."""
    goals, names = problem.study.goals, reasons.names
    limited = suggestions[0].chance_feasible is not None
    chance = "enters the front" if goals.objective is None else "beats best"
    headings = [
        *headings_of(names, columns),
        *goals.objectives,
        *(n for n in goals.constraints if n not in goals.objectives),
    ]
    more = [chance, *(["keeps limits"] if limited else [])]
    rows = []
    for run, s in zip(runs, suggestions, strict=True):
        texts = named_cells(names, columns, cells_of(problem, s.object, columns))
        chances = [percent(s.chance), *([percent(s.chance_feasible)] if limited else [])]
        sides = [(name, zip(("because", "against"), reasons.texts(s, name), strict=True)) for name in s.outcomes]
        below = [(f"{name} {label}", text) for name, texts in sides for label, text in texts if text]
        rows.append(Line([run, *texts, *_expected(problem, s), *chances], below))
    right = [len(headings) + 1 + k for k in range(len(more))]
    return lay_out(["", *headings, *more], rows, answer_width(), right)


def _expected(problem: Problem, s: Suggestion) -> list[str]:
    """What is expected of each outcome; one that is known is said as it is."""
    goals, cells = problem.study.goals, []
    for name in dict.fromkeys((*goals.objectives, *goals.constraints)):
        if name in goals.computed:
            cells.append(f"{goals.computed[name].values([s.object])[0]:.6g}")
        else:
            expected = s.outcomes.get(name)
            cells.append("" if expected is None else plus_minus(expected.mean, expected.std))
    return cells


def front_lines(problem: Problem, reasons: Reasons) -> list[str]:
    """The front so far, in a few lines."""
    front, goals = problem.front, problem.study.goals
    if not front:
        limits = " and keeps to the limits" if goals.constraints else ""
        return [f"No measured object has every objective{limits} yet."]
    title = (
        "Best so far"
        if goals.objective is not None
        else f"The front so far, {len(front)} of {problem.measured} measured"
    )
    chosen = (
        front if len(front) <= LISTED else [front[round(k * (len(front) - 1) / (LISTED - 1))] for k in range(LISTED)]
    )
    left = len(front) - len(chosen)
    lines = [f"{title}:", *(f"  {_one(problem, trial, reasons)}" for trial in chosen)]
    return lines + ([f"  and {left} more between them"] if left else [])


def _one(problem: Problem, trial: Trial, reasons: Reasons) -> str:
    study = problem.study
    limited = {name: value for name, value in trial.values.items() if name in study.goals.constraints}
    values_by_name = {**study.objectives_of(trial), **limited}
    values = ", ".join(f"{name} {trial.outcomes.get(name, Outcome(value))}" for name, value in values_by_name.items())
    places = problem.measured_rows(trial.object)
    where = f" ({rows_named(problem.sheet.table, places)})" if problem.sheet is not None and places else ""
    return f"{values}{where}: {reasons.names.object(trial.object, reasons.column)}"


def rows_of(problem: Problem, x: Any) -> list[int]:
    """The numbers of the rows in which an object was measured."""
    sheet = problem.sheet
    return [] if sheet is None else [sheet.table.number(place) for place in problem.measured_rows(x)]


def front_json(problem: Problem) -> dict[str, Any]:
    """The front and its hypervolume as JSON data."""
    study = problem.study
    front = [
        {
            **object_json(problem, t.object),
            "values": {**t.values, **study.objectives_of(t)},
            "rows": rows_of(problem, t.object),
        }
        for t in problem.front
    ]
    return {"front": front, "hypervolume": study.hypervolume}


def outcomes_json(s: Suggestion) -> dict[str, Any]:
    """What is expected of several outcomes as JSON data; nothing where there is one without a name."""
    if not s.outcomes:
        return {}
    return {"outcomes": {n: asdict(outcome) for n, outcome in s.outcomes.items()}, "chance_feasible": s.chance_feasible}


# What `likewise suggest` answers: a table of runs for people, data for programs, and the command to go on with.

NEXT = "next.csv"


class Files(NamedTuple):
    """The files that are written beside the answer, and whether they may replace others.

    `more` says that the last round stays out, even if nothing has come back of it.
    """

    out: Path | None = None
    report: Path | None = None
    force: bool = False
    more: bool = False
    plate: Path | None = None


@dataclass(frozen=True)
class Plan:
    """What was asked for, by the names of the options, and in which session: for the record, and to go on."""

    session: Session | None = None
    typed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """The options as JSON data, but for the files."""
        return {k: v for k, v in self.typed.items() if k not in ("out", "report", "plate")}

    def suggest(self, table: Path, out: Path | None) -> str:
        """The command for the next round."""
        project = None if self.session is None else self.session.project
        options = {**self.typed, "out": out}
        return command("suggest", table, *words(options), project=project, skip_bad=options.get("skip_bad"))

    def tell(self, table: Path, results: Path, *, skip_bad: bool = False) -> str:
        """The command that merges the results of this one; `skip_bad` says that some of them cannot be used."""
        project = None if self.session is None else self.session.project
        mine = project if project is not None and project.options.get("out") == results else None
        columns = {name: self.typed.get(name) for name in OF_COLUMNS}
        columns["skip_bad"] = skip_bad or columns["skip_bad"]
        return command("tell", table, results, *words(columns), project=mine, skip_bad=columns["skip_bad"])


@dataclass(frozen=True, eq=False)
class Answer:
    """What is suggested, on what grounds, and where it was written."""

    problem: Problem
    suggestions: Sequence[Suggestion]
    verdict: str | None
    chosen: Choices
    files: Files
    plan: Plan
    committed: Committed | None
    gain: Gain | None = None

    @property
    def prospect(self) -> str:
        """What is still to be gained, in words."""
        if self.problem.study.goals.named:
            return front_prospect(self.gain, entering=self.problem.study.goals.objective is None)
        return prospect(self.gain, self.value, minimize=self.problem.study.direction == "minimize")

    @property
    def value(self) -> str:
        """The name of the values' column."""
        sheet = self.problem.sheet
        return (self.chosen.value or "value") if sheet is None else sheet.roles.value

    @property
    def names(self) -> list[str]:
        """What each suggestion is called: its run, or its rank where nothing was written."""
        if self.committed is None:
            return [str(rank) for rank in range(1, len(self.suggestions) + 1)]
        return list(self.committed.runs)

    def story(self, judgement: Judgement | None, notes: Sequence[str]) -> Story:
        """What the report tells."""
        parts = self.problem, self.suggestions, self.names, judgement, self.prospect, self.next_command
        return Story(*parts, advice=self.advice, notes=notes)

    @property
    def advice(self) -> str:
        """What to do with the suggestions before the next command."""
        out, committed = self.files.out, self.committed
        if out is None or committed is None:
            return "To begin with these, so that they are written down" if self.suggestions else ""
        if not self.suggestions and not committed.out_already:
            return ""
        outcomes = self.problem.study.goals.named_outcomes
        if len(outcomes) < 2:
            name = outcomes[0] if self.problem.study.goals.named else self.value
            return f"Fill in column {name!r} of {out}, then"
        return f"Fill in columns {', '.join(map(repr, outcomes))} of {out}, as far as they are known, then"

    @property
    def next_command(self) -> str:
        """The command to go on with."""
        out, sheet = self.files.out, self.problem.sheet
        if out is None:
            if sheet is None:
                return command("suggest", *words({**self.plan.typed, "out": Path("experiments.csv")}))
            return self.plan.suggest(sheet.table.path, Path(NEXT))
        if sheet is None:
            return self.plan.suggest(out, following(out))
        return self.plan.tell(sheet.table.path, out)


def following(table: Path) -> Path:
    """A file for the suggestions of a table, which is not the table."""
    return table.with_name(NEXT if table.name != NEXT else "next-round.csv")


def answer_json(answer: Answer, listener: Listener) -> dict[str, Any]:
    problem, out, report = answer.problem, answer.files.out, answer.files.report
    other, reasons = problem.recommended(), Reasons.of(problem)
    suggestions = [
        {
            "rank": rank,
            "run": None if answer.committed is None else answer.names[rank - 1],
            **object_json(problem, s.object),
            "mean": s.mean,
            "std": s.std,
            "low": s.low,
            "high": s.high,
            "chance": s.chance,
            "improvement": s.improvement,
            **outcomes_json(s),
            "because": analogues_json(problem, s.analogues, reasons),
        }
        for rank, s in enumerate(answer.suggestions, 1)
    ]
    return {
        **header_json(problem, listener),
        **(front_json(problem) if problem.study.goals.named else _best_json(problem)),
        "recommended": None
        if other is None
        else {**object_json(problem, other.object), "mean": other.mean, "low": other.low, "high": other.high},
        "suggestions": suggestions,
        "gain": None if answer.gain is None else {"expected": answer.gain.expected, "chance": answer.gain.chance},
        "similarities": weights_json(problem),
        "verdict": answer.verdict,
        "out": None if out is None else str(out),
        "report": None if report is None else str(report),
        "round": None if answer.committed is None else answer.committed.number,
        "under_way": [] if answer.committed is None else list(answer.committed.out_already),
        "next_command": answer.next_command,
    }


def _best_json(problem: Problem) -> dict[str, Any]:
    if not problem.measured:
        return {"best": None}
    best = problem.study.best
    limit = {} if best.limit is None else {"limit": best.limit}
    summary = {**object_json(problem, best.object), "value": best.value, **limit, "rows": rows_of(problem, best.object)}
    return {"best": summary}


def say_answer(answer: Answer) -> None:
    reasons = Reasons.of(answer.problem)
    if not answer.suggestions:
        say(nothing_to_suggest(answer.problem))
    else:
        say(*_laid_out(answer, reasons))
    _say_background(answer, reasons)


def _laid_out(answer: Answer, reasons: Reasons) -> list[str]:
    """The suggestions, a column for each factor, and what is expected of them and why."""
    problem, names, suggestions = answer.problem, reasons.names, answer.suggestions
    columns = columns_of(problem, answer.chosen.objects)
    if suggestions[0].outcomes:
        return lay_out_outcomes(problem, answer.names, suggestions, reasons, columns)
    headings, predicted = headings_of(names, columns), suggestions[0].mean is not None
    rows = []
    for name, s in zip(answer.names, suggestions, strict=True):
        texts = named_cells(names, columns, cells_of(problem, s.object, columns))
        cells = [plus_minus(s.mean, s.std), interval(s.low, s.high), percent(s.chance)] if predicted else []
        said = zip(("because", "against"), reasons.texts(s), strict=True) if predicted else ()
        rows.append(Line([name, *texts, *cells], [(label, text) for label, text in said if text]))
    more = [f"expected {answer.value}", "95 % interval", "beats best"] if predicted else []
    right = (len(headings) + 3,) if predicted else ()
    return lay_out(["", *headings, *more], rows, answer_width(), right)


def _say_background(answer: Answer, reasons: Reasons) -> None:
    """The order, the best so far, what is still to be gained, the verdict, and how to go on."""
    problem, names = answer.problem, reasons.names
    first = answer.suggestions[0] if answer.suggestions else None
    if len(answer.suggestions) > 1 and first is not None and (first.mean is not None or first.outcomes):
        say("", ORDER)
    if problem.measured and problem.study.goals.named:
        say("", *front_lines(problem, reasons))
    elif problem.measured:
        best = problem.study.best
        where = _where(problem, best.object)
        say("", f"Best so far: {answer.value} {best.measured}{where}, {names.object(best.object, reasons.column)}.")
        if (other := problem.recommended()) is not None:
            expected = expectation(other.mean, other.low, other.high)
            what = names.object(other.object, reasons.column)
            say(f"Recommended: {what}, expected {answer.value} {expected}; the best may have been lucky.")
    if answer.prospect:
        say(answer.prospect)
    if answer.verdict:
        say(f"Verdict: {answer.verdict}")
    if answer.files.report is not None:
        say(f"Report: {answer.files.report}")
    _say_next(answer)


def _where(problem: Problem, x: Any) -> str:
    """The row of the best object, or the rows that its value is the mean of."""
    rows = problem.measured_rows(x)
    if not rows or problem.sheet is None:
        return ""
    return f" ({'mean of ' if len(rows) > 1 else ''}{rows_named(problem.sheet.table, rows)})"


def _say_next(answer: Answer) -> None:
    committed = answer.committed
    if committed is not None and committed.out_already:
        say(f"Still under way, and in {answer.files.out} too: {', '.join(committed.out_already)}.")
    if answer.advice:
        say(f"{answer.advice}: {answer.next_command}")


# Runs that a note names.
SUGGEST_LISTED = 5
LOOSEN = "--same, --at-most, --fix, --where or --budget"


class Typed(NamedTuple):
    """What was typed: options of the command alone by their names, those in groups, and what is only on or off."""

    own: dict[str, Any]
    columns: options.ColumnOptions
    model: options.Aim
    plate: options.PlateOptions
    more: bool
    force: bool


def suggest(file: Path | None, typed: Typed, console: Console) -> Reply:
    """The suggestions for what was typed."""
    session = Session.of(file if file is not None or typed.own["space"] is None else None, console)
    if file is None and typed.own["space"] is not None:
        session = replace(session, file=None, project=None)
    typed_values = session.values(typed.own)
    columns, plate = session.columns(typed.columns), session.fill(typed.plate)
    model = _direction(session, columns, session.model(typed.model, columns))
    files = Files(typed_values["out"], typed_values["report"], typed.force, typed.more, plate.plate)
    _check_files(session.file, typed_values["space"], files)
    space = session.space(typed_values["space"])
    if file is None and space is not None and session.file is not None and not session.file.exists():
        # Settings written by hand; a table that was named with the command is more likely a slip of the pen.
        write_empty(session.file, space, columns.choices)
        console.note(f"{session.file} was not there, and begins empty; if the table has another name, say so in {NAME}")
    request = replace(
        model.request(columns),
        space=space,
        acquisition=names.acquisition(typed_values["acquisition"] or "auto"),
        strategy=names.strategy(typed_values["strategy"] or "auto"),
        method=names.method(typed_values["method"] or "committee"),
        searching=True,
    )
    every = {**vars(columns), **vars(model), **vars(plate), **typed_values}
    options = {name: value for name, value in every.items() if value is not None}
    plan = Plan(session, {**options, **_columns_of(session, request.space, columns)})
    number = typed_values["n"] or 1
    work = partial(answer, session.file, columns.choices, request, number, files, console, plan, batch=plate.batch)
    result = persist(work, session.file, console)
    if plate.plate is not None:
        _write_plate(plate, result, request.seed, console)
    return Reply(lambda: answer_json(result, console), lambda: say_answer(result))


def _columns_of(session: Session, space: Space | None, columns: options.ColumnOptions) -> dict[str, Any]:
    """The columns of a table that this command begins, or goes on with, for commands that do not know its space."""
    if session.project is not None or space is None or not space.parts or columns.object:
        return {}
    value = {"value": columns.value or ["value"]} if session.file is None else {}
    return {"object": list(space.parts), **value}


def _direction(session: Session, columns: options.ColumnOptions, model: options.Aim) -> options.Aim:
    """Returns the aim, with the direction of the last round if none was typed."""
    last = None if session.file is None else Journal.of(session.file).last_round
    said = columns.aims().several or any(read_value(text)[1] for text in columns.value or ())
    if model.minimize is None and not said and last is not None and last.get("direction") == "minimize":
        session.listener.note("Looking for the smallest value, as in the last round (--maximize: the largest)")
        return replace(model, minimize=True)
    return model


def _check_files(file: Path | None, space: Any, files: Files) -> None:
    """Raises a UsageError if a file cannot be read or written, before any work is done."""
    if file is None and space is None:
        raise UsageError(
            "Give a FILE with candidates, or a --space to take them from, or begin with `likewise init FILE`."
        )
    described = space_text.path(space) if isinstance(space, str) else None
    sources = {"the input, to which results are merged by `likewise tell`": file, "the file of --space": described}
    check_targets({"--out": files.out, "--report": files.report, "--plate": files.plate}, sources)
    if files.out is not None and file is not None and file.exists() and not os.access(file, os.W_OK):
        raise UsageError(f"{file} cannot be written, and the runs of --out are noted in it; work on a copy.")
    for path in (file, files.out):
        if path is not None and files.out is not None:
            check_closed(path)
    if files.report is not None:
        check_report(files.report, files.force)


def answer(
    file: Path | None,
    chosen: Choices,
    request: Request,
    n: int,
    files: Files,
    listener: Listener,
    plan: Plan | None = None,
    batch: Batch | None = None,
) -> Answer:
    """The suggestions for a table, or for a space, and their files."""
    batch = batch or Batch()
    plan, before = plan or Plan(), None if file is None else stamp(file)
    with listener.working("reading"):
        table = None if file is None else sheet(file, chosen, listener, request.space)
    journal = None if file is None else Journal.of(file)
    if files.out is not None:
        check_name(files.out)
        _check_out(files, file, table, chosen, plan, request)
    again: Sequence[int] = []
    if table is not None and journal is not None:
        _say_lost(table, journal.base, listener)
        again = [] if files.more else untouched_round(table, journal.base)
    if table is not None and again:
        _say_again(table, again, listener)
        table = table.reopen(again, as_candidates=request.space is None)
    with listener.working("comparing objects") as progress:
        ask = partial(_ask, n=n, batch=batch)
        problem, suggestions = solve(table, request, ask, listener, progress=progress)
    _remark(problem, suggestions, n, listener, batch)
    judgement = judge(problem)
    verdict = None if judgement is None else judgement.verdict
    asked = Asked(chosen, tuple(again), before, {"options": plan.options, "verdict": verdict})
    committed = _commit(problem, suggestions, files.out, asked, listener)
    gain = problem.study.expected_gain(of=suggestions) if problem.measured else None
    result = Answer(problem, suggestions, verdict, chosen, files, plan, committed, gain)
    if files.report is not None:
        with listener.working("drawing the report"):
            write_report(result.story(judgement, listener.notes), files.report)
    return result


def _ask(problem: Problem, n: int, batch: Batch) -> list[Suggestion]:
    try:
        return problem.study.ask(n, **batch.options(problem))
    except StudyError as error:
        raise UsageError(f"{error}.") from None


def _write_plate(plate: options.PlateOptions, answer: Answer, seed: int, console: Console) -> None:
    """Write the plate map of the suggestions."""
    problem, target = answer.problem, plate.plate
    if target is None or not answer.suggestions:
        return
    columns = columns_of(problem, answer.chosen.objects)
    cells = [cells_of(problem, s.object, columns) for s in answer.suggestions]
    drawn = plate_map(len(cells), plate.wells or 96, plate.controls or 0, plate.replicates or 1, seed)
    write_plate(target, drawn, answer.names, columns, cells)
    console.note(f"Plate map written to {target}: {count(len(drawn), 'well')} in random order")


def _commit(
    problem: Problem, suggestions: Sequence[Suggestion], out: Path | None, asked: Asked, listener: Listener
) -> Committed | None:
    if out is None:
        return None
    if problem.sheet is None:
        return commit_first_table(problem, suggestions, out, asked)
    return commit_round(problem, suggestions, out, asked, listener)


def _check_out(
    files: Files, file: Path | None, table: Sheet | None, chosen: Choices, plan: Plan, request: Request
) -> None:
    """Raises a UsageError if the target is no table of suggestions, or holds results that are not merged yet."""
    out = files.out
    if out is None or files.force or not out.exists():
        return
    if table is not None and file is not None and request.space is not None:
        # Cells mean the same with a space and without; rows are compared by their cells.
        table = sheet(file, chosen, Listener(), may_be_empty=True)
    journal = None if file is None else Journal.of(file)
    unmerged = find_unmerged(out, table, None if journal is None else journal.base)
    if unmerged is None:
        raise UsageError(f"{out} exists and is no table of suggestions; give another name, or --force to replace it.")
    if file is None or journal is None:
        follow = plan.suggest(out, following(out))
        raise UsageError(f"{out} exists. Go on with it ({follow}), give another name, or --force to replace it.")
    when = journal.time_told(out)
    # Whoever told it has settled the contradictions.
    rows = unmerged.rows + len(unmerged.bad) + (0 if when else unmerged.conflicts)
    if rows:
        _refuse(out, file, rows, unmerged, when, plan)


def _refuse(out: Path, file: Path, rows: int, unmerged: Unmerged, when: str | None, plan: Plan) -> None:
    """Raises a UsageError that says what a file would lose, with the command that keeps it."""
    last_told = (
        f" It was told on {when}: an older copy may have been saved over {file}." if when and unmerged.rows else ""
    )
    bad = ", ".join(map(str, unmerged.bad))
    correct = f" Row {bad} of {out} cannot be used; correct or empty it." if bad else ""
    tell = plan.tell(file, out, skip_bad=bool(bad))
    merge = f"Merge them first ({tell}), g" if unmerged.rows or not when else "G"
    raise UsageError(
        f"{out} exists, with {count(rows, 'row')} that {file} has not, or not so.{last_told}{correct} {merge}ive "
        "another name, or --force to lose them."
    )


def _say_lost(table: Sheet, base: Base, listener: Listener) -> None:
    """Say which results were told that the table has not: it may be an older copy."""
    if lost := lost_results(table, base):
        runs = [f"{run} ({results})" for run, results in lost.items()]
        more = f" and {len(runs) - SUGGEST_LISTED} more" if len(runs) > SUGGEST_LISTED else ""
        listener.note(
            f"{table.table.name} has no result of {', '.join(runs[:SUGGEST_LISTED])}{more}, which was told, as the "
            "journal says. If an older copy of the table was saved over it, tell the results again, or write them into "
            "it"
        )


def _say_again(table: Sheet, rows: Sequence[int], listener: Listener) -> None:
    number = table.cell(table.own.round, rows[0])
    listener.note(f"Nothing has come back of round {number} yet, so it is made anew (--more: others beside it)")


def _remark(problem: Problem, suggestions: Sequence[Suggestion], n: int, listener: Listener, batch: Batch) -> None:
    """Note what the table holds, and what is out of the ordinary about the answer."""
    if problem.sheet is not None:
        _remark_on_rows(problem.sheet, problem, listener)
    if suggestions and (spent := batch.spent(problem, [s.object for s in suggestions])) is not None:
        of = "" if batch.budget is None else f", of a budget of {batch.budget:g}"
        listener.note(f"{count(len(suggestions), 'suggestion')} for {spent:g} by column {batch.cost!r}{of}")
    if suggestions and len(suggestions) < n and batch.cost is not None and problem.measured:
        listener.note("No other is suggested: it costs more than is left, or adds next to nothing to these")
    elif len(suggestions) < n and batch != Batch():
        fit = "suggestion fits" if len(suggestions) == 1 else "suggestions fit"
        listener.note(f"Only {len(suggestions)} {fit} what is asked of the batch; loosen {LOOSEN}")
    elif not suggestions:
        listener.note(f"{nothing_to_suggest(problem)} Add rows without a value, or use --space")
    elif len(suggestions) < n:
        listener.note(f"Only {count(len(suggestions), 'candidate')} {'is' if len(suggestions) == 1 else 'are'} left")


def _aim(sheet: Sheet, problem: Problem) -> str:
    """What is looked for, in words."""
    goals = problem.study.goals
    if goals.named:
        return Aims(goals.objectives, goals.constraints).text
    smallest = problem.study.direction == "minimize"
    aim = f"the {'smallest' if smallest else 'largest'} {sheet.roles.value}"
    return aim if smallest else f"{aim} (--minimize: the smallest)"


def _remark_on_rows(sheet: Sheet, problem: Problem, listener: Listener) -> None:
    measured, candidates = len(sheet.measured), len(sheet.candidates)
    is_pool = problem.pool is not None
    rows = [count(measured, "measured row"), count(candidates, "candidate") if is_pool else "candidates of the space"]
    states = {"under way": sheet.under_way, "failed": sheet.in_state(Kind.FAILED), "left out": sheet.closed}
    rows += [f"{len(places)} {what}" for what, places in states.items() if places]
    listener.note(f"{sheet.table.name}: {', '.join(rows)}. Looking for {_aim(sheet, problem)}")
    if candidates and not is_pool:
        listener.note(f"{count(candidates, 'row')} without a value ignored: candidates come from --space")
    if not measured:
        listener.note("Nothing is measured yet. The first batch is spread out: each object is unlike the others")
