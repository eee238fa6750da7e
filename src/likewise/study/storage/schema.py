"""The tables of stored studies, their version, and how older ones are brought up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from likewise.errors import StorageError
from likewise.study.storage.database import Database
from likewise.study.storage.rows import STUDY, TRIAL, Field

VERSION = 3
# MIGRATIONS[n] are the statements that turn schema n into n + 1.
MIGRATIONS: Mapping[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE likewise_trials ADD COLUMN outcomes TEXT",
        "ALTER TABLE likewise_trials ADD COLUMN notes TEXT",
    ),
    2: ("ALTER TABLE likewise_trials ADD COLUMN corrections TEXT",),
}

metadata = sa.MetaData()


def _columns(fields: Mapping[str, Field], first: str) -> list[sa.Column[Any]]:
    """The columns of these fields, from the first that has no more to it than its field says."""
    names = list(fields)
    return [sa.Column(name, fields[name].type, nullable=fields[name].optional) for name in names[names.index(first) :]]


meta = sa.Table(
    "likewise_meta",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

studies = sa.Table(
    "likewise_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    *_columns(STUDY, "settings"),
    # The number of a deleted study is never given to another, lest a worker that has it open writes there.
    sqlite_autoincrement=True,
)

trials = sa.Table(
    "likewise_trials",
    metadata,
    sa.Column("study", sa.ForeignKey(studies.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    *_columns(TRIAL, "key"),
    # Of the key, because PostgreSQL does not index long texts.
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("replicate", sa.Boolean, nullable=False),
)

notes = sa.Table(
    "likewise_notes",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study", sa.ForeignKey(studies.c.id, ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)

# What was set aside because it could not be used, with every field as JSON. Made when it is first needed: a storage
# without it is complete.
aside = sa.Table(
    "likewise_aside",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study", sa.Text, nullable=False),
    sa.Column("trial", sa.Text, nullable=False),
    sa.Column("moved", sa.Double, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("fields", sa.Text, nullable=False),
)

# Written out rather than bound, because SQLite uses a partial index only for a condition it can read.
asked = trials.c.state == sa.literal_column("'asked'")
held = trials.c.state != sa.literal_column("'abandoned'")
sole = sa.and_(held, trials.c.replicate.is_(sa.false()))

sa.Index("likewise_trials_revision", trials.c.study, trials.c.revision)
sa.Index("likewise_trials_held", trials.c.study, trials.c.digest, sqlite_where=held, postgresql_where=held)
sa.Index("likewise_trials_lease", trials.c.study, trials.c.lease, sqlite_where=asked, postgresql_where=asked)
sa.Index(
    "likewise_trials_sole",
    trials.c.study,
    trials.c.digest,
    unique=True,
    sqlite_where=sole,
    postgresql_where=sole,
)


stored_version = sa.select(meta.c.value).where(meta.c.name == "schema")


def prepare(database: Database, create: bool = True) -> None:
    """Create the tables, or bring them up to date; a StorageError if they are newer than this likewise.

    Without `create` a database that has no such tables is a StorageError, and is left as it is.
    """
    with database.reading() as connection:
        found = _version(connection, database.where)
    if found == VERSION:
        return
    if found is None and not create:
        kind = "a SQLite" if database.lite else "a PostgreSQL"
        raise StorageError(f"{database.where} is {kind} database, but holds no likewise studies; check the name")
    with database.writing() as connection:
        database.lock(connection)
        found = _version(connection, database.where)
        if found is None:
            metadata.create_all(connection)
            connection.execute(meta.insert(), {"name": "schema", "value": str(VERSION)})
        else:
            _migrate(connection, found, database.where)


def _version(connection: Connection, where: str) -> int | None:
    if not sa.inspect(connection).has_table(meta.name):
        return None
    return known_version(connection.execute(stored_version).scalar_one_or_none(), where)


def known_version(found: str | None, where: str) -> int:
    """The stored version as a number; a StorageError if this likewise does not know it."""
    if found is None or not found.isdecimal():
        raise StorageError(f"{where} holds no readable schema version but {found!r}; restore a copy of it")
    if int(found) > VERSION:
        raise StorageError(
            f"{where} was written by a newer likewise (schema {found}, this one knows up to {VERSION}); "
            "run: pip install --upgrade likewise"
        )
    return int(found)


def _migrate(connection: Connection, found: int, where: str) -> None:
    for version in range(found, VERSION):
        if version not in MIGRATIONS:
            raise StorageError(
                f"{where} has schema {found}, which this likewise cannot bring up to {VERSION}; "
                "export its studies with the likewise that wrote it and import them here"
            )
        for statement in MIGRATIONS[version]:
            connection.exec_driver_sql(statement)
    connection.execute(sa.update(meta).where(meta.c.name == "schema"), {"value": str(VERSION)})
