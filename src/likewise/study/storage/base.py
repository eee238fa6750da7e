"""Where studies are kept: a log of events for each study, which is only read and appended to.

A storage does not know what events mean. What may follow what is said once, in `likewise.study.log`, which reads the
events that are new, checks what is to be added to them, and appends it: all within one transaction, which has the study
to itself. So changes of a study follow one another, and whoever has seen a revision has seen every earlier one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Self, final

from likewise.errors import StudyError

NAMES_SHOWN = 8


class Stored(NamedTuple):
    """An event as it is stored: its number in the study from 1 on, when, by whom, of what kind, and JSON text."""

    revision: int
    at: float
    who: str
    kind: str
    body: str


class Transaction(ABC):
    """A change of one study: nobody else changes the study until it ends. An exception undoes it.

    now: the storage's clock, in seconds since the epoch.
    """

    now: float

    @abstractmethod
    def since(self, revision: int) -> list[Stored]:
        """The events after a revision, in order."""

    @abstractmethod
    def append(self, event: Stored) -> None:
        """Add the next event; its revision is one more than the last."""

    @abstractmethod
    def lease(self, trials: Sequence[int], seconds: float | None) -> None:
        """Let these trials be given back so many seconds from now; never, with None."""

    @abstractmethod
    def late(self) -> list[int]:
        """The trials whose leases have ended, in order."""


class Storage(ABC):
    """Studies by name. Use it as a context manager, or close it, to let go of files and connections.

    A study has a number, which it keeps when it is renamed, and which no other study is ever given.
    """

    @abstractmethod
    def find(self, name: str) -> int | None:
        """The number of the study of this name; None if there is none."""

    @abstractmethod
    def create(self, name: str, first: tuple[str, str, str]) -> int:
        """The number of a study; if there is none, it is made, and its log begins with who, what kind, and a body."""

    @abstractmethod
    def names(self) -> list[str]:
        """The name of every study, in order."""

    @abstractmethod
    def since(self, study: int, revision: int) -> list[Stored]:
        """The events of a study after a revision, in order; nobody is kept waiting."""

    @abstractmethod
    def transaction(self, study: int) -> AbstractContextManager[Transaction]:
        """A change of a study; a StudyError if the study has been deleted."""

    @abstractmethod
    def beat(self, study: int, trials: Sequence[int], seconds: float) -> None:
        """Prolong the leases that these trials have to so many seconds from now."""

    @abstractmethod
    def any_late(self, study: int) -> bool:
        """Whether the lease of a trial has ended."""

    @abstractmethod
    def rename(self, name: str, new: str) -> None:
        """Give a study another name; a StudyError if there is no such study, or the name is in use."""

    @abstractmethod
    def copy(self, name: str, new: str) -> None:
        """Copy a study with all its events to a name that is not in use."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Remove a study with all its events."""

    def close(self) -> None:
        """Let go of files and connections; using the storage again opens them again."""
        return

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class NotStored:
    """The errors about studies that are not there, or are in the way."""

    names: Sequence[str]

    def missing(self, name: str) -> StudyError:
        shown = ", ".join(map(repr, self.names[:NAMES_SHOWN])) or "none"
        return StudyError(f"there is no study {name!r} in this storage; stored studies: {shown}")

    def in_use(self, name: str) -> StudyError:
        return StudyError(f"there is a study {name!r} already; choose another name, or delete it first")


def deleted() -> StudyError:
    """The error of a change to a study that is not there any more."""
    return StudyError("the study has been deleted; open it again to start afresh")


def open_storage(url: str | Storage | None = None, create: bool = True) -> Storage:
    """The storage at a URL: None keeps studies in memory, `sqlite:///study.db` in a file, `postgresql://…` on a server.

    A storage is itself. Without `create` a file that is not there, or holds no studies, is a StorageError and is not
    made.

    >>> open_storage().names()
    []
    """
    if isinstance(url, Storage):
        return url
    if url is None:
        from likewise.study.storage.memory import Memory

        return Memory()
    from likewise.study.storage.sql import open_sql

    return open_sql(url, create)
