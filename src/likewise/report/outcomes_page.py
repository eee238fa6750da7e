"""The report on several outcomes: what to do next, the trade-off, and how far each outcome can be predicted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from likewise import __version__
from likewise.campaign.aims import Aims
from likewise.campaign.display.naming import Names
from likewise.campaign.display.numbers import plus_minus
from likewise.campaign.display.prospects import nothing_to_suggest
from likewise.campaign.display.reasons import Reasons
from likewise.campaign.judgement import FEWEST
from likewise.campaign.problem import Problem
from likewise.campaign.wording import percent, same_fields, shown
from likewise.figures import figures
from likewise.figures import fronts as front_figures
from likewise.report import charts, fronts
from likewise.report.factors import effects
from likewise.report.rounds import round_starts
from likewise.report.svg import SMALL_BOND, inline, molecule
from likewise.report.templates import template
from likewise.study.suggestion import Suggestion
from likewise.study.trial import Trial


def outcomes_page(story: Any, molecules: set[str], about: Any) -> str:
    """The report as text; `about` says what a table knows of an object."""
    problem, found = story.problem, list(story.found)
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
        found=found,
        nothing=nothing_to_suggest(problem),
        outcomes=outcomes_of(problem),
        record=same_fields(_shown_objects(problem, found)),
        headings=_headings(problem, reasons.names, found),
        chance="enters the front" if goals.objective is None else "beats best",
        limited=bool(goals.constraints) and any(s.outcomes for s in found),
        front=problem.front if problem.measured else [],
        charts=_trade_off(problem, found),
        factors=[
            (name, _factors(problem, reasons.names, name, number)) for number, name in enumerate(problem.outcomes)
        ],
        trust=[(name, _trust(problem, name, number)) for number, name in enumerate(problem.outcomes)],
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
    each = s.outcomes.get(name)
    return "" if each is None else plus_minus(each.mean, each.std)


def _measured(problem: Problem, trial: Trial, name: str) -> str:
    found = {**trial.values, **problem.study.objectives_of(trial)}
    return f"{found[name]:.6g}" if name in found else ""


def _shown_objects(problem: Problem, found: Sequence[Suggestion]) -> list[Any]:
    """The objects that stand in tables: the suggestions, and the front."""
    return [*(s.object for s in found), *(trial.object for trial in (problem.front if problem.measured else []))]


def _headings(problem: Problem, names: Names, found: Sequence[Suggestion]) -> list[str]:
    objects = _shown_objects(problem, found)
    if same_fields(objects):
        return [names.heading(field) for field in objects[0]]
    return ["object" if problem.sheet is None else problem.sheet.roles.objects[0]]


def _trade_off(problem: Problem, found: Sequence[Suggestion]) -> list[charts.Chart]:
    """The front and how it has grown, where there are several objectives and something was measured."""
    names = list(problem.study.goals.objectives)
    whole = [t for t in problem.study.trials if len(problem.study.objectives_of(t)) == len(names) and t.outcomes]
    if len(names) < 2 or not whole:
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
    front, volumes = fronts.front(problem.study, found), fronts.volumes(problem.study, starts)
    return [
        charts.Chart("trade-off", "The front", text, inline(front_figures.front(front), "trade-off", text)),
        charts.Chart("growth", "Its growth", grown, inline(front_figures.hypervolume(volumes), "growth", grown)),
    ]


def _factors(problem: Problem, names: Names, name: str, number: int) -> list[charts.Chart]:
    """How each factor moves an outcome, the most important first."""
    return charts.factors(effects(problem, names, name), name, f"factor-{number}-")


def _trust(problem: Problem, name: str, number: int) -> list[charts.Chart]:
    """How good predictions of an outcome are, and their intervals; ids in the pictures are of this outcome alone."""
    enough = problem.known_of(name) >= FEWEST
    left_out = problem.study.diagnose(each=False, outcome=name).left_out if enough else None
    found = [charts.predictions(left_out, problem, name), charts.calibration(left_out, problem)]
    if left_out is None:
        return found
    drawn = (figures.predictions(left_out, name), figures.calibration(left_out))
    pictures = [inline(one, f"{c.key}-{number}", c.text) for one, c in zip(drawn, found, strict=True)]
    return [c._replace(key=f"{c.key}-{number}", picture=one) for c, one in zip(found, pictures, strict=True)]
