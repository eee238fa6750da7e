"""What encoding a large pool takes, and which similarities to leave out where all of them would take too long.

Fingerprints and descriptors of a hundred thousand molecules take minutes. The prices are fixed figures, which the
similarities name themselves, and are not measured on the spot: the same table gives the same answer however busy the
machine is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.similarity.base import Similarity
from likewise.similarity.kinds.smiles import READING

# Seconds that reading and encoding a pool may take on two free processors.
SECONDS, PROCESSORS = 40.0, 2
# A similarity of less weight than this is not worth any price.
LEAST = 0.02


def encoding_seconds(similarities: Sequence[Similarity], objects: int) -> tuple[list[float], float]:
    """Seconds that each similarity takes to encode so many objects, and what is left for all of them after reading.

    >>> from likewise.similarity.kinds.molecules import Tanimoto
    >>> encoding_seconds([Tanimoto(), Tanimoto("maccs")], 10_000)
    ([0.3, 3.75], 39.2)
    """
    share = 1e-6 * objects / PROCESSORS
    reading = READING if any(similarity.kind == "molecules" for similarity in similarities) else 0.0
    return [share * similarity.price for similarity in similarities], SECONDS - share * reading


def affordable(weights: Sequence[float], costs: Sequence[float], seconds: float) -> list[int]:
    """The similarities to keep, so that encoding takes no longer than this: those that count most for their price.

    The weightiest one is always kept; one without weight never, as it would not be asked.

    >>> affordable([0.7, 0.2, 0.1, 0.0], [10.0, 5.0, 100.0, 1.0], seconds=40.0)
    [0, 1]
    """
    first = int(np.argmax(weights))
    spent, kept = costs[first], [first]
    for k in sorted(range(len(costs)), key=lambda k: -weights[k] / max(costs[k], 1e-9)):
        if k != first and weights[k] >= LEAST and spent + costs[k] <= seconds:
            spent += costs[k]
            kept.append(k)
    return sorted(kept)
