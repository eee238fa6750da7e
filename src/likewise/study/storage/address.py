"""Storage URLs as they may be shown: with whatever is a password in them hidden."""

from __future__ import annotations

import re

from likewise.study.storage.base import Storage
from likewise.study.storage.memory import Memory

HIDDEN = "***"
_QUERY = re.compile(r"([?&][^=&#]*password[^=&#]*=)[^&#]*", re.IGNORECASE)


def without_password(url: str) -> str:
    """The URL with its password hidden, even if it holds signs that should have been escaped.

    >>> without_password("postgresql://me:a:b/c@d@host/db?sslpassword=e&x=1")
    'postgresql://me:***@host/db?sslpassword=***&x=1'
    """
    scheme, sign, rest = url.partition("://")
    if not sign or scheme.startswith("sqlite"):
        return url
    # Up to the last @, as a password may hold some: rather too much is hidden than too little.
    user, at, place = _QUERY.sub(rf"\1{HIDDEN}", rest).rpartition("@")
    name, colon, _ = user.partition(":")
    return f"{scheme}://{name}:{HIDDEN}@{place}" if colon else f"{scheme}://{user}{at}{place}"


def shown(storage: str | Storage | None) -> str | None:
    """Where a study is kept, without a password; None for in memory."""
    if storage is None or isinstance(storage, Memory):
        return None
    return without_password(storage) if isinstance(storage, str) else repr(storage)
