"""How the command line sets what an error says can be set: errors below it know no options."""

from __future__ import annotations

import shlex

from likewise.errors import LikewiseError

HINTS = {
    "skip_bad": "Use --skip-bad to leave such rows out.",
    "decimal": "Use --decimal . or --decimal , to say which it is.",
    "text": "Use --text {} to compare the column as text.",
    "objects": "Use --object NAME, once for each column that describes an object.",
    "value": "Use --value NAME.",
    "std": 'Use --std {}, once for each (in likewise.toml: std = {{ yield = "yield_sd" }}).',
    "force": "Use --force to replace it.",
}


def with_hints(error: LikewiseError) -> str:
    """The message of an error, and the options that get past it.

    >>> with_hints(LikewiseError("Row 3 has too many cells.", settings={"skip_bad": ""}))
    'Row 3 has too many cells. Use --skip-bad to leave such rows out.'
    """
    return " ".join([str(error), *(HINTS[name].format(shlex.quote(value)) for name, value in error.settings.items())])
