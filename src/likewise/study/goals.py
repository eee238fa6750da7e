"""What a study is after: outcomes to be optimised or kept within limits, and what is preferred among several."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any, Literal, get_args

import numpy as np

from likewise.acquisition.acquisitions import Acquisition
from likewise.errors import StudyError
from likewise.model.spectrum import Spectrum
from likewise.search.base import Search
from likewise.search.batch import Strategy
from likewise.similarity.base import Vector
from likewise.spaces.base import Space
from likewise.study.storage.base import Storage
from likewise.study.trial import VALUE, Outcome

# What a user gives to a study or a run, refused before anything begins.


def at_least_one(name: str, number: Any) -> None:
    """A complaint about what is no whole number from 1.

    >>> at_least_one("budget", 60)
    """
    try:
        good = index(number) >= 1 and not isinstance(number, bool)
    except TypeError:
        good = False
    if not good:
        raise StudyError(f"{name} must be at least 1 and whole, not {number!r}")


def positive(name: str, number: Any) -> None:
    """A complaint about what is no positive number.

    >>> positive("timeout", 2.5)
    """
    try:
        good = float(number) > 0 and not isinstance(number, str | bool)
    except (TypeError, ValueError):
        good = False
    if not good:
        raise StudyError(f"{name} must be positive, not {number!r}")


def number(name: str, given: Any) -> None:
    """A complaint about what is no number, or NaN.

    >>> number("target", -3)
    """
    if not isinstance(given, int | float | np.number) or isinstance(given, bool) or np.isnan(given):
        raise StudyError(f"{name} must be a number, not {given!r}")


def truth(name: str, given: Any) -> None:
    """A complaint about what is neither True nor False.

    >>> truth("progress", False)
    """
    if not isinstance(given, bool | np.bool_):
        raise StudyError(f"{name} must be True or False, not {given!r}")


def check_parts(acquisition: Any, strategy: Any, search: Any) -> None:
    """A complaint about parts of a study that are of another kind."""
    for name, named, kind, such in (
        ("acquisition", acquisition, Acquisition, "LogExpectedImprovement()"),
        ("strategy", strategy, Strategy, "TwoStage(), and how many in ask(8)"),
        ("search", search, Search, "None for the one that suits the space"),
    ):
        if named is not None:
            check_part(name, named, kind, such)


def check_part(name: str, given: Any, kind: type, such: str) -> None:
    """A complaint about what is no part of this kind, or a class of such parts in place of one.

    >>> check_part("acquisition", "ei", Acquisition, "LogExpectedImprovement()")
    Traceback (most recent call last):
    ...
    likewise.errors.StudyError: acquisition='ei' is no Acquisition; give LogExpectedImprovement()
    """
    if isinstance(given, type) and issubclass(given, kind):
        raise StudyError(f"{name}={given.__name__} is a class, not one of its objects; write {given.__name__}()")
    if not isinstance(given, kind):
        raise StudyError(f"{name}={given!r} is no {kind.__name__}; give {such}")


def check_spectra(spectra: Sequence[Any]) -> None:
    """A complaint about treatments of negative eigenvalues that do not exist, or about none.

    >>> check_spectra(["clipp"])
    Traceback (most recent call last):
    ...
    likewise.errors.StudyError: spectrum='clipp' is no treatment; give 'krein', 'as_is', 'clip' or 'flip'
    """
    *first, last = map(repr, get_args(Spectrum))
    names = f"{', '.join(first)} or {last}"
    if not spectra:
        raise StudyError(f"an empty list of spectra leaves no model; give {names}")
    for spectrum in spectra:
        if spectrum not in get_args(Spectrum):
            raise StudyError(f"spectrum={spectrum!r} is no treatment; give {names}")


def check_setting(space: Any, seed: Any, lease: Any, storage: Any) -> None:
    """A complaint about what a study cannot be made with."""
    if isinstance(space, type) and issubclass(space, Space):
        raise StudyError(f"{space.__name__} is a class of spaces, not one of them; write {space.__name__}(…)")
    if not isinstance(space, Space):
        raise StudyError(f"a study needs a space such as Pool, Box or Strings, not {space!r}")
    is_integer = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if seed is not None and not (is_integer and seed >= 0):
        raise StudyError(f"a seed is a whole number from 0, or None to draw one, not {seed!r}")
    if not isinstance(storage, str | Storage | None):
        raise StudyError(f"storage={storage!r} is no storage; give a URL such as 'sqlite:///study.db', or None")
    if lease is not None:
        positive("lease", lease)


# What a study is after: outcomes to be optimised, and outcomes to be kept within limits.

Direction = Literal["maximize", "minimize"]
Bounds = tuple[float | None, float | None]
Ends = tuple[float, float]
# What lies below a limit may be as low as can be, what lies above it as high.
OPEN = ((-math.inf, "below"), (math.inf, "above"))
DIRECTIONS = ("maximize", "minimize")


@dataclass(frozen=True)
class Limits:
    """Between which values an outcome has to lie; infinite where there is no limit."""

    low: float
    high: float

    def holds(self, measured: Outcome) -> bool:
        """Whether a measured value keeps to the limits; one that is only a limit itself, whatever it is.

        >>> AtMost(2.0).holds(Outcome(2.0)), AtMost(2.0).holds(Outcome(0.1, limit="above"))
        (True, False)
        """
        low, high = (side if measured.limit == name else measured.value for side, name in OPEN)
        return self.low <= low and high <= self.high

    def signed(self, sign: float) -> tuple[float, float]:
        """The limits of the values times a sign."""
        return (self.low, self.high) if sign > 0 else (-self.high, -self.low)

    def describe(self) -> list[float | None]:
        """As plain JSON."""
        return [None if math.isinf(end) else end for end in (self.low, self.high)]


def AtMost(high: float) -> Limits:
    """The constraint that an outcome is not above a value.

    high: the largest value that is allowed.

    >>> AtMost(2.0)
    Limits(low=-inf, high=2.0)
    """
    return Limits(-math.inf, _finite("AtMost", high))


def AtLeast(low: float) -> Limits:
    """The constraint that an outcome is not below a value.

    low: the smallest value that is allowed.
    """
    return Limits(_finite("AtLeast", low), math.inf)


def Between(low: float, high: float) -> Limits:
    """The constraint that an outcome lies between two values.

    low, high: the smallest and the largest value that are allowed.
    """
    limits = Limits(_finite("Between", low), _finite("Between", high))
    if not limits.low < limits.high:
        raise StudyError(f"Between({low!r}, {high!r}) leaves no room; give the lower value first")
    return limits


@dataclass(frozen=True, eq=False)
class Computed:
    """An objective that needs no measurement: a price, a weight, a number of steps.

    of: a function of an object, the name of a field of the objects (`"price"`), or a mapping from objects to numbers.
    direction: "minimize" (default) or "maximize".

    >>> Computed("price").values([{"price": 3.5}, {"price": 2.0}]).tolist()
    [3.5, 2.0]
    """

    of: Callable[[Any], float] | str | Mapping[Any, float]
    direction: Direction = "minimize"

    def __post_init__(self) -> None:
        _check_direction("Computed", self.direction)
        if not (callable(self.of) or isinstance(self.of, str | Mapping)):
            raise StudyError(f"Computed({self.of!r}) is no function, no name of a field and no mapping; give one")

    def values(self, objects: Sequence[Any]) -> Vector:
        """The value of each object, refused where it is no finite number."""
        return np.array([self._value(x) for x in objects], dtype=float)

    def _value(self, x: Any) -> float:
        try:
            value = self.of(x) if callable(self.of) else x[self.of] if isinstance(self.of, str) else self.of[x]
            number = float(value)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise StudyError(f"{self._name} of {x!r} cannot be computed: {type(error).__name__} {error}") from error
        if not math.isfinite(number):
            raise StudyError(f"{self._name} of {x!r} is {number}; it must be a finite number for every object")
        return number

    @property
    def _name(self) -> str:
        return repr(self.of) if isinstance(self.of, str) else "the computed value"


@dataclass(frozen=True, eq=False)
class Costs:
    """What each object costs at one ask. Every ask has its own, as prices change, so that none is remembered longer."""

    cost: Computed

    def __call__(self, objects: Sequence[Any]) -> Vector:
        """What each object costs, refused where it is nothing or less."""
        costs = self.cost.values(objects)
        if (wrong := np.flatnonzero(costs <= 0)).size:
            i = int(wrong[0])
            raise StudyError(f"the cost of {objects[i]!r} is {costs[i]:g}; a cost must be positive")
        return costs


@dataclass(frozen=True, eq=False)
class Price:
    """What each object costs, and how much may be spent on all objects that are proposed together."""

    costs: Costs
    budget: float

    @classmethod
    def of(cls, cost: Any, budget: Any) -> Price | None:
        """The price from what a user gives as `cost` and `budget`, which go together."""
        if cost is None and budget is None:
            return None
        if cost is None:
            raise StudyError(f"budget={budget!r} needs cost=…: a function of an object, a field's name or a mapping")
        computed = cost if isinstance(cost, Computed) else Computed(cost)
        spend = math.inf if budget is None else _finite("budget", budget)
        if not spend > 0:
            raise StudyError(f"budget={budget!r} buys nothing; give a positive number")
        return cls(Costs(computed), spend)


@dataclass(frozen=True, eq=False)
class Goals:
    """The objectives by name with their directions, the constraints by name, and what is worst still of interest.

    `computed` are those objectives that are not measured. `reference` holds values of objectives: what is worse in one
    of them adds nothing. `bounds` are those between which all values of an outcome lie, infinite where there is no end.
    A study of one objective without a name has the outcome "value".
    """

    objectives: Mapping[str, Direction] = field(default_factory=lambda: {VALUE: "maximize"})
    constraints: Mapping[str, Limits] = field(default_factory=dict)
    computed: Mapping[str, Computed] = field(default_factory=dict)
    reference: Mapping[str, float] = field(default_factory=dict)
    named: bool = False
    bounds: Mapping[str, Ends] = field(default_factory=dict)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The names of what is measured, in an order of their own, so that another order of goals changes nothing."""
        return tuple(sorted({*self.objectives, *self.constraints} - self.computed.keys()))

    @property
    def named_outcomes(self) -> tuple[str, ...]:
        """The names of what is measured, in the order in which they were given."""
        return tuple(dict.fromkeys(name for name in (*self.objectives, *self.constraints) if name not in self.computed))

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of the objectives that are measured."""
        return tuple(name for name in self.outcomes if name in self.objectives)

    @property
    def objective(self) -> str | None:
        """The name of the one objective; None where there are several."""
        return next(iter(self.objectives)) if len(self.objectives) == 1 else None

    @property
    def single(self) -> bool:
        """Whether there is one objective and nothing else."""
        return self.outcomes == tuple(self.objectives) and len(self.objectives) == 1

    def sign(self, name: str) -> float:
        """What the values of an outcome are multiplied by, so that larger ones are better."""
        if name in self.objectives:
            return 1.0 if self.objectives[name] == "maximize" else -1.0
        return -1.0 if math.isinf(self.constraints[name].low) else 1.0

    def ends(self, name: str) -> Ends:
        """Between which of the values of an outcome, times its sign, all lie."""
        return Limits(*self.bounds.get(name, (-math.inf, math.inf))).signed(self.sign(name))

    def describe_bounds(self) -> dict[str, Any]:
        """What a study notes of its bounds, as plain JSON: nothing where it has none."""
        plain = {name: Limits(*ends).describe() for name, ends in self.bounds.items()}
        return {} if not plain else {"bounds": plain if self.named else plain[VALUE]}

    def feasible(self, measured: Mapping[str, Outcome]) -> bool:
        """Whether measured outcomes keep to every constraint; one that is not measured is not kept."""
        return all(name in measured and limits.holds(measured[name]) for name, limits in self.constraints.items())

    def worse(self, name: str) -> str:
        """The side of a limit on which the better values of an objective are not: "below" where it is maximised."""
        return "below" if self.sign(name) > 0 else "above"

    def describe(self) -> dict[str, Any]:
        """What a storage keeps of it, as plain JSON; other goals are another study."""
        description: dict[str, Any] = {"objectives": dict(self.objectives)}
        if self.constraints:
            description["constraints"] = {name: limits.describe() for name, limits in self.constraints.items()}
        if self.computed:
            description["computed"] = sorted(self.computed)
        return description


def goal_options(described: Mapping[str, Any], given: Collection[str] = ()) -> dict[str, Any]:
    """The options of a study whose goals were so described, but for those that are given anew.

    A StudyError where an objective is computed, as nobody knows how.

    >>> goal_options({"objectives": {"value": "minimize"}}), goal_options(Goals({"yield": "maximize"}).describe())
    ({'direction': 'minimize'}, {'objectives': {'yield': 'maximize'}})
    """
    constraints = {
        name: Limits(-math.inf if low is None else low, math.inf if high is None else high)
        for name, (low, high) in described.get("constraints", {}).items()
    }
    options: dict[str, Any] = {"constraints": constraints} if constraints else {}
    objectives = dict(described["objectives"])
    if "objectives" in given or "direction" in given:
        return options
    if computed := described.get("computed"):
        raise StudyError(f"how {_listed(computed)} is computed is not stored; give objectives=… as before")
    if list(objectives) == [VALUE] and not constraints:
        return {"direction": objectives[VALUE]}
    return {"objectives": objectives, **options}


def goals(
    direction: Any, objectives: Any = None, constraints: Any = None, reference: Any = None, bounds: Any = None
) -> Goals:
    """The goals of a study from what a user gives, refused where they contradict one another.

    >>> goals("minimize").objectives
    {'value': 'minimize'}
    >>> goals(None, {"yield": "maximize"}, {"impurity": AtMost(2.0)}).outcomes
    ('impurity', 'yield')
    """
    if objectives is None:
        if constraints or reference:
            raise StudyError(
                "constraints and a reference are for named objectives; give objectives={'yield': 'maximize'}, say"
            )
        direction = "maximize" if direction is None else direction
        _check_direction("a study", direction)
        return _bounded(Goals({VALUE: direction}), bounds)
    if direction is not None:
        raise StudyError(f"give direction={direction!r} or objectives={objectives!r}, not both")
    goals_ = Goals(*_objectives(objectives, constraints), reference=_reference(reference, objectives), named=True)
    _check_contradictions(goals_)
    return _bounded(goals_, bounds)


def check_bounds(given: Any) -> Ends | None:
    """The bounds as numbers, infinite where there is none.

    >>> check_bounds((0, None))
    (0.0, inf)
    """
    if given is None:
        return None
    try:
        low, high = given
        ends = float("-inf") if low is None else float(low), float("inf") if high is None else float(high)
    except (TypeError, ValueError):
        raise StudyError(f"bounds={given!r} are no two numbers; give (0, 100), or (0, None) without an end") from None
    if not ends[0] < ends[1]:
        raise StudyError(f"bounds={given!r} leave no room; give the lower one first, as in (0, 100)")
    return ends


def _bounded(wanted: Goals, bounds: Any) -> Goals:
    """The goals with the bounds that a user gives: two numbers for the one outcome, or a mapping by name."""
    if bounds is None:
        return wanted
    if not isinstance(bounds, Mapping):
        if wanted.named and len(wanted.outcomes) > 1:
            raise StudyError(f"bounds={bounds!r} are of which outcome? Give {{{wanted.outcomes[0]!r}: {bounds!r}}}")
        bounds = {wanted.outcomes[0]: bounds}
    for name in bounds:
        if name not in wanted.outcomes:
            raise StudyError(
                f"bounds name {name!r}, which is not measured; the outcomes are {_listed(wanted.outcomes)}"
            )
    checked = {name: ends for name, pair in bounds.items() if (ends := check_bounds(pair)) is not None}
    return replace(wanted, bounds=checked)


def _objectives(
    objectives: Any, constraints: Any
) -> tuple[dict[str, Direction], dict[str, Limits], dict[str, Computed]]:
    if not isinstance(objectives, Mapping) or not objectives:
        raise StudyError(f"objectives={objectives!r} name nothing; give {{'yield': 'maximize', 'cost': 'minimize'}}")
    if constraints is not None and not isinstance(constraints, Mapping):
        raise StudyError(f"constraints={constraints!r} are no mapping; give {{'impurity': likewise.AtMost(2.0)}}")
    directions: dict[str, Direction] = {}
    computed: dict[str, Computed] = {}
    for name, aim in objectives.items():
        _check_name(name)
        if isinstance(aim, Computed):
            computed[name] = aim
        directions[name] = aim.direction if isinstance(aim, Computed) else aim
        _check_direction(f"objective {name!r}", directions[name])
    if len(computed) == len(directions):
        raise StudyError("every objective is computed, so there is nothing to measure; sort the objects by it instead")
    for name, limits in (constraints or {}).items():
        _check_name(name)
        if not isinstance(limits, Limits):
            raise StudyError(f"the constraint on {name!r} is {limits!r}; give AtMost(2.0), AtLeast(…) or Between(…, …)")
        if name in computed:
            raise StudyError(f"{name!r} is computed, so no constraint is needed: leave such objects out of the space")
    return directions, dict(constraints or {}), computed


def _reference(given: Any, objectives: Any) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise StudyError(f"reference={given!r} is no mapping; give {{'yield': 0.0, 'cost': 100.0}}")
    for name in given:
        if name not in objectives:
            raise StudyError(f"the reference names {name!r}, which is no objective; those are {_listed(objectives)}")
    return {name: _finite(f"the reference of {name!r}", value) for name, value in given.items()}


def _check_contradictions(found: Goals) -> None:
    for name, limits in found.constraints.items():
        aim = found.objectives.get(name)
        if (aim == "maximize" and math.isinf(limits.low)) or (aim == "minimize" and math.isinf(limits.high)):
            raise StudyError(
                f"{name!r} is to {aim}, but may not be {'above' if aim == 'maximize' else 'below'} "
                f"{limits.high if aim == 'maximize' else limits.low:g}; leave one of them out, or limit both sides"
            )


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name or not name.isprintable():
        raise StudyError(f"{name!r} is no name of an outcome; give a text such as 'yield'")


def _check_direction(what: str, direction: Any) -> None:
    if direction not in DIRECTIONS:
        whose = "a study's direction" if what == "a study" else f"the direction of {what}"
        raise StudyError(f"{whose} is 'maximize' or 'minimize', not {direction!r}")


def _finite(what: str, number: Any) -> float:
    try:
        value = float(number)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value) or isinstance(number, bool | str):
        raise StudyError(f"{what} needs a finite number, not {number!r}")
    return value


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names))


# What is best where there are several objectives: nobody knows but the user, who says it by a preference.

Values = Mapping[str, float]


class Preference(ABC):
    """What makes one number of the values of several objectives."""

    @abstractmethod
    def scores(self, values: Sequence[Values], directions: Mapping[str, str]) -> Vector:
        """How much each of these observations is preferred; larger is better."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The objectives that it speaks of."""


