"""The report as one HTML page, which answers a chemist's questions, with nothing to load from anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from likewise import __version__
from likewise.campaign.display.naming import Names
from likewise.campaign.display.numbers import expectation, interval, plus_minus
from likewise.campaign.display.prospects import ORDER, nothing_to_suggest
from likewise.campaign.display.reasons import Reasons
from likewise.campaign.judgement import Judgement
from likewise.campaign.problem import Problem
from likewise.campaign.roles import PREFIX, counter
from likewise.campaign.wording import count, difference, percent, same_fields, shown
from likewise.errors import UsageError
from likewise.figures import figures
from likewise.report import charts
from likewise.report.factors import effects
from likewise.report.outcomes_page import outcomes_page
from likewise.report.rounds import fruitless, reaching, rounds
from likewise.report.svg import BOND, SMALL_BOND, molecule
from likewise.report.templates import template
from likewise.similarity.base import Similarity
from likewise.study.suggestion import Suggestion
from likewise.study.trial import Outcome
from likewise.tables.writing import write_bytes

# Suggestions that get a card, and analogues on each; further suggestions stand in a table.
DRAWN, ANALOGUES = 48, 3
# Measured runs that are shown as the best.
TOP = 8
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


@dataclass(frozen=True, eq=False)
class Story:
    """What a report tells: the table, what is suggested and how that is called, how good the model is, how to go on."""

    problem: Problem
    found: Sequence[Suggestion]
    runs: Sequence[str]
    judgement: Judgement | None = None
    prospect: str = ""
    next_command: str = ""
    advice: str = ""
    notes: Sequence[str] = ()

    @property
    def value(self) -> str:
        """The name of the values."""
        sheet = self.problem.sheet
        return "value" if sheet is None else sheet.roles.value


def write_report(story: Story, target: Path) -> None:
    """Write the report; a report that exists is replaced."""
    problem = story.problem
    if problem.study.goals.named:
        names = Reasons.of(problem).names
        text = outcomes_page(story, molecular_fields(problem.similarities), lambda x: _about(problem, names, x))
    else:
        text = page(story)
    write_bytes(target, text.encode())


def page(story: Story) -> str:
    """The report as text."""
    problem, found, name = story.problem, story.found, story.value
    reasons = Reasons.of(problem)
    names, sheet = reasons.names, problem.sheet
    html = template(
        "template.html",
        count=count,
        difference=difference,
        percent=percent,
        shown=shown,
        same_fields=same_fields,
        molecule=molecule,
        interval=interval,
        plus_minus=plus_minus,
        expectation=expectation,
        names=names,
        reasons=reasons,
        about=lambda x: _about(problem, names, x),
        name=name,
        column=reasons.column,
        molecules=molecular_fields(problem.similarities),
        bond=BOND,
        small_bond=SMALL_BOND,
        drawn=DRAWN,
        analogues=ANALOGUES,
    )
    past, known = rounds(problem), effects(problem, names)
    return html.render(
        title="Suggestions" if sheet is None else f"Suggestions for {sheet.table.path.name}",
        aim="smallest" if problem.study.direction == "minimize" else "largest",
        story=story,
        problem=problem,
        best=problem.study.best if problem.measured else None,
        recommended=problem.recommended(),
        found=found,
        top=best_runs(problem),
        rounds=past,
        fruitless=fruitless(past),
        factors=list(zip(known, charts.factors(known, name), strict=True)),
        progress=charts.progress(problem, found, name),
        trust=_trust(story),
        alike=charts.alike(problem, found, name, names),
        order=ORDER,
        nothing=nothing_to_suggest(problem),
        version=__version__,
        now=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    )


def _trust(story: Story) -> list[charts.Chart]:
    """How good predictions of known runs are, and their intervals."""
    judgement, problem = story.judgement, story.problem
    left_out = None if judgement is None or judgement.diagnosis is None else judgement.diagnosis.left_out
    return [charts.predictions(left_out, problem, story.value), charts.calibration(left_out, problem)]


def best_runs(problem: Problem, most: int = TOP) -> list[tuple[Any, str, list[int]]]:
    """The best measured objects, their values as text, and the rows that these are the means of."""
    sheet = problem.sheet
    if sheet is None or not problem.measured:
        return []
    sign, groups = -1.0 if problem.study.direction == "minimize" else 1.0, dict[str, list[int]]()
    for place in reaching(problem):
        groups.setdefault(problem.study.space.key(sheet.objects[place]), []).append(place)
    means = {key: sum(sheet.values[i] for i in places) / len(places) for key, places in groups.items()}
    ordered = sorted(groups, key=lambda key: -sign * means[key])[:most]
    return [
        (
            sheet.objects[groups[key][0]],
            str(Outcome(means[key], limit=sheet.measurement(groups[key][0]).limit)),
            [sheet.table.number(i) for i in groups[key]],
        )
        for key in ordered
    ]


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


def _about(problem: Problem, names: Names, x: Any) -> str:
    """The row of the object, and what else the table says of it."""
    place, sheet = problem.place(x), problem.sheet
    if place is None or sheet is None:
        return ""
    known = {*sheet.roles.taken, *names.headings.values(), *sheet.own}
    others = [c for c in sheet.table.columns if c not in known and not c.startswith(PREFIX) and not counter(c)][:3]
    texts = [f"{c}: {shown(cell, 60)}" for c in others if (cell := sheet.cell(c, place))]
    return " · ".join([f"row {sheet.table.number(place)}", *texts])
