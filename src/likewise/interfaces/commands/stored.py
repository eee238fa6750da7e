"""`likewise studies` and `likewise export`: studies that are kept in a database."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.interfaces.commands.options import Debug, Json
from likewise.interfaces.complaints import UsageError
from likewise.interfaces.console import say, say_json, say_table

if TYPE_CHECKING:
    from likewise.study.storage import Storage

Url = Annotated[str, typer.Argument(metavar="URL", help="sqlite:///study.db, postgresql://…, or a SQLite file.")]


def studies(url: Url, as_json: Json = False, debug: Debug = False) -> None:
    """List the studies of a storage."""
    with _opened(url) as storage:
        found = storage.studies()
    if as_json:
        listed = [
            {
                "name": info.name,
                "direction": info.direction,
                "trials": {str(state): count for state, count in info.counts.items()},
                "best": info.best,
                "created": info.created,
                "updated": info.updated,
            }
            for info in found
        ]
        say_json("studies", {"url": url, "studies": listed})
        return
    if not found:
        say(f"There are no studies in {url}.")
        return
    rows = [
        (
            info.name,
            info.direction,
            "" if info.best is None else f"{info.best:.6g}",
            ", ".join(f"{count} {state}" for state, count in info.counts.items() if count),
            datetime.fromtimestamp(info.updated).astimezone().strftime("%Y-%m-%d %H:%M"),
        )
        for info in found
    ]
    say_table(("study", "direction", "best", "trials", "last change"), rows, right=(2,))


def export(
    url: Url,
    name: Annotated[str, typer.Argument(help="The study's name.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="A .csv, .parquet or .json file; NAME.csv if left out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there already.")] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write all trials of a stored study to a table."""
    from likewise.study.tables import SUFFIXES
    from likewise.study.tables import export as write

    target = out or Path(f"{name}.csv")
    if target.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--out {target} ends in {target.suffix!r}; it can end in {', '.join(SUFFIXES)}.")
    if target.exists() and not force:
        raise UsageError(f"{target} is there already; give another name with --out, or --force to replace it.")
    with _opened(url) as storage:
        rows = _rows(storage, name, url)
    write(rows, target)
    if as_json:
        say_json("export", {"study": name, "trials": len(rows), "file": str(target)})
    else:
        say(f"{target}: {len(rows)} trials of study {name!r}.")


def _opened(url: str) -> Storage:
    from likewise.study.storage import open_storage

    if "://" not in url:
        path = Path(url)
        if not path.exists():
            raise UsageError(f"there is no file {url}; give a SQLite file, sqlite:///PATH or postgresql://….")
        return open_storage(f"sqlite:///{path.resolve()}")
    scheme, _, rest = url.partition(":///")
    # Opening a file that is not there would make it.
    if scheme.startswith("sqlite") and rest and rest != ":memory:" and not Path(rest).exists():
        raise UsageError(f"there is no file {rest}, so {url} holds no studies; check the path.")
    return open_storage(url)


def _rows(storage: Storage, name: str, url: str) -> list[Any]:
    names = [info.name for info in storage.studies()]
    if name not in names:
        there = ", ".join(map(repr, names)) or "none"
        raise UsageError(f"there is no study {name!r} in {url}; there are {there}.")
    # With the settings it was made with, whatever they are: nothing is asked of it, so they need not be known.
    return storage._open(name, {}).since(0)[0]
