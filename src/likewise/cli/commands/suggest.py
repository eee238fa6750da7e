"""`likewise suggest`: the next experiments from a table of those done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from likewise.campaign import names, space_text
from likewise.campaign.judgement import judge
from likewise.campaign.listener import Listener
from likewise.campaign.problem import Problem, solve
from likewise.campaign.sheet import Choices, Sheet, sheet
from likewise.campaign.similarities import Request
from likewise.campaign.suggestions_file import count_unmerged, write_suggestions
from likewise.campaign.targets import check_targets
from likewise.campaign.wording import because, count, expectation, percent, shown
from likewise.cli.answers import analogues_json, header_json, object_json, weights_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.errors import UsageError
from likewise.report.page import check_report, write_report
from likewise.study.suggestion import Suggestion
from likewise.tables.writing import check_name

# Characters of a similarity's name; those of records with many fields are long.
NAME = 60
NOTHING_LEFT = "Every candidate has a value: there is nothing left to suggest."


InputFile = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="CSV, TSV or Parquet, gzipped or not. Not needed with --space.")
]
Number = Annotated[int, typer.Option("-n", "--number", min=1, help="How many suggestions.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="Write the suggestions here, to be filled in: .csv, .tsv, .parquet.")
]
SpaceText = Annotated[
    str | None,
    typer.Option("--space", help="Where candidates come from if not from the file: strings:ACGT:8 or space.toml."),
]
Report = Annotated[Path | None, typer.Option("--report", help="Write a report: one HTML file.")]
AcquisitionName = Annotated[str, typer.Option(help="What a candidate is worth: auto, ei, pi, ucb(2) or mean.")]
MethodName = Annotated[str, typer.Option(help="How candidates are chosen: committee, or paper as the paper prints it.")]
StrategyName = Annotated[
    str, typer.Option(help="How a batch is chosen: auto, sequential, thompson, top_score or two_stage.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace --out even if it holds values that FILE has not, and any --report.")
]


def suggest(
    file: InputFile = None,
    n: Number = 1,
    out: Out = None,
    report: Report = None,
    space: SpaceText = None,
    method: MethodName = "committee",
    acquisition: AcquisitionName = "auto",
    strategy: StrategyName = "auto",
    force: Force = False,
    *,
    columns: options.Columns,
    model: options.Aim,
    console: Console,
) -> Reply:
    """Suggest what to measure next: rows with a value are observations, rows without are candidates.

    FILE is never changed. Fill in the values of --out, merge them with `likewise tell`, and run the same command again.
    """
    _check_files(file, space, Files(out, report, force))
    request = replace(
        model.request(columns),
        space=None if space is None else space_text.space(space),
        acquisition=names.acquisition(acquisition),
        strategy=names.strategy(strategy),
        method=names.method(method),
        searching=True,
    )
    found = answer(file, columns.choices, request, n, Files(out, report, force), console)
    return Reply(lambda: _data(found, console), lambda: _say(found))


class Files(NamedTuple):
    """The files that are written beside the answer, and whether they may replace others."""

    out: Path | None = None
    report: Path | None = None
    force: bool = False


def _check_files(file: Path | None, space: str | None, files: Files) -> None:
    """Refuse what could not be read or written before any work is done."""
    if file is None and space is None:
        raise UsageError("Give a FILE with candidates, or a --space to take them from.")
    sources = {"the input, which is never changed": file, "the file of --space": space_text.path(space)}
    check_targets({"--out": files.out, "--report": files.report}, sources)
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

    @property
    def value(self) -> str:
        """The name of the values' column."""
        sheet = self.problem.sheet
        return (self.chosen.value or "value") if sheet is None else sheet.roles.value


