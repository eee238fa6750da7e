"""`likewise check`: the rows of a storage that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from likewise.cli.commands.stored import Url, open_existing
from likewise.cli.console import say, say_table
from likewise.cli.parameters import Reply
from likewise.study.storage.address import without_password
from likewise.study.storage.base import BadRow


def check(
    url: Url,
    set_aside: Annotated[
        bool,
        typer.Option("--set-aside", help="Move bad trials to the table likewise_aside, and mend counts."),
    ] = False,
) -> Reply:
    """List the stored rows that cannot be used, with study, trial and field; nothing is ever deleted."""
    shown = without_password(url)
    with open_existing(url) as storage:
        moved = storage.set_aside() if set_aside else []
        found = storage.check()

    def in_words() -> None:
        _list(moved, "set aside or mended; the table likewise_aside keeps what was there")
        _list(found, "which cannot be used")
        if not found:
            say(f"Every row of {shown} can be used.")

    data = {"url": shown, "bad": [*map(asdict, found)], "set_aside": [*map(asdict, moved)]}
    return Reply(lambda: data, in_words)


def _list(rows: Sequence[BadRow], what: str) -> None:
    if rows:
        say(f"{len(rows)} rows, {what}:")
        cells = [(row.study, "" if row.id is None else str(row.id), row.field, row.reason) for row in rows]
        say_table(("study", "trial", "field", "what it holds"), cells)
