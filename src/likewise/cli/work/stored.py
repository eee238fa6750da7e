"""What `likewise studies`, `likewise export` and `likewise check` do with studies that are kept in a database."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from likewise.campaign.outputs import check_targets
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.errors import StorageWarning, UsageError
from likewise.study.frames import SUFFIXES
from likewise.study.frames import export as write_trials
from likewise.study.log import Log, StudyInfo, read_log
from likewise.study.log import studies as stored_studies
from likewise.study.storage.base import Storage, open_storage
from likewise.study.storage.database import NoStorage
from likewise.study.storage.memory import without_password


def studies(url: str) -> Reply:
    """The studies of a storage."""
    shown = without_password(url)
    with open_existing(url) as storage:
        infos = stored_studies(storage)

    def in_words() -> None:
        if infos:
            say_table(("study", "direction", "best", "trials", "last change"), map(_cells, infos), right=(2,))
        else:
            say(f"There are no studies in {shown}.")

    return Reply(lambda: {"url": shown, "studies": [*map(_data, infos)]}, in_words)


def _data(info: StudyInfo) -> dict[str, Any]:
    fields = asdict(info)
    trials = {str(state): count for state, count in fields.pop("counts").items()}
    return {"name": fields.pop("name"), "direction": fields.pop("direction"), "trials": trials, **fields}


def _cells(info: StudyInfo) -> tuple[str, ...]:
    best = "" if info.best is None else f"{info.best:.6g}"
    trials = ", ".join(f"{count} {state}" for state, count in info.counts.items() if count)
    changed = datetime.fromtimestamp(info.updated).astimezone().strftime("%Y-%m-%d %H:%M")
    return info.name, info.direction, best, trials, changed


def export(url: str, name: str, out: Path | None, force: bool) -> Reply:
    """The trials of a stored study in a table."""
    target = out or Path(f"{name}.csv")
    if out is None and target.name != f"{name}.csv":
        raise UsageError(f"the study's name {name!r} is no name of a file; say with --out where to write it.")
    if target.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--out {target} ends in {target.suffix!r}; it can end in {', '.join(SUFFIXES)}.")
    if target.exists() and not force:
        raise UsageError(f"{target} exists already; give another name with --out, or --force to replace it.")
    check_targets({"--out": target}, {"the storage": _file(url)})
    with open_existing(url) as storage:
        rows = read_existing(storage, name, url).ledger.trials
    write_trials(rows, target)
    return Reply(
        lambda: {"study": name, "trials": len(rows), "file": str(target)},
        lambda: say(f"{target}: {len(rows)} trials of study {name!r}."),
    )


def read_existing(storage: Storage, name: str, url: str) -> Log:
    """The log of a stored study, with objects as JSON data; a UsageError where there is none of that name."""
    names = storage.names()
    if name not in names:
        there = ", ".join(map(repr, names)) or "none"
        raise UsageError(f"There is no study {name!r} in {without_password(url)}; there are {there}.")
    with _noting():
        return read_log(storage, name)


def check(url: str) -> Reply:
    """The stored events that cannot be used."""
    shown = without_password(url)
    with open_existing(url) as storage, warnings.catch_warnings():
        warnings.simplefilter("ignore", StorageWarning)
        bad = [complaint for name in storage.names() for complaint in read_log(storage, name).complaints]

    def in_words() -> None:
        if bad:
            say(f"{len(bad)} events cannot be used, and are passed over:")
            say_table(("study", "event", "why"), [(event.study, str(event.revision), event.reason) for event in bad])
        else:
            say(f"Every event of {shown} can be used.")

    return Reply(lambda: {"url": shown, "bad": [*map(asdict, bad)]}, in_words)


@contextmanager
def _noting() -> Iterator[None]:
    """Says on stderr which stored rows were left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StorageWarning)
        yield
    for warning in caught:
        Console().note(str(warning.message))


def open_existing(url: str) -> Storage:
    """The storage at a URL, which exists already."""
    file = _file(url)
    try:
        return open_storage(url if file is None or "://" in url else f"sqlite:///{file.resolve()}", create=False)
    except NoStorage as error:
        raise UsageError(f"{error}.") from None


def _file(url: str) -> Path | None:
    """The file of a storage; None of a server."""
    scheme, sign, rest = url.partition("://")
    if not sign:
        return Path(url)
    return Path(rest.removeprefix("/")) if scheme.startswith("sqlite") else None
