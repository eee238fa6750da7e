"""What is expected of an object, and which observations say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from likewise.model.committee import Committee
from likewise.model.comparison import Comparison
from likewise.model.prediction import Prediction
from likewise.similarity.base import Matrix
from likewise.spaces.codec.copies import copied
from likewise.study.goals import VALUE, Goals
from likewise.study.methods.base import AllBeliefs, Beliefs, Proposal, Told
from likewise.study.methods.outcomes import JointGoals
from likewise.study.observations import best_of
from likewise.study.suggestion import Analogue, Expected, Suggestion
from likewise.study.trial import Trial

ANALOGUES = 5
LEVEL = 0.95
NUMBERS = ("mean", "std", "chance", "improvement", "low", "high")


def suggestions(
    proposal: Proposal, told: Told, trials: Callable[[str], Sequence[Trial]], goals: Goals
) -> list[Suggestion]:
    """Suggestions without ids: numbers on the user's scale, and analogues.

    Objects that were chosen because they are unlike the others have neither: no model speaks for them. Where all values
    are the same, there is no chance to beat the best that the data would know of. The committees' values are signed:
    larger ones are better. `trials` are those behind an outcome's observations.
    """
    objects, beliefs = proposal.objects, proposal.beliefs
    if not beliefs or not objects or any(notes.get("stage") == "initial" for notes in proposal.notes):
        return [Suggestion(-1, x, notes=notes) for x, notes in zip(objects, proposal.notes, strict=True)]
    comparison = Comparison(objects)
    each = {name: _one_outcome(comparison, one, trials(name), name, goals) for name, one in beliefs.items()}
    if not goals.named:
        numbers, explained = each[VALUE]
        fields = [{name: row[i] for name, row in numbers} | {"analogues": explained[i]} for i in range(len(objects))]
    else:
        fields = _several(comparison, beliefs, told, each, goals)
    return [Suggestion(-1, x, notes=proposal.notes[i], **fields[i]) for i, x in enumerate(objects)]


_Explained = tuple[list[tuple[str, Any]], list[tuple[Analogue, ...]]]


def _one_outcome(
    comparison: Comparison, beliefs: Beliefs, trials: Sequence[Trial], outcome: str, goals: Goals
) -> _Explained:
    """What is expected of one outcome, over the best of its values so far, and its analogues."""
    sign, conditioned = goals.sign(outcome), [trials[i] for i in beliefs.conditioned.tolist()]
    kept = [trial for trial in conditioned if goals.feasible(trial.outcomes)] if goals.constraints else []
    best = sign * best_of(kept or conditioned, sign, outcome).outcomes[outcome].value
    believed, influence = beliefs.committee.explain(comparison)
    numbers = _numbers(believed, best, sign)
    if len({trial.outcomes[outcome].value for trial in conditioned}) == 1:
        numbers = [(name, [None] * len(comparison.objects) if name == "chance" else row) for name, row in numbers]
    return numbers, _analogues(influence, conditioned, ANALOGUES, outcome)


def _several(
    comparison: Comparison, beliefs: AllBeliefs, told: Told, each: Mapping[str, _Explained], goals: Goals
) -> list[dict[str, Any]]:
    """What suggestions say of named outcomes."""
    joint = JointGoals(goals).judge(beliefs, told, comparison)
    fields = []
    for i in range(len(comparison.objects)):
        numbers = {name: {what: row[i] for what, row in found} for name, (found, _) in each.items()}
        expected = {
            name: Expected(*(own[what] for what in ("mean", "std", "low", "high"))) for name, own in numbers.items()
        }
        ordered = {name: expected[name] for name in goals.named_outcomes if name in expected}
        kept: dict[str, Any] = {"outcomes": ordered, "analogues": {name: each[name][1][i] for name in ordered}}
        if goals.objective in numbers:
            kept |= numbers[goals.objective]
        if goals.single:
            kept["analogues"] = {goals.objective: each[str(goals.objective)][1][i]}
        elif goals.objective is not None:
            kept |= {"chance": float(joint.chance[i])}
            kept["improvement"] = kept.get("improvement", 0.0) * float(joint.feasible[i])
        else:
            kept |= {"chance": float(joint.chance[i]), "improvement": float(joint.gain[i])}
        # Of what was never measured nobody knows.
        if any(name in beliefs for name in goals.constraints):
            kept["chance_feasible"] = float(joint.feasible[i])
        fields.append(kept)
    return fields


def _numbers(believed: Prediction, best: float, sign: float) -> list[tuple[str, Any]]:
    """What a suggestion says in numbers, by name, one for each object; values of the user are `sign` times these."""
    users = believed if sign > 0 else believed.negate()
    low, high = users.interval(LEVEL)
    chance = users.mixture.beyond(sign * best)
    found = (users.mean, users.std, chance, users.mixture.gain(sign * best), low, high)
    return [(name, row.tolist()) for name, row in zip(NUMBERS, found, strict=True)]


def analogues(x: Any, beliefs: Beliefs, told: Sequence[Trial], most: int, outcome: str = VALUE) -> tuple[Analogue, ...]:
    """The observations with the most influence on the mean of an object, signed; the strongest first."""
    conditioned = [told[i] for i in beliefs.conditioned.tolist()]
    return _analogues(beliefs.committee.influence([x]), conditioned, most, outcome)[0]


def _analogues(influence: Matrix, conditioned: Sequence[Trial], most: int, outcome: str) -> list[tuple[Analogue, ...]]:
    return [
        tuple(
            Analogue(
                copied(conditioned[i].object),
                conditioned[i].outcomes[outcome].value,
                float(row[i]),
                conditioned[i].outcomes[outcome].limit,
            )
            for i in np.argsort(-np.abs(row), kind="stable")[:most].tolist()
        )
        for row in influence
    ]


def summary(suggestion: Suggestion, beliefs: AllBeliefs | None) -> dict[str, Any]:
    """What is stored with a suggestion: its numbers, its notes, and how much each similarity counted."""
    numbers = {name: getattr(suggestion, name) for name in NUMBERS if getattr(suggestion, name) is not None}
    if suggestion.outcomes:
        numbers["outcomes"] = {name: asdict(expected) for name, expected in suggestion.outcomes.items()}
    if suggestion.chance_feasible is not None:
        numbers["chance_feasible"] = suggestion.chance_feasible
    shares = {name: _shares(one.committee) for name, one in (beliefs or {}).items()}
    return {**numbers, **suggestion.notes, **({"similarities": shares.get(VALUE, shares)} if shares else {})}


def _shares(committee: Committee) -> dict[str, float]:
    shares: dict[str, float] = {}
    for similarity, share in zip(committee.similarities, committee.similarity_weights().tolist(), strict=True):
        twins = sum(name.split(" #")[0] == similarity.name for name in shares)
        shares[f"{similarity.name} #{twins + 1}" if twins else similarity.name] = round(share, 6)
    return shares
