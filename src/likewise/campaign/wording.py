"""Objects, counts and shares in the words that people read: in the terminal, in files and in the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def shown(x: Any, width: int | None = None) -> str:
    """The object as people read it: text as it is, records as `name: value` pairs, the rest as Python writes it."""
    if isinstance(x, Mapping):
        text = ", ".join(f"{name}: {shown(value)}" for name, value in x.items())
    elif isinstance(x, str):
        text = x
    elif isinstance(x, float):
        text = f"{x:.6g}"
    elif hasattr(x, "tolist"):
        text = shown(x.tolist())
    elif isinstance(x, list | tuple):
        text = f"[{', '.join(map(shown, x))}]"
    elif isinstance(x, set | frozenset):
        text = f"{{{', '.join(sorted(map(shown, x)))}}}"
    else:
        text = str(x)
    return text if width is None or len(text) <= width else f"{text[: width - 1]}…"


def same_fields(objects: Sequence[Any]) -> bool:
    """Whether all objects are records of the same fields, which columns can show; those of several branches are not.

    >>> same_fields([{"a": 1}, {"a": 2}]), same_fields([{"svm": {"C": 1}}, {"forest": {"depth": 2}}])
    (True, False)
    """
    return all(isinstance(x, Mapping) for x in objects) and len({tuple(x) for x in objects}) == 1


def difference(x: Any, other: Any) -> dict[str, Any] | None:
    """The fields in which a record is unlike another; None where these are not records, or unlike in every field.

    >>> difference({"base": "KOH", "t": 80.0}, {"base": "KOH", "t": 60.0})
    {'t': 80.0}
    """
    if not (isinstance(x, Mapping) and isinstance(other, Mapping) and x.keys() == other.keys()):
        return None
    fields = {name: value for name, value in x.items() if shown(value) != shown(other[name])}
    return fields if 0 < len(fields) < len(x) else None


def count(number: int, what: str) -> str:
    """A number of things.

    >>> count(1, "measured row"), count(0, "row")
    ('1 measured row', '0 rows')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float | None) -> str:
    """A share in percent; small ones are not called nothing.

    >>> percent(0.345), percent(0.0004), percent(None)
    ('34 %', '< 0.1 %', '')
    """
    if share is None:
        return ""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.01 else f"{100 * share:.0f} %"
