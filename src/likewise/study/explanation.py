"""What is expected of an object, and which observations say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.acquisition.improvement import log_h
from likewise.model.committee import Committee
from likewise.model.prediction import Prediction
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.codec.copies import copied
from likewise.study.methods.base import Beliefs, Proposal
from likewise.study.observations import best_of, value_of
from likewise.study.suggestion import Analogue, Suggestion
from likewise.study.trial import Trial

# So many standard deviations are as good as certain, and their squares do not overflow.
CERTAIN = 1e6
ANALOGUES = 5
LEVEL = 0.95
NUMBERS = ("mean", "std", "chance", "improvement", "low", "high")


def suggestions(proposal: Proposal, told: Sequence[Trial], sign: float) -> list[Suggestion]:
    """Suggestions without ids: numbers on the user's scale, and analogues.

    The committee's values are signed: larger ones are better.
    """
    objects, beliefs = proposal.objects, proposal.beliefs
    if beliefs is None or not objects:
        return [Suggestion(-1, x, notes=notes) for x, notes in zip(objects, proposal.notes, strict=True)]
    conditioned = [told[i] for i in beliefs.conditioned.tolist()]
    best = sign * value_of(best_of(conditioned, sign))
    believed, influence = beliefs.committee.explain(objects)
    numbers = _numbers(believed, best, sign)
    explained = _analogues(influence, conditioned, ANALOGUES)
    return [
        Suggestion(-1, x, analogues=explained[i], notes=proposal.notes[i], **{name: row[i] for name, row in numbers})
        for i, x in enumerate(objects)
    ]


def _numbers(believed: Prediction, best: float, sign: float) -> list[tuple[str, Any]]:
    """What a suggestion says in numbers, by name, one for each object; values of the user are `sign` times these."""
    users = believed if sign > 0 else believed.negate()
    low, high = users.interval(LEVEL)
    chance = users.mixture.beyond(sign * best)
    found = (users.mean, users.std, chance, _improvement(believed, best), low, high)
    return [(name, row.tolist()) for name, row in zip(NUMBERS, found, strict=True)]


def _improvement(believed: Prediction, best: float) -> Vector:
    """The expected gain over the best value, which no bound allows to be larger than up to it."""
    mean, std = believed
    z = np.clip((mean - best) / np.maximum(std, 1e-300), -CERTAIN, CERTAIN)
    gain = np.where(z < CERTAIN, std * np.exp(log_h(z)), mean - best)
    return np.minimum(gain, max(0.0, believed.mixture.transform.bounds[1] - best))


def analogues(x: Any, beliefs: Beliefs, told: Sequence[Trial], most: int) -> tuple[Analogue, ...]:
    """The observations with the most influence on the mean of an object, signed; the strongest first."""
    conditioned = [told[i] for i in beliefs.conditioned.tolist()]
    return _analogues(beliefs.committee.influence([x]), conditioned, most)[0]


def _analogues(influence: Matrix, conditioned: Sequence[Trial], most: int) -> list[tuple[Analogue, ...]]:
    return [
        tuple(
            Analogue(copied(conditioned[i].object), float(conditioned[i].value or 0.0), float(row[i]))
            for i in np.argsort(-np.abs(row), kind="stable")[:most].tolist()
        )
        for row in influence
    ]


def summary(suggestion: Suggestion, beliefs: Beliefs | None) -> dict[str, Any]:
    """What is stored with a suggestion: its numbers, its notes, and how much each similarity counted."""
    numbers = {name: getattr(suggestion, name) for name in NUMBERS if getattr(suggestion, name) is not None}
    shares = {} if beliefs is None else {"similarities": _shares(beliefs.committee)}
    return {**numbers, **suggestion.notes, **shares}


def _shares(committee: Committee) -> dict[str, float]:
    shares: dict[str, float] = {}
    for similarity, share in zip(committee.similarities, committee.similarity_weights().tolist(), strict=True):
        twins = sum(name.split(" #")[0] == similarity.name for name in shares)
        shares[f"{similarity.name} #{twins + 1}" if twins else similarity.name] = round(share, 6)
    return shares
