"""What is wanted of several columns of values, as it is typed: `yield:max`, `cost:min`, `impurity<2`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from likewise.errors import StudyError, UsageError
from likewise.study.goals import AtLeast, AtMost, Between, Direction, Limits

WORDS: Mapping[str, Direction] = {
    "max": "maximize",
    "maximize": "maximize",
    "min": "minimize",
    "minimize": "minimize",
}
LIMIT = re.compile(r"^(?P<name>.*?)\s*(?P<sign><=?|>=?|≤|≥)\s*(?P<rest>[^<>≤≥]+)$")
RANGE = re.compile(r"^(?P<name>.*?)\s*[=:]?\s*(?P<low>[-+.\deE]+)\s*\.\.\s*(?P<high>[-+.\deE]+)$")
EXAMPLES = '"impurity<2", "purity>=95" or "pH 6..8"'


@dataclass(frozen=True)
class Aims:
    """The columns that are optimised, with their directions, and those that have to keep to limits."""

    objectives: Mapping[str, Direction]
    limits: Mapping[str, Limits]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of values, the first objective first."""
        return tuple(dict.fromkeys((*self.objectives, *self.limits)))

    @property
    def several(self) -> bool:
        """Whether there is more than one objective without limits."""
        return len(self.objectives) > 1 or bool(self.limits)

    @property
    def text(self) -> str:
        """The same in words.

        >>> read_aims(["yield:max", "cost:min"], ["imp<2"]).text
        'the largest yield and the smallest cost, where imp is at most 2'
        """
        found = [f"the {'largest' if d == 'maximize' else 'smallest'} {name}" for name, d in self.objectives.items()]
        kept = [f"{name} is {limits_text(limits)}" for name, limits in self.limits.items()]
        return " and ".join(found) + (f", where {' and '.join(kept)}" if kept else "")


def read_aims(values: Sequence[str], require: Sequence[str] = (), *, minimize: bool | None = None) -> Aims:
    """The aims that options name; a column without a direction is maximised, unless it is said otherwise.

    >>> read_aims(["yield"], minimize=True).objectives, read_aims(["a:b"]).objectives
    ({'yield': 'minimize'}, {'a:b': 'maximize'})
    """
    objectives: dict[str, Direction] = {}
    for text in values:
        name, direction = read_value(text)
        chosen = direction or ("minimize" if minimize else "maximize")
        if objectives.setdefault(name, chosen) != chosen:
            raise UsageError(f"Column {name!r} is to be both the largest and the smallest; give one of them.")
    limits: dict[str, Limits] = {}
    for text in require:
        name, found = read_limits(text)
        if limits.setdefault(name, found) != found:
            raise UsageError(f'Column {name!r} has two requirements; give both limits at once, as in "{name} 6..8".')
    return Aims(objectives, limits)


def read_value(text: str) -> tuple[str, Direction | None]:
    """The column, and the direction if it is said.

    >>> read_value("yield:max"), read_value("Yield (%)"), read_value("cost: minimize")
    (('yield', 'maximize'), ('Yield (%)', None), ('cost', 'minimize'))
    """
    name, sign, word = text.rpartition(":")
    direction = WORDS.get(word.strip().lower())
    return (name.strip(), direction) if sign and name.strip() and direction is not None else (text, None)


def read_limits(text: str) -> tuple[str, Limits]:
    """The column and the limits that it has to keep.

    >>> read_limits("impurity < 2"), read_limits("pH 6..8")
    (('impurity', Limits(low=-inf, high=2.0)), ('pH', Limits(low=6.0, high=8.0)))
    """
    found = RANGE.match(text.strip())
    try:
        if found is not None and found["name"].strip():
            return found["name"].strip(), Between(float(found["low"]), float(found["high"]))
        found = LIMIT.match(text.strip())
        if found is not None and found["name"].strip():
            limit = float(found["rest"])
            return found["name"].strip(), AtMost(limit) if found["sign"][0] in "<≤" else AtLeast(limit)
    except StudyError as error:
        raise UsageError(f"Requirement {text!r}: {error}.") from None
    except ValueError:
        pass
    raise UsageError(f"{text!r} is no requirement; write a column, a sign and a number: {EXAMPLES}.")


def limits_text(limits: Limits) -> str:
    """The limits in words.

    >>> limits_text(AtMost(2.0)), limits_text(Between(6.0, 8.0))
    ('at most 2', 'between 6 and 8')
    """
    return _written(limits, "at most {high:g}", "at least {low:g}", "between {low:g} and {high:g}")


def limits_sign(limits: Limits) -> str:
    """The limits as a settings file has them.

    >>> limits_sign(AtMost(2.0)), limits_sign(Between(6.0, 8.0))
    ('<= 2', '6..8')
    """
    return _written(limits, "<= {high:g}", ">= {low:g}", "{low:g}..{high:g}")


def _written(limits: Limits, most: str, least: str, both: str) -> str:
    form = most if math.isinf(limits.low) else least if math.isinf(limits.high) else both
    return form.format(low=limits.low, high=limits.high)