def answer(file: Path | None, chosen: Choices, request: Request, n: int, files: Files, listener: Listener) -> Answer:
    """The suggestions for a table, or for a space, and their files."""
    with listener.working("reading"):
        table = None if file is None else sheet(file, chosen, listener, request.space)
    if files.out is not None:
        _check_out(files.out, file, table, files.force, chosen)
    with listener.working("comparing objects") as progress:
        problem, found = solve(table, request, lambda p: p.study.ask(n), listener, progress=progress)
    _remark(problem, found, n, listener)
    if files.out is not None:
        write_suggestions(problem, found, files.out, chosen)
    judgement = judge(problem)
    if files.report is not None:
        with listener.working("drawing the report"):
            write_report(problem, found, judgement, files.report, listener.notes)
    return Answer(problem, found, None if judgement is None else judgement.verdict, chosen, files)


def _check_out(out: Path, file: Path | None, table: Sheet | None, force: bool, chosen: Choices) -> None:
    """Refuse a target that is no table of suggestions, or holds results which nobody has merged yet."""
    check_name(out)
    if force or not out.exists():
        return
    lost = count_unmerged(out, table)
    if lost is None:
        raise UsageError(f"{out} exists and is no table of suggestions; give another name, or --force to replace it.")
    if lost:
        where = "no other table has" if file is None else f"{file} has not"
        remedy = "Go on with them" if file is None else "Merge them first"
        raise UsageError(
            f"{out} exists, with {count(lost, 'measured value')} that {where}. {remedy} "
            f"({options.next_command(file, out, chosen, '--in-place')}), give another name, or --force to lose them."
        )


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
    rows = f"{count(measured, 'measured row')}, {count(candidates, 'candidate')}"
    listener.note(f"{sheet.table.name}: {rows}. Looking for the {aim} {sheet.roles.value}{other}")
    if candidates and problem.pool is None:
        listener.note(f"{count(candidates, 'row')} without a value ignored: candidates come from --space")
    if not measured:
        listener.note("Nothing is measured yet. The first batch is spread out: each object is unlike the others")


def _data(answer: Answer, listener: Listener) -> dict[str, Any]:
    problem, (out, report, _) = answer.problem, answer.files
    best = problem.study.best if problem.measured else None
    other = problem.recommended()
    suggestions = [
        {
            "rank": rank,
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
        "best": None if best is None else {**object_json(problem, best.object), "value": best.value},
        "recommended": None
        if other is None
        else {**object_json(problem, other.object), "mean": other.mean, "low": other.low, "high": other.high},
        "suggestions": suggestions,
        "similarities": weights_json(problem),
        "verdict": answer.verdict,
        "out": None if out is None else str(out),
        "report": None if report is None else str(report),
    }


def _say(answer: Answer) -> None:
    sheet, found, value = answer.problem.sheet, answer.suggestions, answer.value
    name = "object" if sheet is None else ", ".join(sheet.roles.objects)
    if not found:
        say(NOTHING_LEFT)
    elif found[0].mean is None:
        say_table(("", name), [(str(rank), shown(s.object)) for rank, s in enumerate(found, 1)], right=(0,))
    else:
        rows = [
            (str(rank), shown(s.object), expectation(s.mean, s.low, s.high), percent(s.chance), because(s, "\n"))
            for rank, s in enumerate(found, 1)
        ]
        columns = ("", name, f"expected {value} (95 %)", "beats best", f"because of ({value}, weight)")
        say_table(columns, rows, right=(0, 3))
    _say_background(answer)


def _say_background(answer: Answer) -> None:
    """The best so far, the similarities, the verdict, and how to go on."""
    problem, (out, report, _) = answer.problem, answer.files
    if problem.measured:
        best = problem.study.best
        row = problem.row(best.object)
        where = "" if row is None else f" (row {row})"
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
    if out is not None and answer.suggestions:
        table = None if problem.sheet is None else problem.sheet.table.path
        say(f"Fill in column {answer.value!r} of {out}, then: {options.next_command(table, out, answer.chosen)}")
    if report is not None:
        say(f"Report: {report}")
