"""What the commands do. A module loads when a command is run, and not for the list of its options."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likewise.cli.work import assess as assess
    from likewise.cli.work import demo as demo
    from likewise.cli.work import explain as explain
    from likewise.cli.work import init as init
    from likewise.cli.work import lists as lists
    from likewise.cli.work import stored as stored
    from likewise.cli.work import suggest as suggest
    from likewise.cli.work import tell as tell
    from likewise.cli.work import why as why

MODULES = ("assess", "demo", "explain", "init", "lists", "stored", "suggest", "tell", "why")


def __getattr__(name: str) -> ModuleType:
    if name not in MODULES:
        raise AttributeError(f"module 'likewise.cli.work' has no attribute {name!r}")
    return import_module(f"likewise.cli.work.{name}")
