"""Objects, numbers, counts and shares in the words that people read, and who hears about the work on a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

# Who hears about the work on a table: what was taken for what, and how far it is.
#
# The campaign knows no terminal. The command line listens by a console, a program by whatever it makes of the notes.


class Progress:
    """How far a piece of work is; this one shows nothing."""

    def advance(self, by: int = 1) -> None:
        """Some more is done."""

    def end(self) -> None:
        """Something follows that shows its progress itself."""

    def stage(self, what: str, total: int | None = None) -> None:
        """Something else begins."""


@dataclass(eq=False)
class Listener:
    """Collects notes, each once, and shows nothing."""

    notes: list[str] = field(default_factory=list, init=False)

    def note(self, text: str) -> None:
        """Hear something that the user should know."""
        if text not in self.notes:
            self.notes.append(text)
            self.show(text)

    def show(self, text: str) -> None:
        """Show a note to whoever waits."""

    @contextmanager
    def working(self, what: str, total: int | None = None) -> Iterator[Progress]:
        """Show progress while something takes long."""
        yield Progress()


# Objects, counts and shares in the words that people read: in the terminal, in files and in the report.


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


# Numbers with the digits that their uncertainty leaves them.

# Beyond these, numbers are written with a power of ten.
LARGE, FINE = 1e7, 6


def rounded(value: float, uncertainty: float) -> str:
    """A number to two digits of its uncertainty.

    >>> rounded(67.23, 18.7), rounded(7029.0, 2400.0), rounded(0.05731, 0.0012), rounded(3.0, 0.0)
    ('67', '7000', '0.0573', '3')
    """
    if not (math.isfinite(uncertainty) and uncertainty > 0):
        return f"{value:.6g}"
    decimals = 1 - math.floor(math.log10(uncertainty))
    if abs(value) >= LARGE or decimals > FINE:
        leading = 0 if value == 0 else math.floor(math.log10(abs(value)))
        return f"{value:.{min(max(1, leading + decimals + 1), 6)}g}"
    # Adding zero turns -0 into 0.
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"


def plus_minus(mean: float | None, std: float | None) -> str:
    """What is expected, and how uncertain it is.

    >>> plus_minus(67.23, 18.7), plus_minus(None, None)
    ('67 ± 19', '')
    """
    if mean is None or std is None:
        return ""
    return f"{rounded(mean, std)} ± {rounded(std, std)}"


def interval(low: float | None, high: float | None) -> str:
    """The ends of a 95 % interval, to two digits of the standard deviation that is a quarter of it.

    >>> interval(31.4, 98.1), interval(None, None)
    ('31 to 98', '')
    """
    if low is None or high is None:
        return ""
    return f"{rounded(low, (high - low) / 4)} to {rounded(high, (high - low) / 4)}"


def expectation(mean: float | None, low: float | None, high: float | None) -> str:
    """What is expected, with its 95 % interval.

    >>> expectation(71.23, 64.9, 77.4), expectation(None, None, None)
    ('71.2 (64.9 to 77.4)', '')
    """
    if mean is None or low is None or high is None:
        return ""
    return f"{rounded(mean, (high - low) / 4)} ({interval(low, high)})"
