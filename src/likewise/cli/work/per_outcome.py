"""The same question about the one column of values, or about each of several in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from likewise.campaign.aims import limits_text
from likewise.campaign.listener import Listener
from likewise.campaign.problem import Problem
from likewise.campaign.wording import count
from likewise.cli.console import say
from likewise.errors import StudyError, UsageError
from likewise.study.goals import Goals

Answer = TypeVar("Answer")
# Answers by outcome; that of a table with one column of values stands under None.
PerOutcome = Mapping[str | None, Answer]


def ask_each(
    problem: Problem, least: int, what: str, ask: Callable[[str | None], Answer], listener: Listener
) -> PerOutcome[Answer]:
    """What `ask` says of each outcome. One that has fewer than `least` values is noted; if all have, it is an error."""
    problem.need(least, what)
    if not problem.study.goals.named:
        return {None: ask(None)}
    found: dict[str | None, Answer] = {}
    lacking: list[str] = []
    for name in problem.study.goals.named_outcomes:
        values = problem.measured_of(name)
        try:
            if values < least:
                raise StudyError(f"{count(values, 'value')}, and {what} needs at least {least}")
            found[name] = ask(name)
        except StudyError as error:
            lacking.append(f"{name}: {error}")
    if not found:
        raise UsageError(f"{'; '.join(lacking)}.")
    for text in lacking:
        listener.note(text)
    return found


def answers_json(found: PerOutcome[Answer], data: Callable[[Answer], Mapping[str, Any]]) -> dict[str, Any]:
    """The answers as JSON data: that of one column as it is, those of several by name under `outcomes`."""
    if None in found:
        return dict(data(found[None]))
    return {"outcomes": {name: dict(data(each)) for name, each in found.items()}}


def say_each(found: PerOutcome[Answer], goals: Goals, tell: Callable[[str | None, Answer], None]) -> None:
    """Say the answers: that of one column as it is, those of several below headings, with a line between them."""
    for number, (name, each) in enumerate(found.items()):
        if name is not None:
            say(*([""] if number else []), heading(goals, name))
        tell(name, each)


def heading(goals: Goals, name: str) -> str:
    """An outcome, and what is wanted of it.

    >>> from likewise.study.goals import AtMost
    >>> heading(Goals({"yield": "maximize"}, {"imp": AtMost(2.0)}), "imp")
    'imp (at most 2)'
    """
    wanted = [str(goals.objectives[name])] if name in goals.objectives else []
    wanted += [limits_text(goals.constraints[name])] if name in goals.constraints else []
    return f"{name} ({', '.join(wanted)})"
