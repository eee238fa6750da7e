"""Unpacking gzip within a limit: a file of a few megabytes can hold more than any memory."""

from __future__ import annotations

import gzip
import io
import os
import zlib

LIMIT = 2.0
VARIABLE = "LIKEWISE_UNPACKED_GB"
CHUNK = 1 << 20
MARK = b"\x1f\x8b"


class TooLarge(ValueError):
    """More than may be unpacked; the message says how to allow it."""


def unpack(data: bytes) -> bytes:
    """What a gzip file holds; TooLarge beyond the limit, another ValueError where it is damaged.

    >>> unpack(gzip.compress(b"a,b"))
    b'a,b'
    """
    limit = _limit()
    unpacked = io.BytesIO()
    try:
        with gzip.open(io.BytesIO(data)) as file:
            while chunk := file.read(CHUNK):
                unpacked.write(chunk)
                if unpacked.tell() > limit * 1e9:
                    raise TooLarge(
                        f"unpacks to more than {limit:g} GB; if you trust it, set the environment variable {VARIABLE} "
                        "to a larger number, or unpack it yourself and use that file"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from None
    return unpacked.getvalue()


def _limit() -> float:
    """How many gigabytes may be unpacked."""
    text = os.environ.get(VARIABLE, "")
    try:
        limit = float(text) if text.strip() else LIMIT
    except ValueError:
        limit = -1.0
    if not limit > 0:
        raise TooLarge(f"cannot be unpacked, as {VARIABLE} is {text!r}; set it to a number of gigabytes, such as 8")
    return limit
