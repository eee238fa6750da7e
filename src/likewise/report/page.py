"""The report as one HTML page: suggestions, pictures and the verdict, with nothing to load from anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from likewise.campaign.judgement import Judgement
from likewise.campaign.problem import Problem
from likewise.campaign.wording import count, percent, shown
from likewise.errors import UsageError
from likewise.figures import figures as pictures
from likewise.figures import plot_data as views
from likewise.report.cards import cards
from likewise.report.svg import inline
from likewise.tables.writing import replaced

if TYPE_CHECKING:
    from likewise.study.suggestion import Suggestion

FEWEST = 3
# By what a report is known, in its first bytes.
MARK, BEGINNING = b'<meta name="generator" content="likewise">', 200


def check_report(target: Path, force: bool) -> None:
    """Refuse to draw without the library for it, and to replace a file that is no report."""
    pictures.matplotlib()
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
    """Write the report; a file that is there already is replaced."""
    replaced(target, page(problem, found, judgement, notes).encode())


def page(problem: Problem, found: Sequence[Suggestion], judgement: Judgement | None, notes: Sequence[str] = ()) -> str:
    """The report as text."""
    from likewise import __version__

    sheet = problem.sheet
    name = "value" if sheet is None else sheet.roles.value
    title = "Suggestions" if sheet is None else f"Suggestions for {sheet.table.path.name}"
    template = Template(files("likewise.report").joinpath("template.html").read_text(encoding="utf-8"))
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    return template.substitute(
        title=escape(title),
        subtitle=_subtitle(problem, name),
        verdict=_verdict(judgement),
        suggestions=_suggestions(problem, found, name),
        charts="\n".join(_charts(problem, found, judgement, name)),
        notes=_notes(notes),
        footer=f"Made by likewise {escape(__version__)} on {now}. This file needs no network.",
    )


def _subtitle(problem: Problem, name: str) -> str:
    aim = "smallest" if problem.study.direction == "minimize" else "largest"
    if problem.sheet is None or not problem.sheet.measured:
        return f"Looking for the {aim} {escape(name)}; nothing is measured yet."
    best = problem.study.best
    row = problem.row(best.object)
    return (
        f"Looking for the {aim} {escape(name)} after {count(len(problem.sheet.measured), 'measurement')}. "
        f"Best so far: <b>{best.value:.6g}</b>, {escape(shown(best.object, 100))}"
        f"{f' (row {row})' if row is not None else ''}."
    )


def _section(key: str, heading: str, *content: str, classes: str = "") -> str:
    inside = "\n".join(part for part in content if part)
    return f'<section id="{key}"{f" class={classes!r}" if classes else ""}>\n<h2>{heading}</h2>\n{inside}\n</section>'


def _verdict(judgement: Judgement | None) -> str:
    if judgement is None:
        text = "Too little is measured to say whether similarity predicts the values; the suggestions explore."
        return _section("verdict", "Verdict", f"<p>{text}</p>", classes="weak")
    return _section(
        "verdict", "Verdict", f"<p>{escape(judgement.verdict)}</p>", classes="" if judgement.good else "weak"
    )


def _suggestions(problem: Problem, found: Sequence[Suggestion], name: str) -> str:
    if not found:
        text = "Every candidate has a value: there is nothing left to suggest."
        return _section("suggestions", "Suggestions", f"<p>{text}</p>")
    if found[0].mean is None:
        text = "Nothing is measured yet, so these are spread out: each is unlike the others."
    else:
        text = (
            "What to measure next, what to expect (± one standard deviation), and the measured objects that say so. "
            "A weight is how much a measured value moves the prediction: with a minus sign, a high value there speaks "
            "against the suggestion."
        )
    return _section("suggestions", "Suggestions", f'<p class="soft">{text}</p>', cards(problem, found, name))


def _charts(problem: Problem, found: Sequence[Suggestion], judgement: Judgement | None, name: str) -> list[str]:
    measured = 0 if problem.sheet is None else len(problem.sheet.measured)
    return [
        _progress(problem, found, name, measured),
        _map(problem, found, name),
        *_checks(judgement, name, measured),
        _committee(problem),
    ]


def _figure(svg: str, text: str) -> str:
    return f'{svg}\n<p class="small soft">{text}</p>'


def _missing(key: str, heading: str, measured: int, least: int = FEWEST) -> str:
    needs = count(least, "measured object")
    text = f"This picture needs at least {needs}; there {'is' if measured == 1 else 'are'} {measured}."
    return _section(key, heading, f'<p class="soft">{text}</p>')


def _progress(problem: Problem, found: Sequence[Suggestion], name: str, measured: int) -> str:
    if not measured:
        return _missing("progress", "Progress", measured, 1)
    figure = pictures.progress(views.course(problem.study), found, name)
    order = None if problem.sheet is None else problem.sheet.order
    when = f"in the order of column {escape(order)}" if order else "in the order of the table"
    text = f"Measured values {when}, the best so far, and what is expected of the suggestions."
    return _section("progress", "Progress", _figure(inline(figure, "progress", text), text))


def _map(problem: Problem, found: Sequence[Suggestion], name: str) -> str:
    nothing = problem.sheet is None or not problem.sheet.measured
    shown_map = views.object_map(problem.study, found, similarities=problem.similarities if nothing else None)
    measured = ~np.isnan(shown_map.values)
    picked = set(shown_map.picks)
    groups = {
        "others": [i for i in range(len(measured)) if not measured[i] and i not in picked],
        "measured": np.flatnonzero(measured).tolist(),
        "suggested": shown_map.picks,
    }
    titles = {
        group: [
            shown(shown_map.objects[i], 80) + (f": {shown_map.values[i]:.4g}" if measured[i] else "") for i in places
        ]
        for group, places in groups.items()
    }
    text = (
        "Objects that are alike lie close together; the axes have no other meaning, and two dimensions show "
        f"{percent(shown_map.share)} of the similarity. Point at an object to read its name."
    )
    figure = pictures.object_map(shown_map, name)
    return _section("map", "Map of the objects", _figure(inline(figure, "map", text, titles), text))


def _checks(judgement: Judgement | None, name: str, measured: int) -> list[str]:
    if judgement is None:
        return [
            _missing("predictions", "Predicted and measured", measured),
            _missing("calibration", "Calibration", measured),
        ]
    check = judgement.diagnosis.left_out
    spread = float(np.std(check.values))
    text = (
        f"Each measured object, predicted from all the others. Typical error {check.error:.3g}; "
        f"predicting the mean of all would give {spread:.3g}."
    )
    inside = 100 * float(np.mean(check.inside()))
    calibrated = (
        f"Of an honest 95 % interval, 95 % hold their value; here it is {inside:.0f} %. A line below the band means "
        "that predictions are too sure of themselves, above it that they are too careful."
    )
    return [
        _section(
            "predictions",
            "Predicted and measured",
            _figure(inline(pictures.predicted(check, name), "predictions", text), text),
        ),
        _section(
            "calibration",
            "Calibration",
            _figure(inline(pictures.calibration(check), "calibration", calibrated), calibrated),
        ),
    ]


def _committee(problem: Problem) -> str:
    shares = problem.weights()
    if not shares:
        names = ", ".join(escape(similarity.name) for similarity in problem.similarities)
        return _section(
            "committee", "Committee", f"<p>Similarities: {names}. Their weights follow from the values.</p>"
        )
    text = "How much each similarity counts: those that explain the values better have more weight."
    figure = pictures.weights([name for name, _ in shares], [share for _, share in shares])
    return _section("committee", "Committee", _figure(inline(figure, "committee", text), text))


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}.</li>" for note in notes)
    return _section("notes", "Notes", f'<ul class="small">{items}</ul>')
