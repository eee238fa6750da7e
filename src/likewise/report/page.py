"""The report as one HTML page, which answers a chemist's questions, with nothing to load from anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from likewise import __version__
from likewise.campaign.columns import Aims
from likewise.campaign.problem import Problem
from likewise.campaign.reasons import FEWEST, ORDER, Judgement, Names, Reasons, nothing_to_suggest
from likewise.campaign.roles import PREFIX, counter
from likewise.campaign.text import count, difference, expectation, interval, percent, plus_minus, same_fields, shown
from likewise.errors import UsageError
from likewise.figures import figures
from likewise.figures import figures as front_figures
from likewise.report import charts, plot_data
from likewise.report.charts import (
    BOND,
    SMALL_BOND,
    effects,
    fruitless,
    inline,
    molecule,
    reaching,
    round_starts,
    rounds,
)
from likewise.similarity.base import Similarity
from likewise.study.trial import Outcome, Suggestion, Trial
from likewise.tables.writing import write_bytes

# The templates of reports: HTML in which every text of a table is escaped, and a name that is missing is an error.


def template(file: str, **helpers: Any) -> Template:
    """The template in a file of this folder, which knows these functions and constants in all of its parts."""
    environment = Environment(
        loader=PackageLoader("likewise.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(helpers)
    return environment.get_template(file)


# The report on several outcomes: what to do next, the trade-off, and how far each outcome can be predicted.


def outcomes_page(story: Any, molecules: set[str], about: Any) -> str:
    """The report as text; `about` says what a table knows of an object."""
    problem, suggestions = story.problem, list(story.found)
    goals, reasons, sheet = problem.study.goals, Reasons.of(problem), problem.sheet
    html = template(
        "outcomes.html",
        names=reasons.names, reasons=reasons, column=reasons.column, molecules=molecules, molecule=molecule,
        small_bond=SMALL_BOND, shown=shown, percent=percent, about=about,
        expected=lambda s: [expected_text(problem, s, name) for name in outcomes_of(problem)],
        measured=lambda trial, name: _measured(problem, trial, name),
    )  # fmt: skip
    return html.render(
        title="Suggestions" if sheet is None else f"Suggestions for {sheet.table.path.name}",
        aim=Aims(goals.objectives, goals.constraints).text,
        story=story,
        found=suggestions,
        nothing=nothing_to_suggest(problem),
        outcomes=outcomes_of(problem),
        record=same_fields(_shown_objects(problem, suggestions)),
        headings=_headings(problem, reasons.names, suggestions),
        chance="enters the front" if goals.objective is None else "beats best",
        limited=bool(goals.constraints) and any(s.outcomes for s in suggestions),
        front=problem.front if problem.measured else [],
        charts=_trade_off(problem, suggestions),
        factors=[
            (name, _factors(problem, reasons.names, name, number)) for number, name in enumerate(problem.outcomes)
        ],
        trust=[(name, _trust_in_outcome(problem, name, number)) for number, name in enumerate(problem.outcomes)],
        version=__version__,
        now=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    )


def outcomes_of(problem: Problem) -> list[str]:
    """The names of objectives and constraints, each once."""
    return list(dict.fromkeys((*problem.study.goals.objectives, *problem.study.goals.constraints)))


def expected_text(problem: Problem, s: Suggestion, name: str) -> str:
    """What is expected of an outcome; one that is known is said as it is."""
    computed = problem.study.goals.computed
    if name in computed:
        return f"{computed[name].values([s.object])[0]:.6g}"
    expected = s.outcomes.get(name)
    return "" if expected is None else plus_minus(expected.mean, expected.std)


def _measured(problem: Problem, trial: Trial, name: str) -> str:
    values = {**trial.values, **problem.study.objectives_of(trial)}
    return f"{values[name]:.6g}" if name in values else ""


def _shown_objects(problem: Problem, suggestions: Sequence[Suggestion]) -> list[Any]:
    """The objects that stand in tables: the suggestions, and the front."""
    return [*(s.object for s in suggestions), *(trial.object for trial in (problem.front if problem.measured else []))]


def _headings(problem: Problem, names: Names, suggestions: Sequence[Suggestion]) -> list[str]:
    objects = _shown_objects(problem, suggestions)
    if same_fields(objects):
        return [names.heading(field) for field in objects[0]]
    return ["object" if problem.sheet is None else problem.sheet.roles.objects[0]]


def _trade_off(problem: Problem, suggestions: Sequence[Suggestion]) -> list[charts.Chart]:
    """The front and how it has grown, where there are several objectives and something was measured."""
    names = list(problem.study.goals.objectives)
    complete = [t for t in problem.study.trials if len(problem.study.objectives_of(t)) == len(names) and t.outcomes]
    if len(names) < 2 or not complete:
        return []
    shape = (
        "Each object is a line across the objectives."
        if len(names) > 2
        else "Beyond the line nothing was measured yet."
    )
    text = f"Measured objects, those that no other beats, and what is expected of the suggestions. {shape}"
    starts = round_starts(problem, names)
    grown = "How much the front dominates, counted from the worst that was measured."
    grown += " Broken lines part the rounds." if len(starts) > 1 else ""
    front, volumes = plot_data.front(problem.study, suggestions), plot_data.volumes(problem.study, starts)
    return [
        charts.Chart("trade-off", "The front", text, inline(front_figures.front(front), "trade-off", text)),
        charts.Chart("growth", "Its growth", grown, inline(front_figures.hypervolume(volumes), "growth", grown)),
    ]


def _factors(problem: Problem, names: Names, name: str, number: int) -> list[charts.Chart]:
    """How each factor moves an outcome, the most important first."""
    return charts.factors(effects(problem, names, name), name, f"factor-{number}-")


def _trust_in_outcome(problem: Problem, name: str, number: int) -> list[charts.Chart]:
    """How good predictions of an outcome are, and their intervals; ids in the pictures are of this outcome alone."""
    enough = problem.known_of(name) >= FEWEST
    left_out = problem.study.diagnose(each=False, outcome=name).left_out if enough else None
    drawings = [charts.predictions(left_out, problem, name), charts.calibration(left_out, problem)]
    if left_out is None:
        return drawings
    drawn = (figures.predictions(left_out, name), figures.calibration(left_out))
    pictures = [inline(picture, f"{c.key}-{number}", c.text) for picture, c in zip(drawn, drawings, strict=True)]
    return [c._replace(key=f"{c.key}-{number}", picture=picture) for c, picture in zip(drawings, pictures, strict=True)]


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
    problem, suggestions, name = story.problem, story.found, story.value
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
    past, factors = rounds(problem), effects(problem, names)
    return html.render(
        title="Suggestions" if sheet is None else f"Suggestions for {sheet.table.path.name}",
        aim="smallest" if problem.study.direction == "minimize" else "largest",
        story=story,
        problem=problem,
        best=problem.study.best if problem.measured else None,
        recommended=problem.recommended(),
        found=suggestions,
        top=best_runs(problem),
        rounds=past,
        fruitless=fruitless(past),
        factors=list(zip(factors, charts.factors(factors, name), strict=True)),
        progress=charts.progress(problem, suggestions, name),
        trust=_trust(story),
        alike=charts.alike(problem, suggestions, name, names),
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
    shown_columns = {*sheet.roles.taken, *names.headings.values(), *sheet.own}
    columns = [
        c for c in sheet.table.columns if c not in shown_columns and not c.startswith(PREFIX) and not counter(c)
    ][:3]
    texts = [f"{c}: {shown(cell, 60)}" for c in columns if (cell := sheet.cell(c, place))]
    return " · ".join([f"row {sheet.table.number(place)}", *texts])
