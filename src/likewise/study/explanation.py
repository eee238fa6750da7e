"""What is expected of an object and which observations say so; what to settle for, and what is still to be gained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from likewise.acquisition.acquisitions import Mean
from likewise.acquisition.scorer import Scorer, draw_values
from likewise.model.committee import Committee
from likewise.model.prediction import Prediction
from likewise.model.scores import ObjectScores
from likewise.search.base import SearchState
from likewise.search.choose import choose_search
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.base import Generator, Space
from likewise.spaces.codec import copied
from likewise.study.goals import Goals
from likewise.study.methods.base import AllBeliefs, Beliefs, Proposal, Told
from likewise.study.methods.committee import JointGoals
from likewise.study.observations import average_replicates, best_of
from likewise.study.trial import VALUE, Analogue, Expected, Suggestion, Trial
from likewise.tables.cells import brief

# What is expected of an object, and which observations say so.

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
    comparison = ObjectScores(objects)
    answers = {name: _one_outcome(comparison, belief, trials(name), name, goals) for name, belief in beliefs.items()}
    if not goals.named:
        numbers, explained = answers[VALUE]
        fields = [{name: row[i] for name, row in numbers} | {"analogues": explained[i]} for i in range(len(objects))]
    else:
        fields = _several(comparison, beliefs, told, answers, goals)
    return [Suggestion(-1, x, notes=proposal.notes[i], **fields[i]) for i, x in enumerate(objects)]


_Explained = tuple[list[tuple[str, Any]], list[tuple[Analogue, ...]]]


def _one_outcome(
    comparison: ObjectScores, beliefs: Beliefs, trials: Sequence[Trial], outcome: str, goals: Goals
) -> _Explained:
    """What is expected of one outcome, over the best of its values so far, and its analogues."""
    sign, conditioned = goals.sign(outcome), [trials[i] for i in beliefs.conditioned.tolist()]
    feasible = [trial for trial in conditioned if goals.feasible(trial.outcomes)] if goals.constraints else []
    best = sign * best_of(feasible or conditioned, sign, outcome).outcomes[outcome].value
    believed, influence = beliefs.committee.explain(comparison)
    numbers = _numbers(believed, best, sign)
    if len({trial.outcomes[outcome].value for trial in conditioned}) == 1:
        numbers = [(name, [None] * len(comparison.objects) if name == "chance" else row) for name, row in numbers]
    return numbers, _analogues(influence, conditioned, ANALOGUES, outcome)


def _several(
    comparison: ObjectScores, beliefs: AllBeliefs, told: Told, each: Mapping[str, _Explained], goals: Goals
) -> list[dict[str, Any]]:
    """What suggestions say of named outcomes."""
    joint = JointGoals(goals).judge(beliefs, told, comparison)
    fields = []
    for i in range(len(comparison.objects)):
        numbers = {name: {what: row[i] for what, row in found} for name, (found, _) in each.items()}
        expected = {
            name: Expected(*(mine[what] for what in ("mean", "std", "low", "high"))) for name, mine in numbers.items()
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
    shares = {name: _shares(belief.committee) for name, belief in (beliefs or {}).items()}
    return {**numbers, **suggestion.notes, **({"similarities": shares.get(VALUE, shares)} if shares else {})}


def _shares(committee: Committee) -> dict[str, float]:
    shares: dict[str, float] = {}
    for similarity, share in zip(committee.similarities, committee.similarity_weights().tolist(), strict=True):
        twins = sum(name.split(" #")[0] == similarity.name for name in shares)
        shares[f"{similarity.name} #{twins + 1}" if twins else similarity.name] = round(share, 6)
    return shares


# What a study would settle for: the objects of which most is expected, measured ones or any of the space.
#
# The best observation may be the luckiest one; the largest expected value is what all observations together say.


@dataclass(frozen=True)
class Recommendation:
    """An object of which much is expected.

    `mean` and `std` are what is expected of its true value, `low` and `high` the ends of the 95 % interval. `value` is
    what was measured, the mean of its replicates, and None for an object that was not.

    object: an object of the study's space.
    """

    object: Any
    mean: float
    std: float
    low: float
    high: float
    value: float | None = None

    def __repr__(self) -> str:
        return f"Recommendation({self})"

    def __str__(self) -> str:
        measured = "not measured" if self.value is None else f"measured {self.value:.4g}"
        return f"{brief(self.object)}: expect {self.mean:.4g} ({self.low:.4g} to {self.high:.4g}), {measured}"


def recommend(
    n: int, committee: Committee, told: Sequence[Trial], sign: float, elsewhere: Sequence[Any] = ()
) -> list[Recommendation]:
    """The `n` objects with the largest expected value, of the measured ones and of those elsewhere."""
    measured = average_replicates(told)
    objects = [*(trial.object for trial in measured), *elsewhere]
    believed = committee.predict(objects)
    users = believed if sign > 0 else believed.negate()
    low, high = users.interval(LEVEL)
    values = [*(trial.value for trial in measured), *(None for _ in elsewhere)]
    # Of equal ones what is measured comes first.
    best = np.argsort(-believed.mean, kind="stable")[:n].tolist()
    mean, std, start, end = (row.tolist() for row in (users.mean, users.std, low, high))
    return [Recommendation(copied(objects[i]), mean[i], std[i], start[i], end[i], values[i]) for i in best]


def expected_best(
    n: int, space: Space, committee: Committee, told: Sequence[Trial], failed: Sequence[Any], rng: Generator
) -> list[Any]:
    """Objects of the space that were not measured, at the peaks of the mean, highest first."""
    search = choose_search(space, differentiable=committee.differentiable).thorough()
    taken = space.excluded | {space.key(x) for x in [*failed, *(trial.object for trial in told)]}
    observed = [told[i].object for i in np.argsort(-_means(committee, told), kind="stable").tolist()]
    state = SearchState(space, observed, taken, rng)
    best = search.equilibria(Scorer.on(committee, Mean()), state)
    return best.objects[:n]


def _means(committee: Committee, told: Sequence[Trial]) -> Vector:
    return committee.predict([trial.object for trial in told]).mean


# What is still to be gained: by how much the next suggestions may beat the best observation, and how likely.

DRAWS = 2000


@dataclass(frozen=True)
class Gain:
    """What is expected of the next suggestions together, over the best observation so far.

    expected: E[max(0, best of them − best so far)], the mean improvement, in the units of the values; true values are
        meant, without the noise of a measurement. None while suggestions explore, as too little is measured.
    chance: the probability that at least one of them beats the best observation; None while they explore, and where
        all values are the same.
    n: how many suggestions that is.

    With several objectives or constraints `expected` and `chance` are those of the best single suggestion (its growth
    of the front, its chance to enter it), which the others can only add to.
    """

    expected: float | None
    chance: float | None
    n: int


def single_gain(found: Sequence[Suggestion]) -> Gain:
    """What the best of the suggestions promises alone: the least that all promise together."""
    if not found:
        return Gain(0.0, 0.0, 0)
    gains = [s.improvement for s in found if s.improvement is not None]
    chances = [s.chance for s in found if s.chance is not None]
    return Gain(max(gains, default=None), max(chances, default=None), len(found))


def joint_gain(found: Sequence[Suggestion], committee: Committee, best: float, seed: int) -> Gain:
    """What the suggestions promise together, by joint draws of the committee; `best` and its values are signed.

    The mean of the maximum lies between the largest of the suggestions' own and their sum, and so does the chance.
    Those are exact, so that draws decide only what lies between.
    """
    alone = single_gain(found)
    assert alone.expected is not None
    draws = draw_values(committee, [s.object for s in found], DRAWS, np.random.default_rng([seed, len(found)]))
    above = np.max(draws, axis=1) - best
    gains, chances = [s.improvement or 0.0 for s in found], [s.chance or 0.0 for s in found]
    expected = float(np.clip(np.mean(np.maximum(above, 0.0)), alone.expected, sum(gains)))
    if alone.chance is None:
        return Gain(expected, None, len(found))
    return Gain(expected, float(np.clip(np.mean(above > 0), alone.chance, min(1.0, sum(chances)))), len(found))
