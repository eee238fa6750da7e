"""What `likewise why` does: look up a run, or a trial, in the journal beside the table or in a storage."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from likewise.campaign.columns import Aims
from likewise.campaign.journal import Journal, history
from likewise.campaign.text import expectation, percent, shown
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.cli.work.session import Session, words
from likewise.cli.work.stored import open_existing, read_existing
from likewise.errors import UsageError
from likewise.study.goals import Limits
from likewise.study.trial import VALUE, Outcome, Trial

LISTED = 8
# A line of a table of results: the weight, the value, the object, and where it stands; of runs also what it speaks for.
Cells = tuple[str, ...]


def why(run: str, file: Path | None, storage: str | None, study: str, console: Console) -> Reply:
    """The grounds of a run of a table, or of a trial of a stored study."""
    if storage is not None:
        return _of_trial(run, storage, study)
    table = Session.of(file, console).table
    journal = Journal.of(table)
    suggestion = journal.suggestions.get(run)
    if suggestion is None:
        raise UsageError(_unknown(run, table, journal))
    lines = history(journal, run)
    rounds = [line for line in journal.of_kind("round") if run in line.get("runs", [])]
    round = rounds[-1] if rounds else {}
    results = [line for line in lines if line.get("kind") == "result"]
    return Reply(
        lambda: {"file": str(table), "suggestion": suggestion, "round": round, "results": results},
        lambda: _say(run, suggestion, round, results),
    )


def _of_trial(number: str, url: str, name: str) -> Reply:
    """The same of a trial of a stored study, from what was stored with it."""
    with open_existing(url) as storage:
        trials = {str(trial.id): trial for trial in read_existing(storage, name, url).ledger.trials}
    trial = trials.get(number)
    if trial is None:
        raise UsageError(f"Study {name!r} has no trial {number!r}; its trials are 0 to {len(trials) - 1}.")
    said = dict(trial.summary)
    data = {"trial": trial.id, "object": trial.object, "state": trial.state.value, "value": trial.value}
    if trial.outcomes and VALUE not in trial.outcomes:
        data["outcomes"] = {name: outcome.to_dict() for name, outcome in trial.outcomes.items()}
    return Reply(
        lambda: {"study": name, **data, "said": said},
        lambda: _say_trial(trial, said, trials),
    )


def _say_trial(trial: Trial, said: dict[str, Any], trials: Mapping[str, Trial]) -> None:
    say(f"Trial {trial.id}: {shown(trial.object)}, {trial.state.value} {_measured(trial)}".rstrip() + ".")
    if "outcomes" in said:
        because = {name: _trials(trials, weights, name) for name, weights in said.get("because", {}).items()}
        _say_outcomes(said, because, "object", "trial")
    elif "mean" not in said:
        say("It was told without being asked for, or chosen to be unlike what was tried before.")
    else:
        expected = expectation(said["mean"], said.get("low"), said.get("high"))
        say(f"Expected {expected}, with a chance of {percent(said.get('chance'))} to beat the best, because of:")
        say_table(("weight", "value", "object", "trial"), _trials(trials, said.get("because", {})), right=(0, 1, 3))
    if "seed" in said:
        say(f"Made by likewise {said['likewise']}, seed {said['seed']}.")


def _trials(trials: Mapping[str, Trial], because: Mapping[str, float], outcome: str | None = None) -> list[Cells]:
    """The trials behind a prediction, with their influence and what was measured."""
    cited = [(trials[id], influence) for id, influence in because.items() if id in trials]
    return [(f"{weight:+.2f}", _measured(t, outcome), shown(t.object), str(t.id)) for t, weight in cited]


def _measured(trial: Trial, outcome: str | None = None) -> str:
    """What was told, as text: a value, a limit, or outcomes by name; or one of these alone."""
    texts = {name: str(measured) for name, measured in trial.outcomes.items()}
    if outcome is not None:
        return texts.get(outcome, "")
    return ", ".join(text if name == VALUE else f"{name} {text}" for name, text in texts.items())


def _text(result: Mapping[str, Any]) -> str:
    """The value of a line of the journal, with its sign where it is only a limit."""
    return str(Outcome(result["value"], limit=result.get("limit")))


def _told(line: Mapping[str, Any], first: str) -> str:
    """A result as it was told; those of several outcomes by name."""
    value = line.get("said") or (f"{line['value']:.6g}" if line.get("value") is not None else "")
    parts = [f"{first} {value}".strip()] if value else []
    return ", ".join([*parts, *(f"{name} {text}" for name, text in line.get("outcomes", {}).items())])


def _unknown(run: str, table: Path, journal: Journal) -> str:
    if not journal.suggestions:
        return f"There is no journal {journal.path}, so nothing is known of run {run!r}. `suggest --out` begins one."
    runs = list(journal.suggestions)
    more = f" and {len(runs) - LISTED} more" if len(runs) > LISTED else ""
    return f"{table} has no run {run!r}; its runs are {', '.join(runs[-LISTED:])}{more}."


def _aim(round: dict[str, Any]) -> str:
    if "objectives" not in round:
        return f"the {'smallest' if round['direction'] == 'minimize' else 'largest'}"
    limits = {name: Limits(-inf if a is None else a, inf if b is None else b) for name, (a, b) in _limits(round)}
    return Aims(round["objectives"], limits).text


def _limits(round: dict[str, Any]) -> Any:
    return round.get("constraints", {}).items()


def _say_outcomes(said: Mapping[str, Any], because: Mapping[str, Sequence[Cells]], *columns: str) -> None:
    """What was expected of several outcomes, and because of which results, whose last cells are in these columns."""
    for name, prediction in said["outcomes"].items():
        say(f"Expected {name} {expectation(prediction['mean'], prediction['low'], prediction['high'])}, because of:")
        say_table(("weight", name, *columns), because.get(name, [])[:LISTED], right=(0, 1, len(columns) + 1))
    feasible = said.get("feasible", said.get("chance_feasible"))
    feasible_text = f", and of {percent(feasible)} to keep the limits" if feasible is not None else ""
    say(f"Chance of {percent(said['chance'])} to be among the best{feasible_text}.")


def _results(because: Sequence[Mapping[str, Any]]) -> list[Cells]:
    """The results behind a prediction, as the journal has them; which side they are on it has not always noted."""
    return [
        (f"{a['influence']:+.2f}", _text(a), a.get("speaks", ""), shown(a["object"]), str(a["row"] or ""))
        for a in because
    ]


def _say(run: str, suggestion: dict[str, Any], round: dict[str, Any], results: Sequence[dict[str, Any]]) -> None:
    say(f"{run}, number {suggestion['rank']} of round {suggestion['round']}: {shown(suggestion['object'])}")
    if suggestion.get("outcomes"):
        analogues = {name: _results(part) for name, part in suggestion["because"].items()}
        _say_outcomes(suggestion, analogues, "speaks", "object", "row then")
    elif suggestion.get("mean") is None:
        say("It was chosen to be unlike what was tried before: too little was measured to predict anything.")
    else:
        expected = expectation(suggestion["mean"], suggestion["low"], suggestion["high"])
        say(f"Expected {expected}, with a chance of {percent(suggestion['chance'])} to beat the best, because of:")
        say_table(("weight", "value", "speaks", "object", "row then"), _results(suggestion["because"]), right=(0, 1, 4))
    best = round.get("best")
    if best is not None:
        say(f"The best of {round['measured']} measured rows was {shown(best['object'])} with {_text(best)}.")
    shares = [f"{s['name']} {percent(s['weight'])}" for s in round.get("similarities", [])]
    if shares:
        say(f"Similarities: {', '.join(shares)}.")
    if round.get("verdict"):
        say(f"Verdict then: {round['verdict']}")
    if round:
        asked = shlex.join(words(round.get("options", {})))
        say(
            f"Made on {round['time']} by likewise {round['likewise']}, seed {round['seed']}, data {round['data']}, "
            f"looking for {_aim(round)}. Options: {asked or 'none'}."
        )
    for line in results:
        say(f"Told on {line['time']}: {_told(line, next(iter(round.get('objectives', {})), ''))}.")
    if not results:
        say("No result was told yet.")