@dataclass(frozen=True)
class Weighted(Preference):
    """The weighted mean of the objectives, each scaled from 0, the worst measured, to 1, the best measured.

    weights: a positive number for each objective, by name; an objective without one does not count.

    >>> Weighted({"yield": 2.0, "cost": 1.0}).scores(
    ...     [{"yield": 80.0, "cost": 9.0}, {"yield": 50.0, "cost": 3.0}], {"yield": "maximize", "cost": "minimize"}
    ... ).round(3).tolist()
    [0.667, 0.333]
    """

    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise StudyError(f"Weighted({self.weights!r}) weighs nothing; give {{'yield': 2.0, 'cost': 1.0}}")
        for name, weight in self.weights.items():
            if not (_is_number(weight) and weight > 0):
                raise StudyError(f"the weight of {name!r} is {weight!r}; it must be a positive number")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.weights)

    def scores(self, values: Sequence[Values], directions: Mapping[str, str]) -> Vector:
        total = np.zeros(len(values))
        for name, weight in self.weights.items():
            column = np.array([value[name] for value in values])
            column = column if directions[name] == "maximize" else -column
            extent = float(np.ptp(column)) if len(column) else 0.0
            total += weight * (column - column.min(initial=np.inf)) / (extent or 1.0)
        return total / sum(self.weights.values())


