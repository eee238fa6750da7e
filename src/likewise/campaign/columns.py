"""Columns that say more than an object: what is wanted of values, states of experiments, and those that likewise keeps.

Aims are typed as `yield:max` or `impurity<2`; states as people write them: failed, running, n.d., below a limit.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from likewise.campaign.roles import PREFIX
from likewise.errors import StudyError, UsageError
from likewise.study.goals import AtLeast, AtMost, Between, Direction, Limits
from likewise.tables.cells import Decimal, cell_text, empty, one_number
from likewise.tables.reading import Table

# What is wanted of several columns of values, as it is typed: `yield:max`, `cost:min`, `impurity<2`.

DIRECTION_WORDS: Mapping[str, Direction] = {
    "max": "maximize",
    "maximize": "maximize",
    "min": "minimize",
    "minimize": "minimize",
}
LIMIT_AIM = re.compile(r"^(?P<name>.*?)\s*(?P<sign><=?|>=?|≤|≥)\s*(?P<rest>[^<>≤≥]+)$")
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
        aims = [f"the {'largest' if d == 'maximize' else 'smallest'} {name}" for name, d in self.objectives.items()]
        constraints = [f"{name} is {limits_text(limits)}" for name, limits in self.limits.items()]
        return " and ".join(aims) + (f", where {' and '.join(constraints)}" if constraints else "")


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
        name, interval = read_limits(text)
        if limits.setdefault(name, interval) != interval:
            raise UsageError(f'Column {name!r} has two requirements; give both limits at once, as in "{name} 6..8".')
    return Aims(objectives, limits)


def read_value(text: str) -> tuple[str, Direction | None]:
    """The column, and the direction if it is said.

    >>> read_value("yield:max"), read_value("Yield (%)"), read_value("cost: minimize")
    (('yield', 'maximize'), ('Yield (%)', None), ('cost', 'minimize'))
    """
    name, sign, word = text.rpartition(":")
    direction = DIRECTION_WORDS.get(word.strip().lower())
    return (name.strip(), direction) if sign and name.strip() and direction is not None else (text, None)


def read_limits(text: str) -> tuple[str, Limits]:
    """The column and the limits that it has to keep.

    >>> read_limits("impurity < 2"), read_limits("pH 6..8")
    (('impurity', Limits(low=-inf, high=2.0)), ('pH', Limits(low=6.0, high=8.0)))
    """
    match = RANGE.match(text.strip())
    try:
        if match is not None and match["name"].strip():
            return match["name"].strip(), Between(float(match["low"]), float(match["high"]))
        match = LIMIT_AIM.match(text.strip())
        if match is not None and match["name"].strip():
            limit = float(match["rest"])
            return match["name"].strip(), AtMost(limit) if match["sign"][0] in "<≤" else AtLeast(limit)
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


# The state of an experiment, as people write it: failed, running, n.d., below or above a limit, or simply measured.
#
# A state stands in the column of the values or in the column `status`. What each text was taken for is said, so that
# nobody has to guess; the text itself stays in the table.


class Kind(StrEnum):
    """Where an experiment stands, in the words of the column `status`."""

    DONE = "done"
    BELOW = "below limit"
    ABOVE = "above limit"
    FAILED = "failed"
    RUNNING = "running"
    SUGGESTED = "suggested"
    UNDETERMINED = "n.d."
    SKIPPED = "skipped"


STATE_WORDS: dict[Kind, tuple[str, ...]] = {
    Kind.DONE: ("done", "ok", "okay", "finished", "measured", "complete", "completed"),
    Kind.BELOW: ("below limit",),
    Kind.ABOVE: ("above limit",),
    Kind.FAILED: ("failed", "fail", "failure", "aborted", "crashed", "exploded", "decomposed"),
    Kind.RUNNING: ("running", "pending", "under way", "underway", "in progress", "started", "ongoing", "wip"),
    Kind.SUGGESTED: ("suggested", "open", "planned"),
    Kind.UNDETERMINED: ("n.d.", "n.d", "nd", "not determined", "not detected", "not measured", "tbd"),
    Kind.SKIPPED: ("skipped", "skip", "cancelled", "canceled", "withdrawn", "not run", "rejected"),
}
KINDS = {word: kind for kind, words in STATE_WORDS.items() for word in words}
# Between the word of a state and a remark on it, and between two remarks.
JOINT = "; "
# Experiments that are out: they have no result yet.
OPEN = frozenset({Kind.SUGGESTED, Kind.RUNNING})
# Experiments that have no result and get none.
CLOSED = frozenset({Kind.UNDETERMINED, Kind.SKIPPED})
# What a run is as a whole, whatever else was measured of it.
WHOLE = frozenset({Kind.FAILED, Kind.SKIPPED})
LIMIT_CELL = re.compile(r"^(<=?|≤|>=?|≥|below|under|above|over)\s*(.+?)\s*%?$", re.IGNORECASE)
BELOW_SIGNS = ("<", "≤", "below", "under")
TAKEN = {
    Kind.FAILED: "failed: objects like it are avoided",
    Kind.RUNNING: "running: it is not suggested again, and the next suggestions take it into account",
    Kind.UNDETERMINED: "not determined: it has no value, and is not suggested again (write <0.1, or failed)",
    Kind.SKIPPED: "skipped: it is not suggested again (empty the cell to make it a candidate)",
}


@dataclass(frozen=True)
class RunState:
    """Where an experiment stands; of one below or above a limit, the limit. `said` is what a person wrote."""

    kind: Kind
    limit: float | None = None
    said: str = ""

    @property
    def taken(self) -> str:
        """What it was taken for, in words; empty where that needs no words."""
        if self.limit is None:
            return TAKEN.get(self.kind, "")
        return f"{self.side} {self.limit:.6g}: a limit, and not a value"

    @property
    def side(self) -> str | None:
        """The side of a limit on which the value lies; None if it is no limit."""
        return None if self.limit is None else "below" if self.kind is Kind.BELOW else "above"


def read_state(text: str, decimal: Decimal | None = None) -> RunState | None:
    """The state that a text stands for; None where it is none. A remark may follow its word.

    >>> read_state("< 0,1 %"), read_state("Failed; broke the vial").kind, read_state("71")
    (RunState(kind=<Kind.BELOW: 'below limit'>, limit=0.1, said='< 0,1 %'), <Kind.FAILED: 'failed'>, None)
    """
    plain = " ".join(text.split())
    kind = KINDS.get(plain.partition(JOINT)[0].strip().lower().rstrip("!"))
    if kind is not None:
        return RunState(kind, said=plain)
    match = LIMIT_CELL.match(plain)
    limit = None if match is None else one_number(match[2], decimal)
    if match is None or limit is None or not math.isfinite(limit):
        return None
    return RunState(Kind.BELOW if match[1].lower().startswith(BELOW_SIGNS) else Kind.ABOVE, limit, plain)


def split_status(text: str) -> tuple[str, tuple[str, ...]]:
    """The word or the limit that a status begins with, empty where there is none, and the remarks in it.

    >>> split_status("failed; broke the vial"), split_status("leaks!?")
    (('failed', ('broke the vial',)), ('', ('leaks!?',)))
    """
    first, *remarks = (part.strip() for part in text.split(JOINT))
    return (first, tuple(remarks)) if read_state(text) is not None else ("", (first, *remarks))


def updated_status(before: str, wanted: str) -> str:
    """What the column `status` says next: remarks of a person stay, and so does his word for the same state.

    A remark alone stands for a run that is not over, or beside a value: any other state is said before it.

    >>> updated_status("suggested", "done"), updated_status("pending", "running"), updated_status("leaks!?", "done")
    ('done', 'pending', 'leaks!?')
    >>> updated_status("leaks!?", "failed"), updated_status("failed", "leaks!?"), updated_status("running", "leaks!?")
    ('failed; leaks!?', 'failed; leaks!?', 'leaks!?')
    """
    (word, remarks), (new_word, new_remarks) = split_status(before) if before else ("", ()), split_status(wanted)
    state, new = read_state(word), read_state(new_word)
    remarks = (*remarks, *(remark for remark in new_remarks if remark not in remarks))
    if new is None:
        word = word if remarks and not is_open(state) else ""
    elif state is None or state.kind is not new.kind:
        word = "" if remarks and (is_open(new) or new.kind is Kind.DONE) else new_word
    return JOINT.join(text for text in (word, *remarks) if text)


def combine(measured: bool, in_value: RunState | None, in_status: RunState | None) -> RunState | None:
    """The state of a row, from what its value and its status say; None is measured, or a candidate if it is not.

    What a person says of a run without a number counts more than a number: a run that failed, or that is not to count.
    Otherwise a result counts more than a status that nobody has brought up to date.
    """
    if in_status is not None and in_status.kind in (Kind.FAILED, Kind.SKIPPED):
        return in_status
    if in_value is not None:
        return None if in_value.kind is Kind.DONE else in_value
    if measured or in_status is None:
        return None
    if in_status.limit is None and in_status.kind in (Kind.DONE, Kind.BELOW, Kind.ABOVE):
        # It says that there is a result, and there is none.
        return RunState(Kind.RUNNING, said=in_status.said)
    return in_status


def combine_outcomes(
    cells: Sequence[RunState], in_status: RunState | None, *, results: bool, lacking: bool
) -> RunState | None:
    """The state of a row of several outcomes; None is measured, or a candidate if it is not.

    `cells` is what texts in the columns of values say, in their order. `results` says whether any column has a value,
    `lacking` whether any says nothing. A run that failed or was skipped is so as a whole, whichever column says it. A
    text such as n.d. counts for its own column alone.
    """
    for state in (in_status, *cells):
        if state is not None and state.kind in WHOLE:
            return state
    if (running := next((state for state in cells if state.kind in OPEN), None)) is not None:
        return RunState(Kind.RUNNING, said=running.said)
    if in_status is not None and in_status.kind in OPEN and lacking:
        return in_status
    if results:
        return None
    undetermined = next((state for state in cells if state.kind in CLOSED), None)
    if undetermined is None and in_status is not None and in_status.limit is not None:
        # Of which outcome it is the limit, nobody knows.
        return RunState(Kind.RUNNING, said=in_status.said)
    return undetermined or combine(False, None, in_status)


def is_open(state: RunState | None) -> bool:
    """Whether a result is still to come."""
    return state is not None and state.kind in OPEN


def status_of(measured: bool, state: RunState | None) -> str | None:
    """What the column `status` says of a row: the same as the row itself."""
    if state is None:
        return Kind.DONE.value if measured else None
    return state.kind.value


# The columns that likewise keeps in a table: the name of a run, its status and its round.
#
# They are called `run`, `status` and `round`. A column of such a name that means something else is the user's, and is
# never written; then ours is called `likewise_run`, and so on.

RUN = re.compile(r"R(\d+)-(\d+)[a-z]{2}")
LETTERS = "bcdfghjkmnpqrstvwxz"


@dataclass(frozen=True)
class RunColumns:
    """The names of the columns for run, status and round, and a note on each plain name that is taken."""

    run: str = "run"
    status: str = "status"
    round: str = "round"
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter((self.run, self.status, self.round))

    def __contains__(self, name: object) -> bool:
        return name in (self.run, self.status, self.round)


def run_columns(table: Table, taken: Collection[str | None] = ()) -> RunColumns:
    """Returns the columns that likewise keeps, even if the table lacks them; `taken` ones hold objects or values."""
    runs, note = _name(table, "run", taken, lambda place, text: is_run(text))
    marked = _marked(table, runs)
    status, second = _name(
        table, "status", taken, lambda place, text: place in marked or read_state(text, None) is not None
    )
    rounds, third = _name(table, "round", taken, lambda place, text: whole(text) is not None)
    return RunColumns(runs, status, rounds, tuple(text for text in (note, second, third) if text))


def _name(table: Table, plain: str, taken: Collection[str | None], fits: Callable[[int, str], bool]) -> tuple[str, str]:
    """The name of a column of ours, and a note where the plain name means something else."""
    named = next((name for name in table.columns if name.strip().lower() == plain and name not in taken), None)
    if named is None:
        return (plain if plain not in taken else f"{PREFIX}{plain}"), ""
    for place, cell in enumerate(table.column(named).to_list()):
        if not empty(cell) and not fits(place, cell_text(cell).strip()):
            said = f"{table.name}: column {named!r} holds something else ({cell_text(cell)[:60]!r} in row "
            return f"{PREFIX}{plain}", f"{said}{table.number(place)}), so likewise keeps its own in {PREFIX + plain!r}"
    return named, ""


def _marked(table: Table, runs: str) -> set[int]:
    """The rows that have a run: whatever their status says was written for us."""
    if runs not in table.columns:
        return set()
    return {place for place, cell in enumerate(table.column(runs).to_list()) if not empty(cell)}


def is_run(text: str) -> bool:
    """Whether a text is the name of a run.

    >>> is_run("R3-2fk"), is_run("3")
    (True, False)
    """
    return RUN.fullmatch(text.strip()) is not None


def run_name(round: int, number: int, key: str) -> str:
    """The name of a run: its round, its number there, and two letters that belong to its object.

    A spreadsheet takes it for no number and no date, and the letters tell apart runs of two copies of a table.

    >>> run_name(3, 2, '"CCO"')
    'R3-2qn'
    """
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=2).digest()
    return f"R{round}-{number}{LETTERS[digest[0] % len(LETTERS)]}{LETTERS[digest[1] % len(LETTERS)]}"


def whole(cell: object) -> int | None:
    """The whole number in a cell, if that is what it holds.

    >>> whole("3"), whole(3.0), whole("3rd"), whole(None)
    (3, 3, None, None)
    """
    try:
        value = float(str(cell))
    except ValueError:
        return None
    return int(value) if value.is_integer() and value >= 0 else None
