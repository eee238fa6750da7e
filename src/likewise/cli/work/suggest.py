"""What `likewise suggest` does: it reads a table, asks its study, and writes a round of runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from likewise.campaign import names, space_text
from likewise.campaign.aims import Aims, read_value
from likewise.campaign.display.naming import cells_of, columns_of
from likewise.campaign.display.prospects import nothing_to_suggest
from likewise.campaign.judgement import judge
from likewise.campaign.listener import Listener
from likewise.campaign.plate_map import plate_map, write_plate
from likewise.campaign.problem import Problem, solve
from likewise.campaign.project import NAME
from likewise.campaign.runs.commit import Asked, Committed, commit_first_table, commit_round
from likewise.campaign.runs.journal import Journal
from likewise.campaign.runs.merged import Base
from likewise.campaign.runs.results import check_closed, persist, stamp
from likewise.campaign.runs.rounds import lost_results, untouched_round
from likewise.campaign.runs.suggestions_file import Unmerged, find_unmerged
from likewise.campaign.sheets.reading import sheet
from likewise.campaign.sheets.sheet import Choices, Sheet
from likewise.campaign.similarities import Request
from likewise.campaign.states import Kind
from likewise.campaign.targets import check_targets
from likewise.campaign.wording import count
from likewise.cli.batches import Batch
from likewise.cli.commands import options
from likewise.cli.console import Console
from likewise.cli.parameters import Reply
from likewise.cli.work.init import write_empty
from likewise.cli.work.session import Session
from likewise.cli.work.suggest_reply import (
    Answer,
    Files,
    Plan,
    answer_json,
    following,
    say_answer,
)
from likewise.errors import StudyError, UsageError
from likewise.report.page import check_report, write_report
from likewise.spaces.base import Space
from likewise.study.suggestion import Suggestion
from likewise.tables.writing import check_name

# Runs that a note names.
LISTED = 5
LOOSEN = "--same, --at-most, --fix, --where or --budget"


class Typed(NamedTuple):
    """What was typed: options of the command alone by their names, those in groups, and what is only on or off."""

    own: dict[str, Any]
    columns: options.Columns
    model: options.Aim
    plate: options.Plate
    more: bool
    force: bool


def suggest(file: Path | None, typed: Typed, console: Console) -> Reply:
    """The suggestions for what was typed."""
    session = Session.of(file if file is not None or typed.own["space"] is None else None, console)
    if file is None and typed.own["space"] is not None:
        session = replace(session, file=None, project=None)
    given = session.values(typed.own)
    columns, plate = session.columns(typed.columns), session.fill(typed.plate)
    model = _direction(session, columns, session.model(typed.model, columns))
    files = Files(given["out"], given["report"], typed.force, typed.more, plate.plate)
    _check_files(session.file, given["space"], files)
    space = session.space(given["space"])
    if file is None and space is not None and session.file is not None and not session.file.exists():
        # Settings written by hand; a table that was named with the command is more likely a slip of the pen.
        write_empty(session.file, space, columns.choices)
        console.note(f"{session.file} was not there, and begins empty; if the table has another name, say so in {NAME}")
    request = replace(
        model.request(columns),
        space=space,
        acquisition=names.acquisition(given["acquisition"] or "auto"),
        strategy=names.strategy(given["strategy"] or "auto"),
        method=names.method(given["method"] or "committee"),
        searching=True,
    )
    every = {**vars(columns), **vars(model), **vars(plate), **given}
    known = {name: value for name, value in every.items() if value is not None}
    plan = Plan(session, {**known, **_columns_of(session, request.space, columns)})
    number = given["n"] or 1
    work = partial(answer, session.file, columns.choices, request, number, files, console, plan, batch=plate.batch)
    found = persist(work, session.file, console)
    if plate.plate is not None:
        _write_plate(plate, found, request.seed, console)
    return Reply(lambda: answer_json(found, console), lambda: say_answer(found))


def _columns_of(session: Session, space: Space | None, columns: options.Columns) -> dict[str, Any]:
    """The columns of a table that this command begins, or goes on with, for commands that do not know its space."""
    if session.project is not None or space is None or not space.parts or columns.object:
        return {}
    value = {"value": columns.value or ["value"]} if session.file is None else {}
    return {"object": list(space.parts), **value}


def _direction(session: Session, columns: options.Columns, model: options.Aim) -> options.Aim:
    """Where nobody says which values are good, those that were good in the last round are."""
    last = None if session.file is None else Journal.of(session.file).last_round
    said = columns.aims().several or any(read_value(text)[1] for text in columns.value or ())
    if model.minimize is None and not said and last is not None and last.get("direction") == "minimize":
        session.listener.note("Looking for the smallest value, as in the last round (--maximize: the largest)")
        return replace(model, minimize=True)
    return model


def _check_files(file: Path | None, space: Any, files: Files) -> None:
    """Refuse what could not be read or written before any work is done."""
    if file is None and space is None:
        raise UsageError(
            "Give a FILE with candidates, or a --space to take them from, or begin with `likewise init FILE`."
        )
    described = space_text.path(space) if isinstance(space, str) else None
    sources = {"the input, to which results are merged by `likewise tell`": file, "the file of --space": described}
    check_targets({"--out": files.out, "--report": files.report, "--plate": files.plate}, sources)
    if files.out is not None and file is not None and file.exists() and not os.access(file, os.W_OK):
        raise UsageError(f"{file} cannot be written, and the runs of --out are noted in it; work on a copy.")
    for each in (file, files.out):
        if each is not None and files.out is not None:
            check_closed(each)
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
        problem, found = solve(table, request, ask, listener, progress=progress)
    _remark(problem, found, n, listener, batch)
    judgement = judge(problem)
    verdict = None if judgement is None else judgement.verdict
    asked = Asked(chosen, tuple(again), before, {"options": plan.options, "verdict": verdict})
    committed = _commit(problem, found, files.out, asked, listener)
    gain = problem.study.expected_gain(of=found) if problem.measured else None
    made = Answer(problem, found, verdict, chosen, files, plan, committed, gain)
    if files.report is not None:
        with listener.working("drawing the report"):
            write_report(made.story(judgement, listener.notes), files.report)
    return made


def _ask(problem: Problem, n: int, batch: Batch) -> list[Suggestion]:
    try:
        return problem.study.ask(n, **batch.options(problem))
    except StudyError as error:
        raise UsageError(f"{error}.") from None


def _write_plate(plate: options.Plate, found: Answer, seed: int, console: Console) -> None:
    """Write the plate map of the suggestions."""
    problem, target = found.problem, plate.plate
    if target is None or not found.suggestions:
        return
    columns = columns_of(problem, found.chosen.objects)
    cells = [cells_of(problem, s.object, columns) for s in found.suggestions]
    drawn = plate_map(len(cells), plate.wells or 96, plate.controls or 0, plate.replicates or 1, seed)
    write_plate(target, drawn, found.names, columns, cells)
    console.note(f"Plate map written to {target}: {count(len(drawn), 'well')} in random order")


def _commit(
    problem: Problem, found: Sequence[Suggestion], out: Path | None, asked: Asked, listener: Listener
) -> Committed | None:
    if out is None:
        return None
    if problem.sheet is None:
        return commit_first_table(problem, found, out, asked)
    return commit_round(problem, found, out, asked, listener)


def _check_out(
    files: Files, file: Path | None, table: Sheet | None, chosen: Choices, plan: Plan, request: Request
) -> None:
    """Refuse a target that is no table of suggestions, or holds something which nobody has merged yet."""
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
    """Say what would be lost with a file of suggestions, and the command that keeps it."""
    told = f" It was told on {when}: an older copy may have been saved over {file}." if when and unmerged.rows else ""
    bad = ", ".join(map(str, unmerged.bad))
    correct = f" Row {bad} of {out} cannot be used; correct or empty it." if bad else ""
    tell = plan.tell(file, out, skip_bad=bool(bad))
    merge = f"Merge them first ({tell}), g" if unmerged.rows or not when else "G"
    raise UsageError(
        f"{out} exists, with {count(rows, 'row')} that {file} has not, or not so.{told}{correct} {merge}ive another "
        "name, or --force to lose them."
    )


def _say_lost(table: Sheet, base: Base, listener: Listener) -> None:
    """Say which results were told that the table has not: it may be an older copy."""
    if lost := lost_results(table, base):
        runs = [f"{run} ({results})" for run, results in lost.items()]
        more = f" and {len(runs) - LISTED} more" if len(runs) > LISTED else ""
        listener.note(
            f"{table.table.name} has no result of {', '.join(runs[:LISTED])}{more}, which was told, as the journal "
            "says. If an older copy of the table was saved over it, tell the results again, or write them into it"
        )


def _say_again(table: Sheet, rows: Sequence[int], listener: Listener) -> None:
    number = table.cell(table.own.round, rows[0])
    listener.note(f"Nothing has come back of round {number} yet, so it is made anew (--more: others beside it)")


def _remark(problem: Problem, found: Sequence[Suggestion], n: int, listener: Listener, batch: Batch) -> None:
    """Note what the table holds, and what is out of the ordinary about the answer."""
    if problem.sheet is not None:
        _remark_on_rows(problem.sheet, problem, listener)
    if found and (spent := batch.spent(problem, [s.object for s in found])) is not None:
        of = "" if batch.budget is None else f", of a budget of {batch.budget:g}"
        listener.note(f"{count(len(found), 'suggestion')} for {spent:g} by column {batch.cost!r}{of}")
    if found and len(found) < n and batch.cost is not None and problem.measured:
        listener.note("No other is suggested: it costs more than is left, or adds next to nothing to these")
    elif len(found) < n and batch != Batch():
        fit = "suggestion fits" if len(found) == 1 else "suggestions fit"
        listener.note(f"Only {len(found)} {fit} what is asked of the batch; loosen {LOOSEN}")
    elif not found:
        listener.note(f"{nothing_to_suggest(problem)} Add rows without a value, or use --space")
    elif len(found) < n:
        listener.note(f"Only {count(len(found), 'candidate')} {'is' if len(found) == 1 else 'are'} left")


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
    own = problem.pool is not None
    rows = [count(measured, "measured row"), count(candidates, "candidate") if own else "candidates of the space"]
    states = {"under way": sheet.under_way, "failed": sheet.in_state(Kind.FAILED), "left out": sheet.closed}
    rows += [f"{len(places)} {what}" for what, places in states.items() if places]
    listener.note(f"{sheet.table.name}: {', '.join(rows)}. Looking for {_aim(sheet, problem)}")
    if candidates and not own:
        listener.note(f"{count(candidates, 'row')} without a value ignored: candidates come from --space")
    if not measured:
        listener.note("Nothing is measured yet. The first batch is spread out: each object is unlike the others")
