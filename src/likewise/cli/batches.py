"""What a batch must keep to, as it is typed: `--at-most 3:ligand`, `--fix base=KOAc`, `--where "cost < 20"`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.campaign.objects import content, from_cell
from likewise.campaign.problem import Problem, column_of
from likewise.campaign.sheet import Sheet
from likewise.errors import SpaceError, UsageError
from likewise.spaces.codec import read_item
from likewise.spaces.condition import Condition
from likewise.study.goals import Computed
from likewise.tables.cells import cell_text, numbers


@dataclass(frozen=True)
class Batch:
    """What is typed: parts that groups share, that have few values, or that are fixed, and a condition."""

    same: Sequence[str] = ()
    groups: int = 1
    at_most: Sequence[str] = ()
    fix: Sequence[str] = ()
    where: str | None = None
    cost: str | None = None
    budget: float | None = None

    @property
    def most(self) -> list[str]:
        """The parts that have few values."""
        return [name for name, _ in map(_most, self.at_most)]

    @property
    def fixed(self) -> list[str]:
        """The parts that have one value."""
        return [name for name, _ in map(_pair, self.fix)]

    def check_budget(self) -> None:
        """Refuse a budget of unknown costs."""
        if self.budget is not None and self.cost is None:
            raise UsageError(f"--budget {self.budget:g} needs --cost COLUMN, which says what each run costs.")

    def options(self, problem: Problem) -> dict[str, Any]:
        """The same for `Study.ask` of this problem."""
        return {
            "same": list(self.same),
            "groups": self.groups,
            "at_most": dict(map(_most, self.at_most)),
            "fix": {name: _value(problem, name, text) for name, text in map(_pair, self.fix)},
            "where": None if self.where is None else _condition(problem, self.where),
            **self._price(problem),
        }

    def _price(self, problem: Problem) -> dict[str, Any]:
        """The cost of each object, and the budget, where they are given."""
        self.check_budget()
        if self.cost is None:
            return {}
        return {"cost": _cost(problem, self.cost), "budget": self.budget}

    def spent(self, problem: Problem, objects: Sequence[Any]) -> float | None:
        """What these objects cost together; None where no cost is given."""
        if self.cost is None:
            return None
        return float(np.sum(Computed(_cost(problem, self.cost)).values(objects)))


def _cost(problem: Problem, name: str) -> str | Callable[[Any], float]:
    """What an object costs: one of its parts, or a column of the table."""
    sheet, parts = problem.sheet, list(problem.study.space.parts)
    fields = [*parts, *(sheet.roles.objects if sheet is not None and sheet.roles.record else ())]
    if name in fields:
        if sheet is not None and problem.pool is not None:
            _check_costs(sheet, name)
        return name
    if sheet is None or problem.pool is None:
        raise UsageError(f"--cost {name}: candidates come from a space without such a part; its parts are {fields}.")
    if name not in sheet.table.columns:
        raise UsageError(f"--cost: {sheet.table.name} has no column {name!r}; it has {', '.join(sheet.table.columns)}.")
    _check_costs(sheet, name)
    return column_of(sheet, problem.study.space, name)


def _check_costs(sheet: Sheet, name: str) -> None:
    """Refuse a column that has no positive number for a candidate."""
    cells = sheet.table.column(name)
    read = numbers(cells, sheet.sign).values
    for i in sheet.candidates:
        if not read[i] > 0:
            place = f"column {name!r}, row {sheet.table.number(i)} of {sheet.table.name}"
            raise UsageError(
                f"--cost: {cell_text(cells[i])!r} in {place}, is no cost; write a positive number for every candidate."
            )


def _most(text: str) -> tuple[str, int]:
    """How many values, and of what.

    >>> _most("3:ligand")
    ('ligand', 3)
    """
    number, _, name = text.partition(":")
    if not number.strip().isdigit() or not name.strip():
        raise UsageError(f"--at-most {text!r}: write a number, a colon and a column, as in --at-most 3:ligand.")
    return name.strip(), int(number)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise UsageError(f"--fix {text!r}: write a column, = and a value, as in --fix base=KOAc.")
    return name.strip(), value.strip()


def _value(problem: Problem, name: str, text: str) -> Any:
    """What the text means in this part."""
    space = problem.study.space
    if name in space.parts:
        try:
            return from_cell(space.parts[name], text)
        except (SpaceError, ValueError) as error:
            raise UsageError(f"--fix {name}={text}: {error}.") from None
    objects = getattr(space, "objects", ())
    values = {repr(x[name]): x[name] for x in objects if isinstance(x, Mapping) and name in x}
    return read_item(text, list(values.values()), None)


def _condition(problem: Problem, text: str) -> str | Callable[[Any], bool]:
    """The condition: on the parts of the objects where it names no other column, else on the rows of the table."""
    sheet = problem.sheet
    fields = [] if sheet is None or not sheet.roles.record else list(sheet.roles.objects)
    parts = list(problem.study.space.parts) or fields
    columns = parts if sheet is None or problem.pool is None else list(dict.fromkeys([*parts, *sheet.table.columns]))
    try:
        condition = Condition.read(text, columns)
    except SpaceError as error:
        raise UsageError(f"--where: {error}.") from None
    if sheet is None or problem.pool is None or all(name in parts for name in condition.names):
        return text
    values = {name: content(sheet.table.column(name), None, sheet.decimal).values for name in condition.names}
    space, rows = problem.study.space, sheet.candidates
    try:
        keys = {space.key(sheet.objects[i]) for i in rows if condition({name: v[i] for name, v in values.items()})}
    except SpaceError as error:
        raise UsageError(f"--where: {error}.") from None
    return lambda x: space.key(x) in keys
