"""The studies that a storage holds."""

from __future__ import annotations

from likewise.study.storage.base import Storage, StudyInfo, open_storage


def studies(storage: str | Storage) -> list[StudyInfo]:
    """Every study in a storage, by name: its direction, how many trials are in each state, and its best value.

    storage: its URL, such as "sqlite:///study.db", or a `Storage`. One that is not there is a StorageError, and is not
        made.

    >>> studies("sqlite:///:memory:")
    []
    """
    if isinstance(storage, Storage):
        return storage.studies()
    with open_storage(storage, create=False) as opened:
        return opened.studies()
