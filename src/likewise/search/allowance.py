"""How many objects a search may look at, where comparing two of them takes long."""

from __future__ import annotations

import numpy as np

from likewise.acquisition.scoring import Scoring
from likewise.model.committee import Committee

# Microseconds that the comparisons of a search may take, by what similarities say of themselves.
MICROSECONDS = 400_000.0
# As few objects as make a choice.
FEWEST = 50


def allowance(scorer: Scoring) -> float:
    """How many new objects may be compared with all that is known; ∞ where comparing is array work.

    Each is compared with every observed and pending object, and with itself.
    """
    chance = scorer.feasibility
    committees = (*scorer.committees, *(() if chance is None else chance.committees))
    each = {key: price for committee in committees for key, price in _prices(committee).items()}
    total = sum(each.values())
    return max(FEWEST, MICROSECONDS / total) if total > 0 else np.inf


def _prices(committee: Committee) -> dict[int, float]:
    """Of each similarity in use what it takes to compare one object with all; outcomes share similarities."""
    grams = [committee.waiting.get(k, committee.grams[k]) for k in committee.used]
    return {id(gram.similarity): gram.similarity.pair_price * (len(gram) + 1) for gram in grams}
