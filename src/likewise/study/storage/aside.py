"""Rows of a database that cannot be used: found, and kept apart in a table of their own. Nothing is deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from likewise.study.storage.base import BadRow
from likewise.study.storage.clock import clock
from likewise.study.storage.rows import is_number, study_fault, trial_fault
from likewise.study.storage.schema import aside, studies, trials
from likewise.study.storage.trials import plain

Found = tuple[BadRow, Mapping[str, Any]]
# SQLite keeps what is no truth value in a column of truth values, and the driver would refuse to read it.
_replicate = sa.type_coerce(trials.c.replicate, sa.Integer).label("replicate")
_columns = [_replicate if column is trials.c.replicate else column for column in trials.c]
_trials = sa.select(*_columns, studies.c.name.label("its_study")).join_from(
    trials, studies, trials.c.study == studies.c.id, isouter=True
)
heads = sa.select(
    studies,
    sa.select(sa.func.max(trials.c.id)).where(trials.c.study == studies.c.id).scalar_subquery().label("last"),
    sa.select(sa.func.max(trials.c.revision)).where(trials.c.study == studies.c.id).scalar_subquery().label("newest"),
)


def bad_rows(connection: Connection) -> list[BadRow]:
    """The first fault of each row that has one: of studies, then of their trials."""
    return [bad for bad, _ in [*_bad_studies(connection), *_bad_trials(connection)]]


def set_aside(connection: Connection) -> list[BadRow]:
    """Move bad trials to the table of those set aside, and mend the counters and times of bad studies; which."""
    aside.create(connection, checkfirst=True)
    moved = list(_bad_trials(connection))
    for bad, fields in moved:
        _keep(connection, bad, fields)
        its = sa.and_(trials.c.study == fields["study"], trials.c.id == fields["id"])
        connection.execute(sa.delete(trials).where(its))
    mended = list(_bad_studies(connection))
    for bad, fields in mended:
        _keep(connection, bad, fields)
        connection.execute(sa.update(studies).where(studies.c.id == fields["id"]).values(_mend(fields)))
    return [bad for bad, _ in [*mended, *moved]]


def _bad_studies(connection: Connection) -> Iterator[Found]:
    for fields in map(dict, connection.execute(heads.order_by(studies.c.id)).mappings()):
        if bad := study_fault(fields):
            yield bad, fields


def _bad_trials(connection: Connection) -> Iterator[Found]:
    for fields in map(dict, connection.execute(_trials.order_by(trials.c.study, trials.c.id)).mappings()):
        name = fields["its_study"]
        if name is None:
            yield BadRow("", fields["id"], "study", f"is {fields['study']!r}, which is no study's number"), fields
        elif bad := trial_fault(name, fields):
            yield bad, fields


def _keep(connection: Connection, bad: BadRow, fields: Mapping[str, Any]) -> None:
    row = {"study": plain(bad.study), "trial": plain(bad.id), "reason": plain(f"{bad.field} {bad.reason}")}
    # As ASCII JSON, which every database takes, whatever characters are in it; what is no text as Python writes it.
    fields_as_text = json.dumps(fields, default=repr)
    connection.execute(aside.insert().values(**row, moved=clock(), fields=fields_as_text))


def _mend(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The counters that the trials ask for, and a time where there was none."""
    times = {name: fields[name] if is_number(fields[name]) else clock() for name in ("created", "updated")}
    size = max(_whole(fields["size"]), _whole(fields["last"], -1) + 1)
    # One more than any, so that whoever has the study open reads it again.
    return times | {"size": size, "revision": max(_whole(fields["revision"]), _whole(fields["newest"])) + 1}


def _whole(content: Any, otherwise: int = 0) -> int:
    return content if isinstance(content, int) else otherwise
