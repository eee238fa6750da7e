"""The time as the database has it: workers on several machines have clocks of their own, the database has one."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class clock(FunctionElement[float]):
    """The database's clock in seconds since the epoch, when it is evaluated, not when the transaction began."""

    type = sa.Double()
    inherit_cache = True


# Evaluated once for a statement, so that an index can be searched for it.
now = sa.select(clock()).scalar_subquery()


@compiles(clock, "sqlite")
def _sqlite(element: clock, compiler: Any, **options: Any) -> str:
    # To a millisecond. SQLite before 3.42 has no fractions of seconds since the epoch.
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(clock, "postgresql")
def _postgresql(element: clock, compiler: Any, **options: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
