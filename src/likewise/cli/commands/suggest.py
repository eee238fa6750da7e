"""`likewise suggest`: the next experiments from a table of those done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from likewise.campaign import names, space_text
from likewise.campaign.judgement import judge
from likewise.campaign.listener import Listener
from likewise.campaign.problem import Problem, solve
from likewise.campaign.runs.commit import Asked, Committed, commit_first_table, commit_round
from likewise.campaign.runs.journal import Journal
from likewise.campaign.runs.results import stamp
from likewise.campaign.runs.rounds import untouched_round
from likewise.campaign.runs.suggestions_file import count_unmerged
from likewise.campaign.sheet import Choices, Sheet, rows_named, sheet
from likewise.campaign.similarities import Request
from likewise.campaign.states import Kind
from likewise.campaign.targets import check_targets
from likewise.campaign.wording import because, count, expectation, percent, shown
from likewise.cli.answers import analogues_json, header_json, object_json, weights_json
from likewise.cli.commands import options
from likewise.cli.commands.session import OF_COLUMNS, Session, command, words
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.errors import UsageError
from likewise.report.page import check_report, write_report
from likewise.spaces.base import Space
from likewise.study.suggestion import Suggestion
from likewise.tables.writing import check_name

# Characters of a similarity's name; those of records with many fields are long.
NAME = 60
NOTHING_LEFT = "Every candidate has a value or is under way: there is nothing left to suggest."
NEXT = "next.csv"


InputFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="CSV, TSV or Parquet, gzipped or not. Default: that of likewise.toml; not needed with --space.",
    ),
]
Number = Annotated[int | None, typer.Option("-n", "--number", min=1, help="How many suggestions. Default: 1.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="Write the suggestions here, to be filled in: .csv, .tsv, .parquet.")
]
SpaceText = Annotated[
    str | None,
    typer.Option("--space", help="Where candidates come from if not from the file: strings:ACGT:8 or space.toml."),
]
Report = Annotated[Path | None, typer.Option("--report", help="Write a report: one HTML file.")]
AcquisitionName = Annotated[
    str | None, typer.Option("--acquisition", help="What a candidate is worth: auto, ei, pi, ucb(2) or mean.")
]
MethodName = Annotated[
    str | None, typer.Option("--method", help="How candidates are chosen: committee, or paper as the paper prints it.")
]
StrategyName = Annotated[
    str | None,
    typer.Option("--strategy", help="How a batch is chosen: auto, sequential, thompson, top_score or two_stage."),
]
More = Annotated[
    bool, typer.Option("--more", help="Beside the last round, of which nothing has come back yet, not in its place.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace --out even if it holds values that FILE has not, and any --report.")
]


def suggest(
    file: InputFile = None,
    n: Number = None,
    out: Out = None,
    report: Report = None,
    space: SpaceText = None,
    method: MethodName = None,
    acquisition: AcquisitionName = None,
    strategy: StrategyName = None,
    more: More = False,
    force: Force = False,
    *,
    columns: options.Columns,
    model: options.Aim,
    console: Console,
) -> Reply:
    """Suggest what to measure next: rows with a value are observations, rows without are candidates.

    With --out, or in the folder of a likewise.toml, the suggestions are runs with names of their own: they are written
    to --out and noted in FILE. Fill in their values, merge them with `likewise tell`, and suggest again.
    """
    session = Session.of(file if file is not None or space is None else None, console)
    if file is None and space is not None:
        session = replace(session, file=None, project=None)
    own = {"n": n, "out": out, "report": report, "space": space}
    own |= {"method": method, "acquisition": acquisition, "strategy": strategy}
    given = session.values(own)
    columns, model = session.fill(columns), _direction(session, session.fill(model))
    files = Files(given["out"], given["report"], force, more)
    _check_files(session.file, given["space"], files)
    request = replace(
        model.request(columns),
        space=_space(session, given["space"]),
        acquisition=names.acquisition(given["acquisition"] or "auto"),
        strategy=names.strategy(given["strategy"] or "auto"),
        method=names.method(given["method"] or "committee"),
        searching=True,
    )
    typed = {**{name: value for name, value in {**vars(columns), **vars(model), **given}.items() if value is not None}}
    plan = Plan(session, typed)
    found = answer(session.file, columns.choices, request, given["n"] or 1, files, console, plan)
    return Reply(lambda: _data(found, console), lambda: _say(found))


def _direction(session: Session, model: options.Aim) -> options.Aim:
    """Where nobody says which values are good, those that were good in the last round are."""
    last = None if session.file is None else Journal.of(session.file).last_round
    if model.minimize is None and last is not None and last.get("direction") == "minimize":
        session.listener.note("Looking for the smallest value, as in the last round (--maximize: the largest)")
        return replace(model, minimize=True)
    return model


def _space(session: Session, given: Any) -> Space | None:
    """The space of a text, or of a part of the settings file."""
    if given is None or isinstance(given, str):
        return None if given is None else space_text.space(given)
    where = "" if session.project is None else str(session.project.path)
    return space_text.build(given, f"{where}, space")


class Files(NamedTuple):
    """The files that are written beside the answer, and whether they may replace others.

    `more` says that the last round stays out, even if nothing has come back of it.
    """

    out: Path | None = None
    report: Path | None = None
    force: bool = False
    more: bool = False


@dataclass(frozen=True)
class Plan:
    """What was asked for, by the names of the options, and in which session: for the record, and to go on."""

    session: Session | None = None
    typed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """The options as JSON data, but for the files."""
        return {k: v for k, v in self.typed.items() if k not in ("out", "report")}

    def suggest(self, table: Path, out: Path | None) -> str:
        """The command for the next round."""
        project = None if self.session is None else self.session.project
        given = {**self.typed, "out": out}
        return command("suggest", table, *words(given), project=project)

    def tell(self, table: Path, results: Path) -> str:
        """The command that merges the results of this one."""
        project = None if self.session is None else self.session.project
        mine = project is not None and project.options.get("out") == results
        columns = words({name: self.typed.get(name) for name in OF_COLUMNS})
        return command("tell", table, results, *columns, project=project if mine else None)


def _check_files(file: Path | None, space: Any, files: Files) -> None:
    """Refuse what could not be read or written before any work is done."""
    if file is None and space is None:
        raise UsageError(
            "Give a FILE with candidates, or a --space to take them from, or begin with `likewise init FILE`."
        )
    described = space_text.path(space) if isinstance(space, str) else None
    sources = {"the input, to which results are merged by `likewise tell`": file, "the file of --space": described}
    check_targets({"--out": files.out, "--report": files.report}, sources)
    if files.out is not None and file is not None and file.exists() and not os.access(file, os.W_OK):
        raise UsageError(f"{file} cannot be written, and the runs of --out are noted in it; work on a copy.")
    if files.report is not None:
        check_report(files.report, files.force)


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

    @property
    def next_command(self) -> str:
        """The command to go on with."""
        out, sheet = self.files.out, self.problem.sheet
        if out is None:
            if sheet is None:
                return command("suggest", *words({**self.plan.typed, "out": Path("experiments.csv")}))
            return self.plan.suggest(sheet.table.path, Path(NEXT))
        if sheet is None:
            return self.plan.suggest(out, _following(out))
        return self.plan.tell(sheet.table.path, out)


def _following(table: Path) -> Path:
    """A file for the suggestions of a table, which is not the table."""
    return table.with_name(NEXT if table.name != NEXT else "next-round.csv")


def answer(
    file: Path | None,
    chosen: Choices,
    request: Request,
    n: int,
    files: Files,
    listener: Listener,
    plan: Plan | None = None,
) -> Answer:
    """The suggestions for a table, or for a space, and their files."""
    plan, before = plan or Plan(), None if file is None else stamp(file)
    with listener.working("reading"):
        table = None if file is None else sheet(file, chosen, listener, request.space)
    journal = None if file is None else Journal.of(file)
    if files.out is not None:
        check_name(files.out)
        _check_out(files, file, table, chosen, plan, request)
    again = [] if table is None or journal is None or files.more else untouched_round(table, journal.base)
    if table is not None and again:
        _say_again(table, again, listener)
        table = table.reopen(again, as_candidates=request.space is None)
    with listener.working("comparing objects") as progress:
        problem, found = solve(table, request, lambda p: p.study.ask(n), listener, progress=progress)
    _remark(problem, found, n, listener)
    judgement = judge(problem)
    verdict = None if judgement is None else judgement.verdict
    asked = Asked(chosen, tuple(again), before, {"options": plan.options, "verdict": verdict})
    committed = _commit(problem, found, files.out, asked, listener)
    if files.report is not None:
        with listener.working("drawing the report"):
            write_report(problem, found, judgement, files.report, listener.notes)
    return Answer(problem, found, verdict, chosen, files, plan, committed)


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
    if file is not None and Journal.of(file).was_told(out):
        return
    if table is not None and file is not None and request.space is not None:
        # Cells mean the same with a space and without; rows are compared by their cells.
        table = sheet(file, chosen, Listener(), may_be_empty=True)
    lost = count_unmerged(out, table, None if file is None else Journal.of(file).base)
    if lost is None:
        raise UsageError(f"{out} exists and is no table of suggestions; give another name, or --force to replace it.")
    if file is None:
        follow = plan.suggest(out, _following(out))
        raise UsageError(f"{out} exists. Go on with it ({follow}), give another name, or --force to replace it.")
    if lost:
        raise UsageError(
            f"{out} exists, with {count(lost, 'row')} that {file} has not, or not so. Merge them first "
            f"({plan.tell(file, out)}), give another name, or --force to lose them."
        )


def _say_again(table: Sheet, rows: Sequence[int], listener: Listener) -> None:
    number = table.cell(table.own.round, rows[0])
    listener.note(f"Nothing has come back of round {number} yet, so it is made anew (--more: others beside it)")


def _remark(problem: Problem, found: Sequence[Suggestion], n: int, listener: Listener) -> None:
    """Note what the table holds, and what is out of the ordinary about the answer."""
    if problem.sheet is not None:
        _remark_on_rows(problem.sheet, problem, listener)
    if not found:
        listener.note(f"{NOTHING_LEFT} Add rows without a value, or use --space")
    elif len(found) < n:
        listener.note(f"Only {count(len(found), 'candidate')} {'is' if len(found) == 1 else 'are'} left")


def _remark_on_rows(sheet: Sheet, problem: Problem, listener: Listener) -> None:
    measured, candidates = len(sheet.measured), len(sheet.candidates)
    aim = "smallest" if problem.study.direction == "minimize" else "largest"
    other = "" if aim == "smallest" else " (--minimize: the smallest)"
    rows = [count(measured, "measured row"), count(candidates, "candidate")]
    states = {"under way": sheet.under_way, "failed": sheet.in_state(Kind.FAILED), "left out": sheet.closed}
    rows += [f"{len(places)} {what}" for what, places in states.items() if places]
    listener.note(f"{sheet.table.name}: {', '.join(rows)}. Looking for the {aim} {sheet.roles.value}{other}")
    if candidates and problem.pool is None:
        listener.note(f"{count(candidates, 'row')} without a value ignored: candidates come from --space")
    if not measured:
        listener.note("Nothing is measured yet. The first batch is spread out: each object is unlike the others")


def _data(answer: Answer, listener: Listener) -> dict[str, Any]:
    problem, out, report = answer.problem, answer.files.out, answer.files.report
    best = problem.study.best if problem.measured else None
    other = problem.recommended()
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
            "because": analogues_json(problem, s.analogues),
        }
        for rank, s in enumerate(answer.suggestions, 1)
    ]
    return {
        **header_json(problem, listener),
        "best": None if best is None else _best_json(problem, best.object, best.value),
        "recommended": None
        if other is None
        else {**object_json(problem, other.object), "mean": other.mean, "low": other.low, "high": other.high},
        "suggestions": suggestions,
        "similarities": weights_json(problem),
        "verdict": answer.verdict,
        "out": None if out is None else str(out),
        "report": None if report is None else str(report),
        "round": None if answer.committed is None else answer.committed.number,
        "under_way": [] if answer.committed is None else list(answer.committed.out_already),
        "next_command": answer.next_command,
    }


def _best_json(problem: Problem, x: Any, value: float | None) -> dict[str, Any]:
    sheet = problem.sheet
    rows = [] if sheet is None else [sheet.table.number(place) for place in problem.measured_rows(x)]
    return {**object_json(problem, x), "value": value, "rows": rows}


def _say(answer: Answer) -> None:
    sheet, found, value = answer.problem.sheet, answer.suggestions, answer.value
    objects = "object" if sheet is None else ", ".join(sheet.roles.objects)
    if not found:
        say(NOTHING_LEFT)
    elif found[0].mean is None:
        say_table(("", objects), [(name, shown(s.object)) for name, s in zip(answer.names, found, strict=True)])
    else:
        rows = [
            (name, shown(s.object), expectation(s.mean, s.low, s.high), percent(s.chance), because(s, "\n"))
            for name, s in zip(answer.names, found, strict=True)
        ]
        columns = ("", objects, f"expected {value} (95 %)", "beats best", f"because of ({value}, weight)")
        say_table(columns, rows, right=(3,))
    _say_background(answer)


def _say_background(answer: Answer) -> None:
    """The best so far, the similarities, the verdict, and how to go on."""
    problem = answer.problem
    if problem.measured:
        best = problem.study.best
        where = _where(problem, best.object)
        say("", f"Best so far: {shown(best.object)}, {answer.value} {best.value:.6g}{where}.")
        if (other := problem.recommended()) is not None:
            expected = expectation(other.mean, other.low, other.high)
            say(
                f"Recommended: {shown(other.object)}, expected {answer.value} {expected}; the best may have been lucky."
            )
    shares = [f"{shown(name, NAME)} {percent(share)}" for name, share in problem.weights() if share >= 0.005]
    if shares:
        say(f"Similarities: {', '.join(shares)}.")
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
    out, committed = answer.files.out, answer.committed
    if out is None or committed is None:
        if answer.suggestions:
            say(f"To begin with these, so that they are written down: {answer.next_command}")
        return
    if committed.out_already:
        say(f"Still under way, and in {out} too: {', '.join(committed.out_already)}.")
    if answer.suggestions or committed.out_already:
        say(f"Fill in column {answer.value!r} of {out}, then: {answer.next_command}")
