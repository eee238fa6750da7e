"""Where studies are kept: the protocol, the rules every storage follows, and how to open one by its URL.

A storage holds studies by name; an open study holds rows, one per trial. Rows are added all or none, change state by
the rules of `FOLLOWS`, and carry a revision that grows with every change, so that each worker can read what is new.
"""

from __future__ import annotations

import json
import reprlib
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

from likewise.errors import StorageWarning, StudyError
from likewise.study.storage.trials import NO_SECONDS, End, NewRow, Row, check_end, check_json, check_row, finite
from likewise.study.trial import State, Trial

DIFFERENCES_SHOWN = 8
CHECK = "`likewise check URL` lists such rows, and --set-aside keeps them apart"


class Taken(StudyError):
    """Objects that are already asked, told or failed in this study; `keys` says which."""

    def __init__(self, name: str, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        shown = ", ".join(map(reprlib.repr, self.keys[:DIFFERENCES_SHOWN]))
        super().__init__(
            f"study {name!r} already has {len(self.keys)} of these objects: {shown}; "
            "choose others, or add them as replicates (replicate=True)"
        )


@dataclass(frozen=True)
class StudyInfo:
    """A stored study at a glance."""

    name: str
    direction: str
    counts: Mapping[State, int]
    best: float | None
    created: float
    updated: float


@dataclass(frozen=True)
class BadRow:
    """A stored row that cannot be used: a trial by its `id`, or the study's own row, the field and what it holds."""

    study: str
    id: Any
    field: str
    reason: str

    def __str__(self) -> str:
        trial = "" if self.id is None else f"trial {self.id!r} of "
        return f"{trial}study {self.study!r}: {self.field} {self.reason}"


class NoTrial(StudyError):
    """An `id` for which the study has no trial."""

    def __init__(self, id: int, message: str) -> None:
        self.id = id
        super().__init__(message)


class OpenStudy(ABC):
    """One open study. Every method is one atomic step, safe against other threads, processes and machines."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self.name = name
        self.settings = settings
        self._passed_over: set[BadRow] = set()

    @final
    def add(self, rows: Sequence[NewRow]) -> list[int]:
        """Add all rows or none; their ids, consecutive and in order. `Taken` if an object is not free any more."""
        return self.record(rows)

    @final
    def settle(
        self,
        id: int,
        *,
        state: State,
        value: float | None = None,
        std: float | None = None,
        error: str | None = None,
        outcomes: str | None = None,
    ) -> None:
        """End a trial: asked → told, failed or abandoned. A late result of an abandoned trial is kept as well.

        A told trial may be told `outcomes` that it does not have yet. A second result, or an unknown id, is a
        StudyError. Abandoning an abandoned trial changes nothing.
        """
        self.record(ends=[End(id, state, value, std, error, outcomes)])

    @final
    def record(self, rows: Sequence[NewRow] = (), ends: Sequence[End] = ()) -> list[int]:
        """End trials as `settle` does, then add rows as `add` does, in one step: all of it or none; the rows' ids."""
        added, ended = [check_row(row) for row in rows], [check_end(end) for end in ends]
        counts = Counter(row.key for row in added if row.claims)
        if repeated := [key for key, count in counts.items() if count > 1]:
            raise Taken(self.name, repeated)
        return self._record(added, ended) if added or ended else []

    @abstractmethod
    def since(self, revision: int) -> tuple[list[Row], int]:
        """The rows changed after `revision`, in the order of their last changes, and the newest revision.

        `since(0)` gives every row; passing the returned revision on gives only what is new.
        """

    @final
    def beat(self, ids: Sequence[int], lease: float) -> None:
        """Heartbeat: those of `ids` that are still asked are kept for `lease` seconds from now."""
        seconds = finite("lease", lease, NO_SECONDS)
        if distinct := sorted({int(id) for id in ids}):
            self._beat(distinct, seconds)

    @abstractmethod
    def expire(self) -> list[int]:
        """Abandon the asked trials whose lease has ended, by the storage's clock; their ids."""

    @final
    def note(self, text: str) -> None:
        """Keep a JSON text, for instance the seed and similarity this opening uses."""
        check_json("note", text)
        self._note(text)

    @abstractmethod
    def notes(self) -> list[str]:
        """Every text noted, oldest first."""

    @abstractmethod
    def _beat(self, ids: Sequence[int], lease: float) -> None: ...

    @abstractmethod
    def _note(self, text: str) -> None: ...

    @abstractmethod
    def _record(self, rows: Sequence[NewRow], ends: Sequence[End]) -> list[int]: ...

    @final
    def pass_over(self, bad: BadRow) -> None:
        """Warn of a row that cannot be used, once."""
        if bad not in self._passed_over:
            self._passed_over.add(bad)
            warnings.warn(f"{bad}. It is passed over; {CHECK}", StorageWarning, stacklevel=2)

    @final
    def _gone(self) -> StudyError:
        return StudyError(f"study {self.name!r} has been deleted; open it again to start afresh")

    @final
    def _refusal(self, end: End, row: Row | None, size: int) -> StudyError | None:
        """Why a trial did not end like this, given what is there; None if it is so already."""
        id, state = end.id, end.state
        if row is None:
            there = f"its trials are 0 to {size - 1}" if size else "it has no trials yet"
            return NoTrial(id, f"study {self.name!r} has no trial {id}; {there}")
        if end.why is not None:
            return StudyError(f"trial {id} of study {self.name!r} {why_final(row)}")
        if row.state is state is State.ABANDONED:
            return None
        if state is State.ASKED:
            return Taken(self.name, [row.key])
        held = f" with value {row.value!r}" if row.value is not None else measured(row.outcomes)
        why = f" because {row.error.splitlines()[-1]!r}" if row.error else ""
        return StudyError(
            f"trial {id} of study {self.name!r} is already {row.state.value}{held}{why}; "
            "to correct it, use `amend` or `withdraw`; to record another measurement, tell the object itself"
        )


class Storage(ABC):
    """Studies by name. Use it as a context manager, or close it, to let go of files and connections."""

    @final
    def open(self, name: str, settings: Mapping[str, Any]) -> OpenStudy:
        """Create a study, or resume it. A StudyError says what differs if it was made with other settings."""
        if not isinstance(name, str) or not name or "\x00" in name:
            raise StudyError(f"a study's name is a non-empty text, not {name!r}")
        try:
            given = json.loads(json.dumps(settings, sort_keys=True, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise StudyError(f"the settings of study {name!r} are not plain JSON: {error}") from error
        study = self._open(name, given)
        if found := list(differences(study.settings, given)):
            more = f"; and {len(found) - DIFFERENCES_SHOWN} more" if len(found) > DIFFERENCES_SHOWN else ""
            raise StudyError(
                f"study {name!r} was made with other settings: {'; '.join(found[:DIFFERENCES_SHOWN])}{more}. "
                "Open it with the stored settings, or choose another name"
            )
        return study

    @abstractmethod
    def _open(self, name: str, settings: dict[str, Any]) -> OpenStudy:
        """The study of that name as stored, created with `settings` if there is none."""

    @abstractmethod
    def studies(self) -> list[StudyInfo]:
        """Every study, by name."""

    @abstractmethod
    def rows(self, name: str) -> list[Row]:
        """Every row of a study that can be used, whatever its settings are."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Remove a study with its trials and notes."""

    def check(self) -> list[BadRow]:
        """Every stored row that cannot be used, the first fault of each."""
        return []

    def set_aside(self) -> list[BadRow]:
        """Keep the trials that cannot be used apart, where nothing reads them; which they were. Nothing is deleted."""
        return []

    def close(self) -> None:
        """Let go of files and connections; using the storage again opens them again."""
        return

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(self, *_: object) -> None:
        self.close()


def open_storage(url: str | Storage | None = None, create: bool = True) -> Storage:
    """The storage at a URL: None keeps studies in memory, `sqlite:///study.db` in a file, `postgresql://…` on a server.

    A storage is itself. Without `create` it is a StorageError if there is no such file, or if it holds no studies, and
    nothing is made.

    >>> open_storage().studies()
    []
    """
    if isinstance(url, Storage):
        return url
    if url is None:
        from likewise.study.storage.memory import Memory

        return Memory()
    from likewise.study.storage.sql import open_sql

    return open_sql(url, create)


def differences(stored: Any, given: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values differ: the path, the stored value, the given value.

    >>> list(differences({"space": {"length": 8}}, {"space": {"length": 9}}))
    ['space.length is 8 in the stored study but 9 was given']
    """
    if isinstance(stored, dict) and isinstance(given, dict):
        for name in dict.fromkeys([*stored, *given]):
            inner = f"{path}.{name}" if path else str(name)
            if name not in given:
                yield f"{inner} is {reprlib.repr(stored[name])} in the stored study but was not given"
            elif name not in stored:
                yield f"{inner} is absent from the stored study but {reprlib.repr(given[name])} was given"
            else:
                yield from differences(stored[name], given[name], inner)
    elif isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        for place, pair in enumerate(zip(stored, given, strict=True)):
            yield from differences(*pair, f"{path}[{place}]")
    elif stored != given or isinstance(stored, bool) is not isinstance(given, bool):
        yield f"{path} is {reprlib.repr(stored)} in the stored study but {reprlib.repr(given)} was given"


def no_study(name: str, names: Sequence[str]) -> StudyError:
    """The error for a name that is not stored, with those that are."""
    there = ", ".join(map(repr, names[:DIFFERENCES_SHOWN])) or "none"
    return StudyError(f"there is no study {name!r} in this storage; stored studies: {there}")


def why_final(trial: Row | Trial) -> str:
    """Why a trial cannot be amended, or withdrawn."""
    if trial.state is State.FAILED:
        return "failed and has no value to amend; withdraw it, and tell its object"
    if trial.state is State.ABANDONED and trial.corrections:
        return "is withdrawn; tell its object"
    return f"is {trial.state.value} and has no value yet; tell it one, or abandon it"


def measured(outcomes: str | None) -> str:
    """Stored outcomes in words.

    >>> measured('{"yield": {"value": 71.0}, "cost": {"value": 2.5}}')
    " with 'yield' 71.0, 'cost' 2.5"
    """
    found = {} if outcomes is None else json.loads(outcomes)
    return " with " + ", ".join(f"{name!r} {one['value']!r}" for name, one in found.items()) if found else ""


def aim(settings: Mapping[str, Any]) -> str:
    """What a stored study is after: its direction, or that of each of its objectives.

    >>> aim({"direction": "minimize"}), aim({"objectives": {"yield": "maximize", "cost": "minimize"}})
    ('minimize', 'maximize yield, minimize cost')
    """
    objectives = settings.get("objectives")
    if not isinstance(objectives, dict):
        return str(settings.get("direction", "maximize"))
    return ", ".join(f"{direction} {name}" for name, direction in objectives.items())


def best_value(direction: str, values: Sequence[float]) -> float | None:
    """The best of some values, None of none."""
    best = min if direction == "minimize" else max
    return best(values, default=None)
