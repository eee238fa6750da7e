"""`likewise suggest`: the next experiments from a table of those done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.campaign.console import Console
from likewise.cli.commands.options import (
    Debug,
    DecimalSign,
    Json,
    Minimize,
    Object,
    Quiet,
    Seed,
    Similarities,
    SkipBad,
    SpaceText,
    Std,
    Text,
    Value,
    choices,
)
from likewise.errors import UsageError

if TYPE_CHECKING:
    from likewise.campaign.problem import Problem
    from likewise.campaign.sheet import Sheet
    from likewise.study.suggestion import Suggestion


def suggest(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="CSV, TSV or Parquet, gzipped or not; may be left out with --space."),
    ] = None,
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="How many suggestions.")] = 1,
    object: Object = None,
    value: Value = None,
    std: Std = None,
    minimize: Minimize = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the suggestions here, to be filled in: .csv, .tsv, .parquet.")
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write a report: one HTML file.")] = None,
    similarity: Similarities = None,
    space: SpaceText = None,
    acquisition: Annotated[
        str, typer.Option(help="What a candidate is worth: ei, pi, ucb(2) or mean.", show_default=True)
    ] = "ei",
    strategy: Annotated[
        str, typer.Option(help="How a batch is chosen: auto, sequential, thompson, top_score or two_stage.")
    ] = "auto",
    seed: Seed = 0,
    text: Text = None,
    decimal: DecimalSign = None,
    skip_bad: SkipBad = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace --out even if it holds values that FILE has not, and any --report.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Suggest what to measure next: rows with a value are observations, rows without are candidates.

    FILE is never changed. Fill in the values of --out, merge them with `likewise tell`, and run the same command again.
    """
    from likewise.campaign import space_text as spacefile
    from likewise.campaign.answers import answer_json, answer_text
    from likewise.campaign.judgement import judged
    from likewise.campaign.names import acquisition as named_acquisition
    from likewise.campaign.names import strategy as named_strategy
    from likewise.campaign.problem import answered
    from likewise.campaign.sheet import sheet
    from likewise.campaign.similarities import Request
    from likewise.campaign.suggestions_file import check_target, written
    from likewise.campaign.targets import check_targets

    if file is None and space is None:
        raise UsageError("give a FILE with candidates, or a --space to take them from.")
    check_targets(
        {"--out": out, "--report": report},
        {"the input, which is never changed": file, "the file of --space": spacefile.path(space)},
    )
    if report is not None:
        from likewise.report.page import check_report

        check_report(report, force)
    console = Console(quiet)
    chosen_space = None if space is None else spacefile.space(space)
    chosen = choices(object, value, std, text, decimal, skip_bad)
    request = Request(
        tuple(similarity or ()),
        chosen_space,
        "minimize" if minimize else "maximize",
        seed,
        named_acquisition(acquisition),
        named_strategy(strategy),
        skip_bad,
        searching=True,
    )
    with console.working("reading"):
        table = None if file is None else sheet(file, chosen, console, chosen_space)
    if out is not None:
        check_target(out, file, table, force, chosen)
    with console.working("comparing objects") as progress:
        problem, found = answered(table, request, lambda p: p.study.ask(n), console, progress=progress)
    _remarks(problem, found, n, console)
    if out is not None:
        written(problem, found, out, chosen)
    judgement = judged(problem)
    if report is not None:
        from likewise.report.page import write_report

        with console.working("drawing the report"):
            write_report(problem, found, judgement, report, console)
    verdict = None if judgement is None else judgement.verdict
    (answer_json if as_json else answer_text)(problem, found, verdict, console, out, report, chosen)


def _remarks(problem: Problem, found: list[Suggestion], n: int, console: Console) -> None:
    """What is out of the ordinary about the answer."""
    from likewise.campaign.answers import counted

    sheet = problem.sheet
    if sheet is not None:
        _about_rows(sheet, problem, console)
    if not found:
        console.note(
            "every candidate has a value, so there is nothing left to suggest; add rows without one, or --space"
        )
    elif len(found) < n:
        console.note(f"only {counted(len(found), 'candidate')} {'is' if len(found) == 1 else 'are'} left")


def _about_rows(sheet: Sheet, problem: Problem, console: Console) -> None:
    from likewise.campaign.answers import counted

    measured, candidates = len(sheet.measured), len(sheet.candidates)
    aim = "smallest" if problem.study.direction == "minimize" else "largest"
    other = "" if aim == "smallest" else " (--minimize looks for the smallest)"
    rows = f"{counted(measured, 'measured row')}, {counted(candidates, 'candidate')}"
    console.note(f"{sheet.table.name}: {rows}; looking for the {aim} {sheet.roles.value}{other}")
    if candidates and problem.pool is None:
        console.note(f"{candidates} rows without a value are passed over, as candidates come from --space")
    if not measured:
        console.note("nothing is measured yet, so the first batch is spread out: each object unlike the others")
