"""How commands are written: options in groups, and a reply for programs and for people.

A command takes arguments of its own and dataclasses, each of which stands for the options that are its fields. It
returns a reply; every command has the options that say how it is given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, NamedTuple

import typer

from likewise.cli.console import say_json
from likewise.model.blas import one_thread


class Reply(NamedTuple):
    """What a command answers: data for programs, and what it says to people; one of them is asked for."""

    data: Callable[[], Mapping[str, Any]]
    say: Callable[[], None]


def _debugging(context: typer.Context, value: bool) -> bool:
    if value:
        context.meta["likewise.debug"] = True
    return value


def _answering(
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON (docs/cli.md describes it).")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.", callback=_debugging, is_eager=True)
    ] = False,
) -> None:
    """The options of every command."""


def with_options(name: str, command: Callable[..., Reply]) -> Callable[..., None]:
    """The command as Typer calls it: with a parameter for each option, and a reply that is said."""
    parameters = _parameters(command)
    makers: dict[str, Any] = {p.name: p.annotation for p in parameters if is_dataclass(p.annotation)}
    groups = {group: _parameters(maker) for group, maker in makers.items()}

    def run(*, as_json: bool, debug: bool, **arguments: Any) -> None:
        for group, options in groups.items():
            arguments[group] = makers[group](**{option.name: arguments.pop(option.name) for option in options})
        # More threads make small matrices slower, also while a model is judged and drawn.
        with one_thread():
            reply = command(**arguments)
            if as_json:
                say_json(name, reply.data())
            else:
                reply.say()

    every = [option for p in parameters for option in groups.get(p.name, [p])]
    run.__signature__ = inspect.Signature([*every, *_parameters(_answering)])  # type: ignore[attr-defined]
    run.__doc__ = command.__doc__
    return run


def _parameters(taking: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(taking, eval_str=True).parameters.values())
