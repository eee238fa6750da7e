"""Why something is suggested, what is still to be gained, and whether the similarities explain the values, in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf
from typing import Any, NamedTuple

import numpy as np

from likewise.campaign.objects import to_cells
from likewise.campaign.problem import Problem
from likewise.campaign.sheet import Sheet
from likewise.campaign.text import count, difference, percent, rounded, shown
from likewise.model.diagnosis import CLEAR_CORRELATION, CLEAR_SHARE, ENOUGH, Diagnosis
from likewise.study.explanation import Gain
from likewise.study.goals import Limits
from likewise.study.methods.committee import INITIAL
from likewise.study.trial import Analogue, Suggestion

# Names for what is hard to read: people see those of a column of names that stands beside one of structures.

STRUCTURE = frozenset(("smiles", "smi", "smile", "inchi", "structure", "cxsmiles", "selfies"))
NAME = frozenset(("name", "names", "label"))
# Rows beyond which names are not looked for: a million would take longer than the suggestions.
MOST_ROWS = 100_000
OWN = frozenset(("compound", "molecule", "substance", "chemical"))


@dataclass(frozen=True)
class Names:
    """The columns of an object as people read them.

    headings: by column what stands above it: the name's column where there is one.
    known: by column the name of each cell.
    """

    headings: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def heading(self, column: str) -> str:
        """What stands above a column."""
        return self.headings.get(column, column)

    def of(self, column: str, value: Any) -> str:
        """A value of a column as people read it."""
        text = shown(value)
        return self.known.get(column, {}).get(text, text)

    def object(self, x: Any, column: str = "", width: int | None = None) -> str:
        """A whole object as people read it; `column` is that of an object which is no record."""
        if isinstance(x, Mapping):
            text = ", ".join(f"{self.heading(name)} {self.of(name, value)}" for name, value in x.items())
        else:
            named, plain = self.of(column, x), shown(x)
            text = plain if named == plain else f"{named} ({plain})"
        return text if width is None or len(text) <= width else f"{text[: width - 1]}…"


def names_of(sheet: Sheet | None) -> Names:
    """The names that a table has for its objects."""
    if sheet is None or len(sheet.table) > MOST_ROWS:
        return Names()
    roles = sheet.roles
    free = [c for c in sheet.table.columns if c not in roles.taken and c not in sheet.own]
    headings: dict[str, str] = {}
    by_column: dict[str, dict[str, str]] = {}
    for column in roles.objects:
        for other in (c for c in free if names(c, column)):
            if (pairs := _pairs(sheet, column, other)) is not None:
                headings[column], by_column[column] = other, pairs
                break
    return Names(headings, by_column)


def names(other: str, column: str) -> bool:
    """Whether the title of a column says that it holds names for the objects of another.

    >>> names("Ligand", "Ligand_SMILES"), names("name", "smiles"), names("Ligand", "Base_SMILES"), names("cost", "base")
    (True, True, False, False)
    """
    theirs, words = _words(other), _words(column)
    if theirs & STRUCTURE or not (words & STRUCTURE or theirs & NAME):
        return False
    bare = theirs - NAME
    return bare == words - STRUCTURE or (words <= STRUCTURE and bare <= OWN and bool(theirs))


def _words(title: str) -> frozenset[str]:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", title)
    return frozenset(word.lower() for word in re.split(r"[\W_]+", apart) if word)


def _pairs(sheet: Sheet, column: str, other: str) -> dict[str, str] | None:
    """The name of each cell, where each has one and no two have the same."""
    cells = sheet.table.frame.select(column, other).drop_nulls().unique(maintain_order=True)
    pairs = {str(cell).strip(): str(name).strip() for cell, name in cells.iter_rows() if str(name).strip()}
    single = len(pairs) == len(cells) == len(set(pairs.values()))
    return pairs if pairs and single else None


def headings_of(names: Names, columns: Sequence[str]) -> list[str]:
    """What stands above the cells of `named_cells`."""
    return [names.heading(c) for c in columns] if len(columns) > 1 else [*names.headings.values(), *columns]


def named_cells(names: Names, columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    """The cells as people read them: the fields of a record by their names, a single object with its name before it."""
    named = [names.of(column, cell) for column, cell in zip(columns, cells, strict=True)]
    return named if len(columns) > 1 or not names.headings else [*named, *cells]


def columns_of(problem: Problem, chosen: Sequence[str] = ()) -> list[str]:
    """The columns in which an object is written."""
    if problem.sheet is not None:
        return list(problem.sheet.roles.objects)
    return list(chosen) or list(problem.study.space.parts) or ["object"]


def cells_of(problem: Problem, x: Any, columns: Sequence[str]) -> list[str]:
    """The object as cells: those of its row where it is a row of the table."""
    sheet, place = problem.sheet, problem.place(x)
    if sheet is not None and place is not None and problem.pool is not None:
        return [sheet.cell(column, place) for column in columns]
    return to_cells(problem.study.space, x, columns, "." if sheet is None else sheet.decimal)


# Why something is suggested: which results speak for it, and which against.

BECAUSE = 3


class Reason(NamedTuple):
    """A result that speaks for a suggestion, or against it.

    like: whether the suggestion is expected to be as this result is, and not the other way round.
    high: whether the value is above the mean of all, or above the limit.
    """

    analogue: Analogue
    speaks_for: bool
    like: bool
    high: bool


@dataclass(frozen=True)
class Scale:
    """What the results of an outcome are held against: the mean of all, and which direction is good; or its limits."""

    typical: float = 0.0
    sign: float = 1.0
    limits: Limits | None = None

    def gain(self, value: float) -> float:
        """How much better a value is than the mean of all, or how far within the limits; negative if it is worse.

        >>> Scale(40.0, -1.0).gain(55.0), Scale(limits=Limits(-float("inf"), 2.0)).gain(0.5)
        (-15.0, 1.5)
        """
        if self.limits is None:
            return self.sign * (value - self.typical)
        return min(value - self.limits.low, self.limits.high - value)

    def is_high(self, value: float) -> bool:
        """Whether a value is above the mean of all, or above the limit."""
        if self.limits is None:
            return value > self.typical
        return value > (self.limits.low if isinf(self.limits.high) else self.limits.high)


@dataclass(frozen=True)
class Reasons:
    """Results in words: for or against a suggestion.

    scales: what results are held against, by outcome; under the empty name where there is one outcome without a name.
    names: what things are called.
    column: of an object that is no record.
    """

    scales: Mapping[str, Scale] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    column: str = ""

    @classmethod
    def of(cls, problem: Problem) -> Reasons:
        """Those of a table."""
        sheet, goals = problem.sheet, problem.study.goals
        if sheet is None:
            return cls()
        scales = {}
        for outcome in goals.named_outcomes if goals.named else ("",):
            column = outcome or sheet.roles.value
            values = [sheet.results(i)[column] for i in sheet.measured if column in sheet.results(i)]
            limits = None if not outcome or outcome in goals.objectives else goals.constraints.get(outcome)
            sign = goals.sign(outcome or next(iter(goals.objectives)))
            scales[outcome] = Scale(float(np.mean(values)) if values else 0.0, sign, limits)
        return cls(scales, names_of(sheet), sheet.roles.objects[0])

    def moved(self, analogue: Analogue, outcome: str = "") -> float:
        """By how much a result makes a prediction better, or worse: its weight times what its value has over others."""
        return analogue.influence * self.scales.get(outcome, Scale()).gain(analogue.value)

    def side(self, analogue: Analogue, outcome: str = "") -> str:
        """Whether a result speaks for a suggestion or against it, in a word."""
        return "for" if self.moved(analogue, outcome) >= 0 else "against"

    def listed(self, suggestion: Suggestion, outcome: str = "", most: int = BECAUSE) -> list[Reason]:
        """The strongest reasons: what speaks for it first, then what speaks against it, each by its strength.

        Results of objects that the suggestion is unlike, with negative weights, are named only where there are no
        others.
        """
        analogues = suggestion.analogues[outcome] if isinstance(suggestion.analogues, Mapping) else suggestion.analogues
        analogues = tuple(a for a in analogues if a.influence >= 0) or analogues
        scale, moved = self.scales.get(outcome, Scale()), [(self.moved(a, outcome), a) for a in analogues]
        strongest = sorted(moved, key=lambda pair: -abs(pair[0]))[:most]
        ordered = sorted(strongest, key=lambda pair: (pair[0] < 0, -abs(pair[0])))
        return [Reason(a, by >= 0, a.influence >= 0, scale.is_high(a.value)) for by, a in ordered]

    def texts(self, suggestion: Suggestion, outcome: str = "") -> tuple[str, str]:
        """What speaks for a suggestion, and what against it, in words."""
        listed = self.listed(suggestion, outcome)
        sides = ([self._worded(r, suggestion) for r in listed if r.speaks_for is side] for side in (True, False))
        speaking, against = ("; ".join(texts) for texts in sides)
        return speaking, against

    def text(self, suggestion: Suggestion, outcome: str = "") -> str:
        """The reasons in words, with several outcomes those of each.

        >>> near, far = Analogue("CCO", 90.0, 0.5), Analogue("CCN", 6.0, 0.4)
        >>> print(Reasons({"": Scale(40.0)}).text(Suggestion(0, "CCC", 60.0, analogues=(far, near))))
        90 of CCO; against it: low 6 of CCN
        >>> goals = Reasons({"yield": Scale(40.0), "cost": Scale(20.0, -1.0)})
        >>> print(goals.text(Suggestion(0, "CCC", None, analogues={"yield": (near, far), "cost": (near,)})))
        yield: 90 of CCO; against it: low 6 of CCN. cost: against it: high 90 of CCO
        """
        if isinstance(suggestion.analogues, Mapping) and not outcome:
            texts = {name: self.text(suggestion, name) for name in suggestion.analogues}
            return ". ".join(f"{name}: {text}" for name, text in texts.items() if text)
        speaking, against = self.texts(suggestion, outcome)
        return "; ".join([*([speaking] if speaking else []), *([f"against it: {against}"] if against else [])])

    def _worded(self, reason: Reason, suggestion: Suggestion) -> str:
        value, what = reason.analogue.measured, self.beside(reason.analogue, suggestion)
        level = "" if reason.speaks_for and reason.like else "high " if reason.high else "low "
        return f"{level}{value} {what}{'' if reason.like else ', which is unlike it'}"

    def beside(self, analogue: Analogue, suggestion: Suggestion) -> str:
        """A measured object as text; of a record only the parts that differ."""
        fields = difference(analogue.object, suggestion.object)
        if fields is None:
            return f"of {self.names.object(analogue.object, self.column)}"
        return f"with {self.names.object(fields)}"


# What is still to be gained, in words.

# Less than this, and one may as well stop.
SLIGHT = 0.05
NOTHING_LEFT = "Every candidate has a value or is under way: there is nothing left to suggest."
NOTHING_FITS = "No candidate fits what is asked of the batch, so nothing is suggested."
ORDER = (
    "Each is chosen in view of those above it, as the one that promises most beside them. So a later one may have the "
    "higher expectation."
)


def prospect(gain: Gain | None, value: str, *, minimize: bool = False) -> str:
    """What the next round promises, and whether that is little; an empty text while nothing can be said.

    >>> print(prospect(Gain(4.13, 0.45, 1), "yield"))
    Still to be gained: about 4.1 more yield on average by this one; chance of 45 % that it beats the best so far.
    """
    if gain is None or gain.expected is None or gain.n == 0:
        return ""
    these, pronoun = ("this one", "it") if gain.n == 1 else (f"these {gain.n}", "one of them")
    about = (
        f"about {rounded(gain.expected, gain.expected)} {'less' if minimize else 'more'} {value} on average by {these}"
    )
    chance = "" if gain.chance is None else f"; chance of {percent(gain.chance)} that {pronoun} beats the best so far"
    little = " That is little: it may be time to stop." if gain.chance is not None and gain.chance < SLIGHT else ""
    return f"Still to be gained: {about}{chance}.{little}"


def front_prospect(gain: Gain | None, *, entering: bool) -> str:
    """What the best of the suggestions promises where there are several outcomes.

    >>> front_prospect(Gain(0.03, 0.45, 4), entering=True)
    'Still to be gained: chance of 45 % that the most promising one enters the front.'
    """
    if gain is None or gain.chance is None or gain.n == 0:
        return ""
    what = "enters the front" if entering else "beats the best so far within the limits"
    little = " That is little: it may be time to stop." if gain.chance < SLIGHT else ""
    return f"Still to be gained: chance of {percent(gain.chance)} that the most promising one {what}.{little}"


def nothing_to_suggest(problem: Problem) -> str:
    """Why there is no suggestion: no candidate is left, or none keeps to what a batch has to."""
    sheet, key = problem.sheet, problem.study.space.key
    if sheet is None or problem.pool is None:
        return NOTHING_LEFT
    measured = {key(trial.object) for trial in problem.study.trials}
    free = any(key(sheet.objects[i]) not in measured for i in sheet.candidates)
    return NOTHING_FITS if free else NOTHING_LEFT


# Whether the similarities explain the values, in the words of the study's own diagnosis.

FEWEST = 3


@dataclass(frozen=True)
class Judgement:
    """A plain sentence or two, whether they are good news, and what they come from, if that is enough to judge by."""

    verdict: str
    good: bool
    diagnosis: Diagnosis | None


def judge(problem: Problem) -> Judgement | None:
    """The verdict of the study, or that its suggestions explore; none while nothing is measured."""
    if problem.study.goals.named:
        return _each_outcome(problem)
    diagnosis = problem.study.diagnose(each=False) if problem.known >= FEWEST else None
    if problem.measured < INITIAL or problem.level:
        return _exploring(problem, diagnosis) if problem.measured else None
    if diagnosis is None:
        return Judgement(
            f"{count(problem.known, 'value')} beside limits cannot tell how good predictions are.", False, None
        )
    text = "; ".join([diagnosis.verdict, *diagnosis.notes])
    return Judgement(f"{text[0].upper()}{text[1:]}.", _good(diagnosis), diagnosis)


def _each_outcome(problem: Problem) -> Judgement | None:
    """The verdicts of several outcomes, one after the other; the diagnosis is that of the first."""
    if not problem.measured:
        return None
    # The model chooses once one of the objectives has values enough.
    if (most := max(map(problem.measured_of, problem.study.goals.measured))) < INITIAL:
        return _explored(most, " of an objective")
    names = problem.study.goals.named_outcomes
    enough = [name for name in names if problem.known_of(name) >= FEWEST]
    diagnoses = {name: problem.study.diagnose(each=False, outcome=name) for name in enough}
    texts = [f"{name}: {_verdict(problem, name, diagnoses.get(name))}." for name in names]
    good = len(diagnoses) == len(names) and all(map(_good, diagnoses.values()))
    return Judgement(" ".join(texts), good, next(iter(diagnoses.values()), None))


def _verdict(problem: Problem, name: str, diagnosis: Diagnosis | None) -> str:
    if diagnosis is not None:
        return "; ".join([diagnosis.verdict, *diagnosis.notes])
    exact, limits = problem.known_of(name), problem.measured_of(name) - problem.known_of(name)
    beside = " beside limits" if limits else ""
    return f"{count(exact, 'value')}{beside} cannot tell how good predictions are"


def _exploring(problem: Problem, diagnosis: Diagnosis | None) -> Judgement:
    """That no model speaks for the suggestions yet, and from when on one will."""
    if problem.level and problem.measured > 1:
        text = (
            f"All {problem.measured} values are the same, so nothing tells good candidates from bad ones yet: the "
            "suggestions explore."
        )
        return Judgement(text, False, diagnosis)
    return _explored(problem.measured, diagnosis=diagnosis)


def _explored(values: int, of: str = "", diagnosis: Diagnosis | None = None) -> Judgement:
    text = (
        f"With {count(values, 'measured value')}{of} the suggestions explore: they are unlike the measured "
        f"objects and unlike each other. From {INITIAL} values on, the model chooses."
    )
    return Judgement(text, False, diagnosis)


def _good(diagnosis: Diagnosis) -> bool:
    fit = diagnosis.committee
    clear = fit.explained >= CLEAR_SHARE or fit.spearman >= CLEAR_CORRELATION
    return diagnosis.observations >= ENOUGH and clear and not math.isnan(fit.explained) and not diagnosis.notes
