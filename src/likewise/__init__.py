"""Bayesian optimisation over anything you can compare.

Public names load when they are first used (PEP 562), so that importing the package stays cheap. Their one list is
`__init__.pyi`, which type checkers read too: one line `from home import Name as Name` for each.
"""

# Nothing that Python has not loaded by itself: `python -m likewise` is here before it leaves the working directory out.
from importlib import import_module

__version__ = "0.2.0"


def _homes() -> dict[str, str]:
    """The module that each public name is at home in."""
    stub = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode()
    imports = (line.split() for line in stub.splitlines() if line.startswith("from likewise."))
    return {words[3]: words[1] for words in imports if "as" in words}


HOMES = _homes()

__all__ = ["__version__", *sorted(HOMES)]


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    value = getattr(import_module(HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
