"""The report as one HTML page: suggestions, pictures and the verdict, with nothing to load from anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from likewise import __version__
from likewise.campaign.display.numbers import expectation
from likewise.campaign.judgement import Judgement
from likewise.campaign.problem import Problem
from likewise.campaign.roles import PREFIX
from likewise.campaign.wording import count, difference, percent, shown
from likewise.errors import UsageError
from likewise.figures import figures
from likewise.report.charts import charts
from likewise.report.svg import BOND, SMALL_BOND, molecule
from likewise.similarity.base import Similarity
from likewise.study.suggestion import Suggestion
from likewise.tables.writing import write_bytes

# Suggestions that get a card, and analogues on each; further suggestions stand in a table.
DRAWN, ANALOGUES = 48, 3
ENDINGS = (".html", ".htm")
# By what a report is known, in its first bytes.
MARK, BEGINNING = b'<meta name="generator" content="likewise">', 200


def check_report(target: Path, force: bool) -> None:
    """Refuse to draw without the library for it, and to replace a file that is no report."""
    if target.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"A report is one HTML file, and {target} does not end in .html; write {target.with_suffix('.html')}. "
            "For a PDF, open the report in a browser and print it to a file."
        )
    figures.matplotlib()
    if not force and target.exists() and not _is_report(target):
        raise UsageError(f"{target} exists and is no report of likewise; give another name.", settings={"force": ""})


def _is_report(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return MARK in file.read(BEGINNING)
    except OSError:
        return False


def write_report(
    problem: Problem, found: Sequence[Suggestion], judgement: Judgement | None, target: Path, notes: Sequence[str]
) -> None:
    """Write the report; a report that exists is replaced."""
    write_bytes(target, page(problem, found, judgement, notes).encode())


def page(problem: Problem, found: Sequence[Suggestion], judgement: Judgement | None, notes: Sequence[str] = ()) -> str:
    """The report as text."""
    sheet = problem.sheet
    name = "value" if sheet is None else sheet.roles.value
    environment = Environment(
        loader=PackageLoader("likewise.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        count=count,
        difference=difference,
        percent=percent,
        shown=shown,
        molecule=molecule,
        expected=_expectation,
        about=lambda x: _about(problem, x),
        name=name,
        molecules=molecular_fields(problem.similarities),
        bond=BOND,
        small_bond=SMALL_BOND,
        drawn=DRAWN,
        analogues=ANALOGUES,
    )
    return environment.get_template("template.html").render(
        title="Suggestions" if sheet is None else f"Suggestions for {sheet.table.path.name}",
        aim="smallest" if problem.study.direction == "minimize" else "largest",
        problem=problem,
        best=problem.study.best if problem.measured else None,
        judgement=judgement,
        found=found,
        charts=charts(problem, found, judgement, name),
        notes=notes,
        version=__version__,
        now=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    )


def molecular_fields(similarities: Sequence[Similarity]) -> set[str]:
    """The fields of the objects that are molecules; the empty name where the object itself is one."""
    return {name for similarity in similarities for name in _molecular_fields(similarity)}


def _molecular_fields(similarity: Similarity) -> set[str]:
    if similarity.kind == "molecules":
        return {""}
    fields = getattr(similarity, "fields", None)
    if fields is not None:
        return {name for name, part in zip(fields, similarity.parts, strict=True) if _molecular_fields(part)}
    return molecular_fields(similarity.parts)


def _expectation(s: Suggestion) -> str:
    return expectation(s.mean, s.low, s.high)


def _about(problem: Problem, x: Any) -> str:
    """The row of the object, and what else the table says of it."""
    place, sheet = problem.place(x), problem.sheet
    if place is None or sheet is None:
        return ""
    roles = {*sheet.roles.objects, sheet.roles.value, sheet.roles.std}
    names = [c for c in sheet.table.columns if c not in roles and not c.startswith(PREFIX)][:3]
    cells = [(c, sheet.table.frame[c][place]) for c in names]
    texts = [f"{c}: {shown(cell, 60)}" for c, cell in cells if cell not in (None, "")]
    return " · ".join([f"row {sheet.table.number(place)}", *texts])
