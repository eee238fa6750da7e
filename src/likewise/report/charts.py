"""The pictures of the report, each with a sentence on what it shows: factors, rounds, and figures as SVG."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from likewise.acquisition.scorer import draw_values
from likewise.campaign.problem import FIRST, Problem
from likewise.campaign.reasons import FEWEST, Names, columns_of
from likewise.campaign.sheet import Sheet
from likewise.campaign.text import count, percent, shown
from likewise.figures import figures
from likewise.figures.figures import Expectations
from likewise.model.committee import Committee
from likewise.model.leave_one_out import LeftOut
from likewise.report.plot_data import course, expectations, object_map
from likewise.similarity.base import Vector
from likewise.study.trial import Suggestion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Figures and molecules as SVG that stands inside a page: no prologue, no metadata, ids of their own, any width.

# Colours that follow the page, light or dark: those of the figures, and those of atoms that are hard to read on black.
OF_PAGE = {
    "#22262b": "--ink",
    "#5a6069": "--soft",
    "#e4e7eb": "--grid",
    "#c3c8cf": "--faint",
    "#ffffff": "--page",
    "#0072b2": "--blue",
    "#d55e00": "--orange",
}
OF_ATOMS = {"#000000": "--ink", "#0000FF": "--blue", "#FF0000": "--red", "#3B3BFF": "--blue"}
# Length of a bond in pixels: the same in all drawings of a size, so that small molecules do not look large.
BOND, SMALL_BOND = 24.0, 17.0


def inline(figure: Figure, key: str, label: str, titles: Mapping[str, Sequence[str]] | None = None) -> Markup:
    """A figure as an SVG element; `titles` name the points of a group, to be read under the mouse."""
    import matplotlib as mpl

    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    for group, names in (titles or {}).items():
        text = _with_titles(text, group, names)
    text = re.sub(r'\bid="', f'id="{key}-', text)
    text = re.sub(r'href="#', f'href="#{key}-', text)
    text = text.replace("url(#", f"url(#{key}-")
    # Fonts of the reader's own machine, as in the rest of the page.
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px; font-family: inherit", text)
    text = _with_page_colours(text, OF_PAGE)
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)[0]
    head = (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}" style="max-width:{float(width) * 1.75:.0f}px">'
    )
    return Markup(head + text[text.index(">") + 1 :])


def _with_page_colours(text: str, colours: Mapping[str, str]) -> str:
    """The drawing with colours of the page, which has others in the dark; elsewhere they are as they were."""
    for colour, name in colours.items():
        text = re.sub(rf"(fill|stroke):\s*{colour}", rf"\1: var({name}, {colour})", text, flags=re.IGNORECASE)
    return text


def _with_titles(text: str, group: str, names: Sequence[str]) -> str:
    """Put a name into each point of a group of points, in their order."""
    start = text.find(f'<g id="{group}"')
    if start < 0:
        return text
    end = _end_of_group(text, start)
    waiting = iter(names)

    def named(match: re.Match[str]) -> str:
        name = next(waiting, None)
        return match[0] if name is None else f"<use{match[1]}><title>{escape(name)}</title></use>"

    return text[:start] + re.sub(r"<use([^>]*)/>", named, text[start:end]) + text[end:]


def _end_of_group(text: str, start: int) -> int:
    depth = 0
    for match in re.finditer(r"<g\b[^>]*?(/?)>|</g>", text[start:]):
        depth += -1 if match[0] == "</g>" else 0 if match[1] else 1
        if depth == 0:
            return start + match.end()
    return len(text)


@lru_cache(maxsize=1024)
def molecule(smiles: str, bond: float = BOND) -> Markup | None:
    """The structure of a molecule; None where it cannot be drawn."""
    try:
        from rdkit import Chem
        from rdkit.Chem.Draw import rdMolDraw2D
        from rdkit.rdBase import BlockLogs
    except ImportError:
        return None
    with BlockLogs():
        parsed = Chem.MolFromSmiles(smiles)
        if parsed is None or not parsed.GetNumAtoms():
            return None
        # Without a size the canvas is as large as the drawing.
        drawer = rdMolDraw2D.MolDraw2DSVG(-1, -1)
        options: Any = drawer.drawOptions()
        options.clearBackground = False
        options.padding = 0.02
        options.scalingFactor = bond
        options.bondLineWidth = 1.4
        options.minFontSize = 10
        rdMolDraw2D.PrepareAndDrawMolecule(drawer, parsed)
        drawer.FinishDrawing()
    text = drawer.GetDrawingText()
    text = re.sub(r"<!--.*?-->\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"\sclass='[^']*'", "", text)
    width, height = re.findall(r"viewBox='0 0 ([\d.]+) ([\d.]+)'", text)[0]
    # Letters are attributes, which know no variables.
    text = re.sub(r"fill='(#[0-9A-F]{6})'", r"style='fill:\1'", text)
    body = _with_page_colours(text[text.index(">") + 1 :], OF_ATOMS)
    return Markup(
        f'<svg viewBox="0 0 {width} {height}" style="width:{float(width):.0f}px" role="img" '
        f'aria-label="structure of {escape(smiles)}">{body}'
    )


# Which factor matters, and how: what the model expects of each level, the other factors as they come in the table.

# Levels of a factor that are shown, points of a curve, and objects that are predicted at once for one factor.
LEVELS, FEW, POINTS, AT_ONCE = 12, 8, 9, 240
# Objects of the table that a level is averaged over at most, and by which the whole spread is judged.
BACKGROUND, SPREAD = 40, 400
DRAWS = 400


@dataclass(frozen=True, eq=False)
class Effect:
    """What is expected of each level of a factor, averaged over the other factors, the best level first.

    low, high: the ends of the 95 % interval of that average.
    chance: that the level is the best of those shown.
    measured: runs that were measured at the level.
    share: of the differences that the model predicts, how much the factor alone accounts for.
    others: levels that are not shown.
    """

    column: str
    heading: str
    levels: list[Any]
    labels: list[str]
    mean: Vector
    low: Vector
    high: Vector
    chance: Vector
    measured: list[int]
    share: float
    numeric: bool
    others: int = 0


def effects(problem: Problem, names: Names, outcome: str | None = None) -> list[Effect]:
    """The effects of all factors on an outcome (by default the one objective), the most important first.

    There are none where objects have no factors, or little is known, or all values are the same.
    """
    study, columns = problem.study, columns_of(problem)
    outcome = study.goals.objective if outcome is None else outcome
    if outcome is None or _is_little_known(problem, outcome) or len(columns) < 2:
        return []
    rng, committee = np.random.default_rng(study.seed), study.committee(outcome)
    table = _objects(problem, rng)
    if not table or any(_get(table[0], columns, c) is None for c in columns):
        return []
    sign = study.goals.sign(outcome)
    spread = float(np.var(committee.predict(_sample(table, SPREAD, rng)).mean))
    computed = [_effect(c, columns, table, problem, committee, sign, spread, names, rng) for c in columns]
    every = [effect for effect in computed if effect is not None]
    total = max(1.0, sum(effect.share for effect in every))
    scaled = [Effect(**{**vars(effect), "share": effect.share / total}) for effect in every]
    return sorted(scaled, key=lambda effect: -effect.share)


def _is_little_known(problem: Problem, outcome: str) -> bool:
    """Whether there are too few values of an outcome, or all are the same."""
    if outcome not in problem.outcomes or problem.sheet is None:
        return problem.measured < FIRST or problem.level
    rows = (problem.sheet.results(i) for i in problem.sheet.measured)
    values = [row[outcome] for row in rows if outcome in row]
    return len(values) < FIRST or len(set(values)) == 1


def _objects(problem: Problem, rng: np.random.Generator) -> list[Any]:
    """Where the factors are taken from: the table, or what the space draws."""
    if problem.pool is not None and problem.sheet is not None:
        return problem.sheet.in_play
    return list(problem.study.space.sample(SPREAD, rng))


def _sample(objects: Sequence[Any], most: int, rng: np.random.Generator) -> list[Any]:
    if len(objects) <= most:
        return list(objects)
    return [objects[i] for i in np.sort(rng.choice(len(objects), size=most, replace=False)).tolist()]


def _effect(
    column: str,
    columns: Sequence[str],
    table: Sequence[Any],
    problem: Problem,
    committee: Committee,
    sign: float,
    spread: float,
    names: Names,
    rng: np.random.Generator,
) -> Effect | None:
    values = [_get(x, columns, column) for x in table]
    counted = _counts(problem, columns, column)
    numeric = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
    if not numeric and not all(isinstance(value, str | bool) for value in values):
        return None
    levels, rest = _numbers(values) if numeric else _categories(values, counted)
    if len(levels) < 2:
        return None
    place = _placing(table, columns, column)
    around = _sample(table, min(BACKGROUND, max(4, AT_ONCE // len(levels))), rng)
    objects = [place(x, level) for level in levels for x in around]
    mean = sign * committee.predict(objects).mean.reshape(len(levels), -1).mean(axis=1)
    draws = sign * draw_values(committee, objects, DRAWS, rng).reshape(DRAWS, len(levels), -1).mean(axis=2)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    best = np.bincount(np.argmax(sign * draws, axis=1), minlength=len(levels)) / DRAWS
    order = list(range(len(levels))) if numeric else np.argsort(-sign * mean, kind="stable").tolist()
    share = float(np.var(mean)) / max(spread, 1e-300)
    labels = [names.of(column, levels[i]) for i in order]
    counts = [counted.get(shown(levels[i]), 0) for i in order]
    picked = [levels[i] for i in order]
    heading = names.heading(column)
    ends = np.minimum(low, mean)[order], np.maximum(high, mean)[order]
    return Effect(column, heading, picked, labels, mean[order], *ends, best[order], counts, share, numeric, rest)


def _counts(problem: Problem, columns: Sequence[str], column: str) -> dict[str, int]:
    """How many measured runs have each value of a factor."""
    sheet = problem.sheet
    objects = [] if sheet is None else [sheet.objects[place] for place in sheet.measured]
    return dict(Counter(shown(_get(x, columns, column)) for x in objects))


def _numbers(values: Sequence[Any]) -> tuple[list[Any], int]:
    """The values of a number: those that there are, or points between the smallest and the largest."""
    distinct = sorted(set(values))
    if len(distinct) <= FEW:
        return distinct, 0
    points = np.linspace(float(distinct[0]), float(distinct[-1]), POINTS)
    if all(float(value).is_integer() for value in distinct):
        points = np.unique(np.round(points))
    return [type(distinct[0])(point) for point in points], 0


def _categories(values: Sequence[Any], counted: Mapping[str, int]) -> tuple[list[Any], int]:
    """The levels of a category, those with the most measured runs where there are too many."""
    distinct = sorted(dict.fromkeys(values), key=lambda value: -counted.get(shown(value), 0))
    return distinct[:LEVELS], max(0, len(distinct) - LEVELS)


def _get(x: Any, columns: Sequence[str], column: str) -> Any:
    """A factor of an object: the field of a record, or the entry of a vector that has one for each column."""
    if isinstance(x, Mapping):
        return x.get(column)
    if hasattr(x, "__len__") and not isinstance(x, str) and len(x) == len(columns):
        value = x[columns.index(column)]
        return value.item() if hasattr(value, "item") else value
    return None


def _placing(table: Sequence[Any], columns: Sequence[str], column: str) -> Callable[[Any, Any], Any]:
    """How an object gets another level; parts of a mixture, whose sum is the same everywhere, make room for it."""
    numeric = [c for c in columns if isinstance(_get(table[0], columns, c), float)]
    sums = [sum(_get(x, columns, c) for c in numeric) for x in table[:SPREAD]] if len(numeric) > 1 else []
    mixed = bool(sums) and column in numeric and float(np.ptp(sums)) <= 1e-6 * abs(sums[0])
    total, parts = (sums[0], [c for c in numeric if c != column]) if mixed else (0.0, [])

    def place(x: Any, level: Any) -> Any:
        changed = {column: level}
        rest = sum(_get(x, columns, c) for c in parts)
        for c in parts:
            share = _get(x, columns, c) / rest if rest else 1.0 / len(parts)
            changed[c] = share * (total - level)
        if isinstance(x, Mapping):
            return {**x, **changed}
        cells = [changed.get(c, _get(x, columns, c)) for c in columns]
        return np.array(cells, dtype=float) if isinstance(x, np.ndarray) else type(x)(cells)

    return place


# How it has gone, round by round.


@dataclass(frozen=True)
class RoundResult:
    """A round: its measured runs, the best of them, and the best until then; `better` where it was its doing."""

    label: str
    runs: int
    best: float
    best_so_far: float
    better: bool


def _labels(sheet: Sheet, names: Collection[str] = ()) -> list[str]:
    """The round of each measured row, in the order of the measurements; those before the first have none.

    Of several outcomes those rows count that have all of these, measured or known.
    """
    column = sheet.order if sheet.order is not None and sheet.order.strip().lower() == "round" else sheet.own.round
    needed = {*names} - sheet.given
    return [sheet.cell(column, place) for place in sheet.measured if needed <= sheet.results(place).keys()]


def reaching(problem: Problem) -> list[int]:
    """The measured rows that are as good as their value: not those which are only known to be worse than a limit."""
    sheet, worse = problem.sheet, "above" if problem.study.direction == "minimize" else "below"
    return [] if sheet is None else [i for i in sheet.measured if sheet.measurement(i).limit != worse]


def round_starts(problem: Problem, names: Collection[str] = ()) -> list[int]:
    """At which measurement of all these outcomes each round begins; none where there are no rounds."""
    if problem.sheet is None or len(set(labels := _labels(problem.sheet, names))) < 2:
        return []
    sizes = [len(list(group)) for _, group in groupby(labels)]
    return [0, *accumulate(sizes[:-1])]


def rounds(problem: Problem) -> list[RoundResult]:
    """The rounds of a table in their order; none where it has no such column, or one round alone."""
    starts, sheet = round_starts(problem), problem.sheet
    if not starts or sheet is None:
        return []
    pick = min if problem.study.direction == "minimize" else max
    labels, good, results = _labels(sheet), set(reaching(problem)), list[RoundResult]()
    for begin, end in zip(starts, [*starts[1:], len(labels)], strict=True):
        places = sheet.measured[begin:end]
        best = pick(sheet.values[i] for i in [i for i in places if i in good] or places)
        before = results[-1].best_so_far if results else None
        so_far = best if before is None else pick(best, before)
        results.append(RoundResult(labels[begin] or "before", end - begin, best, so_far, so_far != before))
    return results


def fruitless(results: list[RoundResult]) -> int:
    """How many rounds at the end brought nothing better.

    >>> fruitless([RoundResult("1", 4, 3.0, 3.0, True), RoundResult("2", 4, 2.0, 3.0, False)])
    1
    """
    return next((n for n, result in enumerate(reversed(results)) if result.better), 0)


class Chart(NamedTuple):
    """A picture and what it shows, or why there is none."""

    key: str
    heading: str
    text: str
    picture: Markup | None = None


def missing(key: str, heading: str, problem: Problem, least: int = FEWEST) -> Chart:
    verb = "is" if problem.measured == 1 else "are"
    return Chart(
        key,
        heading,
        f"This picture needs at least {count(least, 'measured object')}; there {verb} {problem.measured}.",
    )


def progress(problem: Problem, suggestions: Sequence[Suggestion], name: str) -> Chart:
    """The values in their order, round by round."""
    if not problem.measured:
        return missing("progress", "How has it gone so far?", problem, 1)
    order = None if problem.sheet is None else problem.sheet.order
    when = f"column {order}" if order else "the table"
    starts = round_starts(problem)
    text = f"Measured values in the order of {when}, the best so far, and what is expected of the suggestions."
    text += " Broken lines part the rounds." if len(starts) > 1 else ""
    figure = figures.progress(course(problem.study, starts), expectations(suggestions), name)
    return Chart("progress", "How has it gone so far?", text, inline(figure, "progress", text))


def alike(problem: Problem, suggestions: Sequence[Suggestion], name: str, names: Names) -> Chart:
    """The map."""
    column = "" if problem.sheet is None else problem.sheet.roles.objects[0]
    mapped = object_map(problem.study, suggestions, similarities=None if problem.measured else problem.similarities)
    labels = [
        names.object(x, column, 120) + ("" if np.isnan(value) else f": {value:.4g}")
        for x, value in zip(mapped.objects, mapped.values.tolist(), strict=True)
    ]
    titles = {group: [labels[i] for i in places] for group, places in mapped.groups().items()}
    text = (
        "Objects that are alike lie close together; the axes have no other meaning, and two dimensions show "
        f"{percent(mapped.share)} of the similarity. Point at an object to read its name."
    )
    figure = figures.object_map(mapped, name, minimize=problem.study.direction == "minimize")
    return Chart("map", "Which objects are alike?", text, inline(figure, "map", text, titles))


def predictions(left_out: LeftOut | None, problem: Problem, name: str) -> Chart:
    """Each measured value and what the others predict for it."""
    if left_out is None:
        return missing("predictions", "How well are known runs predicted?", problem)
    text = (
        f"Each measured object, predicted from all the others. Typical error {left_out.error:.3g}; "
        f"predicting the mean of all would give {float(np.std(left_out.values)):.3g}."
    )
    figure = figures.predictions(left_out, name)
    return Chart("predictions", "How well are known runs predicted?", text, inline(figure, "predictions", text))


def calibration(left_out: LeftOut | None, problem: Problem) -> Chart:
    """Whether intervals hold as many values as they should."""
    if left_out is None:
        return missing("calibration", "Are the intervals honest?", problem)
    inside = 100 * float(np.mean(left_out.inside()))
    text = (
        f"Of honest 95 % intervals, 95 % hold their value; here {inside:.0f} % do. A line below the band means that "
        "predictions are too sure of themselves, above it that they are too careful."
    )
    return Chart(
        "calibration", "Are the intervals honest?", text, inline(figures.calibration(left_out), "calibration", text)
    )


def factors(effects: Sequence[Effect], name: str, prefix: str = "factor-") -> list[Chart]:
    """What is expected of each level of each factor, on one scale, so that factors can be compared.

    `prefix` begins the ids in the pictures, which are to be those of one outcome.
    """
    if not effects:
        return []
    low, high = min(float(e.low.min()) for e in effects), max(float(e.high.max()) for e in effects)
    slack = 0.04 * (high - low)
    return [_factor(effect, name, (low - slack, high + slack), prefix) for effect in effects]


def _factor(effect: Effect, name: str, limits: tuple[float, float], prefix: str) -> Chart:
    expected, key = Expectations(effect.mean, effect.low, effect.high), prefix + re.sub(r"\W", "-", effect.column)
    text = f"{effect.heading} alone accounts for {percent(effect.share)} of the predicted differences in {name}."
    if effect.numeric:
        figure = figures.curve(effect.levels, expected, effect.heading, name, limits)
    else:
        figure = figures.levels(effect.labels, expected, name, limits)
    return Chart(key, effect.heading, text, inline(figure, key, text))
