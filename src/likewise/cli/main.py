"""The command line `likewise`: a table in, the next experiments out.

Exit codes: 0 for an answer, 2 for a command that does not fit (an unknown option, a missing table), 1 for the rest.
Errors are one paragraph; `--debug` shows where they come from.
"""

from __future__ import annotations

import io
import shlex
import sys
from importlib import import_module
from traceback import format_exc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from likewise import __version__
from likewise.cli.console import complain, visible
from likewise.cli.parameters import with_options
from likewise.errors import LikewiseError, UsageError

# How the command line sets what an error says can be set: errors below it know no options.

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


# The file of each command and its line in the list. The file, and all that it needs, loads when the command is used.
COMMANDS = {
    "init": ("init", "Look at a table and write the settings of a campaign."),
    "suggest": ("suggest", "Suggest what to measure next."),
    "tell": ("tell", "Merge measured results into the table."),
    "why": ("why", "Say on what grounds a run was suggested."),
    "explain": ("explain", "Predict an object, and show the measured objects behind the prediction."),
    "compare": ("assess", "Rank similarities by how well each predicts measured values."),
    "diagnose": ("assess", "Say whether the similarities explain the values."),
    "demo": ("demo", "Run the whole loop on made-up molecules."),
    "similarities": ("lists", "List the similarities."),
    "spaces": ("lists", "List the spaces."),
    "studies": ("stored", "List the studies of a storage."),
    "export": ("stored", "Write a stored study to a table."),
    "check": ("stored", "List the stored rows that cannot be used."),
}


def load(name: str) -> Any:
    """The command of this name."""
    module = import_module(f"likewise.cli.commands.{COMMANDS[name][0]}")
    alone = typer.Typer(add_completion=False)
    alone.command(name)(with_options(name, getattr(module, name)))
    return typer.main.get_command(alone)


class Listed(TyperCommand):
    """A command in the list; it loads when it is used."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return load(str(self.name)).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """The commands; whatever goes wrong in one ends as a paragraph on stderr."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.commands = {name: Listed(name, help=line) for name, (_, line) in COMMANDS.items()}

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().make_context(*args, **kwargs)
        except Exception as error:
            _clean(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except LikewiseError as error:
            if ctx.meta.get("likewise.debug"):
                raise
            _complain(with_hints(error))
            raise typer.Exit(2 if isinstance(error, UsageError) else 1) from None
        except KeyboardInterrupt:
            _complain("stopped; nothing was written that was not finished.")
            raise typer.Exit(130) from None
        except Exception as error:
            if ctx.meta.get("likewise.debug") or _handled_outside(error):
                _clean(error)
                raise
            _complain(f"something went wrong inside likewise: {type(error).__name__}: {error}; --debug shows where.")
            raise typer.Exit(1) from None


def _handled_outside(error: Exception) -> bool:
    """Whether the library that reads the command line will say it better: usage, exits, and pipes that were closed."""
    return isinstance(error, typer.Exit | typer.Abort | BrokenPipeError) or hasattr(error, "exit_code")


def _clean(error: Exception) -> None:
    """Make visible what a message of that library repeats of the command line."""
    if isinstance(message := getattr(error, "message", None), str):
        error.message = visible(message)  # type: ignore[attr-defined]


def _complain(text: str) -> None:
    complain(f"likewise: {text}")


app = typer.Typer(
    cls=Commands,
    name="likewise",
    help="The next experiments, from a table of those done: a row per object, a value where it was measured.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"likewise {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    # Where a stream was closed by the caller, what goes there is lost, and nothing else.
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        # Names of molecules and units are not ASCII everywhere; a terminal that cannot show one shows a mark instead.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app()
    except Exception:
        # With --debug; the interpreter would write it as it is, control characters of cells included.
        _complain(format_exc())
        sys.exit(1)
