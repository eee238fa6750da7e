"""`likewise similarities` and `likewise spaces`: what there is, with a line about each."""

from __future__ import annotations

from likewise.cli import work
from likewise.cli.parameters import Reply


def similarities() -> Reply:
    """List the similarities that --similarity knows by name."""
    return work.lists.similarities()


def spaces() -> Reply:
    """List the spaces that --space can describe: where candidates come from that are not in a file."""
    return work.lists.spaces()
