"""What a user asks of a batch, as a plate: checked against the space before anything is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from likewise.errors import SpaceError, StudyError
from likewise.search.plate import Plate, Rows
from likewise.spaces.base import Enumerable, Space
from likewise.spaces.conditions.condition import Condition
from likewise.spaces.record import Record
from likewise.study.checks import at_least_one

# So many values of a part are shown where one is not among them.
SHOWN = 8


def make_plate(
    space: Space,
    n: int,
    same: Sequence[str] = (),
    groups: int = 1,
    at_most: Mapping[str, int] | None = None,
    fix: Mapping[str, Any] | None = None,
    where: str | Callable[[Any], bool] | None = None,
) -> Plate | None:
    """The plate that a batch of `n` must fit on; None where it may be any batch."""
    at_least_one("groups", groups)
    for argument, value, kind, such in (
        ("same", same, Iterable, "['temperature']"),
        ("at_most", at_most, Mapping | None, "{'ligand': 3}"),
        ("fix", fix, Mapping | None, "{'base': 'KOAc'}"),
    ):
        if not isinstance(value, kind):
            raise StudyError(f"{argument}={value!r} names no parts; give them as in {argument}={such}")
    shared = (same,) if isinstance(same, str) else tuple(same)
    if groups > 1 and not shared:
        raise StudyError(f"groups={groups} needs same=[…], the parts that each group shares")
    if not (shared or at_most or fix or where is not None):
        return None
    fields = _fields(space)
    for name in (*shared, *(at_most or {}), *(fix or {})):
        if name not in fields:
            raise StudyError(f"the objects have no part {name!r}; {_parts(fields)}")
    for name, most in (at_most or {}).items():
        at_least_one(f"at_most[{name!r}]", most)
    plate = Plate(
        {name: _fitted(space, name, value) for name, value in (fix or {}).items()},
        tuple(name for name in shared if name not in (fix or {})),
        _sizes(n, groups),
        dict(at_most or {}),
        _condition(where, fields),
    )
    _check_possible(space, plate, where)
    return plate


def _sizes(n: int, groups: int) -> tuple[int, ...]:
    """The objects of each group: as even as can be, the larger groups first.

    >>> _sizes(8, 3)
    (3, 3, 2)
    """
    if groups > n:
        raise StudyError(f"{n} suggestions make no {groups} groups; ask for as many suggestions as groups, or for more")
    return tuple(n // groups + (k < n % groups) for k in range(groups))


def _fields(space: Space) -> list[str]:
    """The names of the parts that all objects have."""
    if isinstance(space, Record):
        return list(space.parts)
    first = next(iter(space.objects), None) if isinstance(space, Enumerable) else None
    if first is None:
        named = getattr(space, "names", None)
        return list(named) if named else []
    return list(first) if isinstance(first, Mapping) else []


def _parts(fields: Sequence[str]) -> str:
    if fields:
        return f"they have {', '.join(fields)}"
    return "same, at_most and fix are for records, and for pools of records"


def _condition(where: Any, fields: Sequence[str]) -> Callable[[Any], bool] | None:
    if where is None or (callable(where) and not isinstance(where, str)):
        return where
    if not isinstance(where, str):
        raise StudyError(f'where={where!r} is no condition; give a text such as "cost < 20", or a function')
    if not fields:
        raise StudyError(f"where={where!r} is about parts, and the objects have none; give a function of the object")
    try:
        return Condition.read(where, fields)
    except SpaceError as error:
        raise StudyError(str(error)) from None


def _fitted(space: Space, name: str, value: Any) -> Any:
    """The value as the objects have it."""
    if isinstance(space, Record):
        try:
            return space.parts[name].fit(value)
        except SpaceError as error:
            raise StudyError(f"fix: {name!r} cannot be {value!r}: {error}") from None
    values = list({repr(x[name]): x[name] for x in getattr(space, "objects", [])}.values())
    if value not in values:
        some = ", ".join(map(repr, values[:SHOWN])) + (" …" if len(values) > SHOWN else "")
        raise StudyError(f"fix: no object has {name!r} = {value!r}; there are {some}")
    return values[values.index(value)]


def _check_possible(space: Space, plate: Plate, where: Any) -> None:
    """A complaint about a pool of which no object fits, measured or not."""
    if isinstance(space, Enumerable) and len(space.objects) and not Rows(space).allowed(plate, ()).any():
        asked = [f"fix={dict(plate.fix)!r}"] * bool(plate.fix) + [f"where={where!r}"] * (where is not None)
        raise StudyError(f"no object of the space satisfies {' and '.join(asked)}; loosen it")
