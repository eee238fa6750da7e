"""The state of an experiment, as people write it: failed, running, n.d., below or above a limit, or simply measured.

A state stands in the column of the values or in the column `status`. What each text was taken for is said, so that
nobody has to guess; the text itself stays in the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from likewise.tables.cells import Decimal, one_number


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


WORDS: dict[Kind, tuple[str, ...]] = {
    Kind.DONE: ("done", "ok", "okay", "finished", "measured", "complete", "completed"),
    Kind.BELOW: ("below limit",),
    Kind.ABOVE: ("above limit",),
    Kind.FAILED: ("failed", "fail", "failure", "aborted", "crashed", "exploded", "decomposed"),
    Kind.RUNNING: ("running", "pending", "under way", "underway", "in progress", "started", "ongoing", "wip"),
    Kind.SUGGESTED: ("suggested", "open", "planned"),
    Kind.UNDETERMINED: ("n.d.", "n.d", "nd", "not determined", "not detected", "not measured", "tbd"),
    Kind.SKIPPED: ("skipped", "skip", "cancelled", "canceled", "withdrawn", "not run", "rejected"),
}
KINDS = {word: kind for kind, words in WORDS.items() for word in words}
# Between the word of a state and a remark on it, and between two remarks.
JOINT = "; "
# Experiments that are out: they have no result yet.
OPEN = frozenset({Kind.SUGGESTED, Kind.RUNNING})
# Experiments that have no result and get none.
CLOSED = frozenset({Kind.UNDETERMINED, Kind.SKIPPED})
# What a run is as a whole, whatever else was measured of it.
WHOLE = frozenset({Kind.FAILED, Kind.SKIPPED})
LIMIT = re.compile(r"^(<=?|≤|>=?|≥|below|under|above|over)\s*(.+?)\s*%?$", re.IGNORECASE)
BELOW_SIGNS = ("<", "≤", "below", "under")
TAKEN = {
    Kind.FAILED: "failed: objects like it are avoided",
    Kind.RUNNING: "running: it is not suggested again, and the next suggestions take it into account",
    Kind.UNDETERMINED: "not determined: it has no value, and is not suggested again (write <0.1, or failed)",
    Kind.SKIPPED: "skipped: it is not suggested again (empty the cell to make it a candidate)",
}


@dataclass(frozen=True)
class State:
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
        """Of what is only a limit, on which side of it the value lies."""
        return None if self.limit is None else "below" if self.kind is Kind.BELOW else "above"


def read_state(text: str, decimal: Decimal | None = None) -> State | None:
    """The state that a text stands for; None where it is none. A remark may follow its word.

    >>> read_state("< 0,1 %"), read_state("Failed; broke the vial").kind, read_state("71")
    (State(kind=<Kind.BELOW: 'below limit'>, limit=0.1, said='< 0,1 %'), <Kind.FAILED: 'failed'>, None)
    """
    plain = " ".join(text.split())
    kind = KINDS.get(plain.partition(JOINT)[0].strip().lower().rstrip("!"))
    if kind is not None:
        return State(kind, said=plain)
    found = LIMIT.match(plain)
    limit = None if found is None else one_number(found[2], decimal)
    if found is None or limit is None or not math.isfinite(limit):
        return None
    return State(Kind.BELOW if found[1].lower().startswith(BELOW_SIGNS) else Kind.ABOVE, limit, plain)


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


def combine(measured: bool, in_value: State | None, in_status: State | None) -> State | None:
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
        return State(Kind.RUNNING, said=in_status.said)
    return in_status


def combine_outcomes(cells: Sequence[State], in_status: State | None, *, results: bool, lacking: bool) -> State | None:
    """The state of a row of several outcomes; None is measured, or a candidate if it is not.

    `cells` is what texts in the columns of values say, in their order. `results` says whether any column has a value,
    `lacking` whether any says nothing. A run that failed or was skipped is so as a whole, whichever column says it. A
    text such as n.d. counts for its own column alone.
    """
    for state in (in_status, *cells):
        if state is not None and state.kind in WHOLE:
            return state
    if (running := next((state for state in cells if state.kind in OPEN), None)) is not None:
        return State(Kind.RUNNING, said=running.said)
    if in_status is not None and in_status.kind in OPEN and lacking:
        return in_status
    if results:
        return None
    undetermined = next((state for state in cells if state.kind in CLOSED), None)
    if undetermined is None and in_status is not None and in_status.limit is not None:
        # Of which outcome it is the limit, nobody knows.
        return State(Kind.RUNNING, said=in_status.said)
    return undetermined or combine(False, None, in_status)


def is_open(state: State | None) -> bool:
    """Whether a result is still to come."""
    return state is not None and state.kind in OPEN


def status_of(measured: bool, state: State | None) -> str | None:
    """What the column `status` says of a row: the same as the row itself."""
    if state is None:
        return Kind.DONE.value if measured else None
    return state.kind.value