@dataclass(frozen=True)
class Desirability(Preference):
    """The geometric mean of desirabilities, each from 0 at a value that is of no use to 1 at one that is good enough.

    ranges: (of no use, good enough) for each objective, by name: (50, 90) for a yield, (10, 2) for a cost.

    >>> Desirability({"yield": (50, 90), "cost": (10, 2)}).scores([{"yield": 70.0, "cost": 6.0}], {}).tolist()
    [0.5]
    """

    ranges: Mapping[str, tuple[float, float]]

    def __post_init__(self) -> None:
        if not isinstance(self.ranges, Mapping) or not self.ranges:
            raise StudyError(
                f"Desirability({self.ranges!r}) wants nothing; give {{'yield': (50, 90), 'cost': (10, 2)}}"
            )
        for name, ends in self.ranges.items():
            fine = isinstance(ends, Sequence) and len(ends) == 2 and all(map(_is_number, ends))
            if not fine or ends[0] == ends[1]:
                raise StudyError(f"the range of {name!r} is {ends!r}; give two numbers: (of no use, good enough)")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.ranges)

    def scores(self, values: Sequence[Values], directions: Mapping[str, str]) -> Vector:
        shares = [
            np.clip((np.array([value[name] for value in values]) - none) / (enough - none), 0.0, 1.0)
            for name, (none, enough) in self.ranges.items()
        ]
        return np.asarray(np.prod(shares, axis=0) ** (1.0 / len(shares)))


def check_preference(preference: Any, objectives: Mapping[str, str]) -> Preference | None:
    """The preference of a user, refused where it speaks of something else."""
    if preference is None:
        return None
    if not isinstance(preference, Preference):
        raise StudyError(f"preference={preference!r} is no preference; give Weighted({{…}}) or Desirability({{…}})")
    for name in preference.names:
        if name not in objectives:
            names = ", ".join(map(repr, objectives))
            raise StudyError(f"the preference speaks of {name!r}, which is no objective; those are {names}")
    return preference


def _is_number(number: Any) -> bool:
    return isinstance(number, int | float | np.number) and not isinstance(number, bool) and bool(np.isfinite(number))
