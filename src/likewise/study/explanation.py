"""What is expected of an object, and which observations say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from likewise.acquisition.improvement import log_h
from likewise.model.committee import Committee
from likewise.similarity.base import Matrix
from likewise.spaces.codec.copies import copied
from likewise.study.methods.base import Beliefs, Proposal
from likewise.study.observations import value_of
from likewise.study.suggestion import Analogue, Suggestion
from likewise.study.trial import Trial

# So many standard deviations are as good as certain, and their squares do not overflow.
CERTAIN = 1e6
ANALOGUES = 5


def suggestions(proposal: Proposal, told: Sequence[Trial], sign: float) -> list[Suggestion]:
    """Suggestions without ids: mean, standard deviation, chance and improvement on the user's scale, and analogues.

    The committee's values are signed: larger ones are better.
    """
    objects, beliefs = proposal.objects, proposal.beliefs
    if beliefs is None or not objects:
        return [Suggestion(-1, x, notes=proposal.notes) for x in objects]
    conditioned = [told[i] for i in beliefs.conditioned.tolist()]
    best = max(sign * value_of(trial) for trial in conditioned)
    (mean, std), influence = beliefs.committee.explain(objects)
    z = np.clip((mean - best) / np.maximum(std, 1e-300), -CERTAIN, CERTAIN)
    improvement = np.where(z < CERTAIN, std * np.exp(log_h(z)), mean - best)
    numbers = np.transpose([sign * mean, std, ndtr(z), improvement]).tolist()
    explained = _analogues(influence, conditioned, ANALOGUES)
    return [
        Suggestion(-1, x, m, s, chance, gain, because, proposal.notes)
        for x, (m, s, chance, gain), because in zip(objects, numbers, explained, strict=True)
    ]


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
    names = ("mean", "std", "chance", "improvement")
    numbers = {name: getattr(suggestion, name) for name in names if getattr(suggestion, name) is not None}
    shares = {} if beliefs is None else {"similarities": _shares(beliefs.committee)}
    return {**numbers, **suggestion.notes, **shares}


def _shares(committee: Committee) -> dict[str, float]:
    shares: dict[str, float] = {}
    for similarity, share in zip(committee.similarities, committee.similarity_weights().tolist(), strict=True):
        twins = sum(name.split(" #")[0] == similarity.name for name in shares)
        shares[f"{similarity.name} #{twins + 1}" if twins else similarity.name] = round(share, 6)
    return shares
