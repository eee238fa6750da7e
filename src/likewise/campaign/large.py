"""Large pools of molecules: read once, by several processes, with a progress bar, and at a price that is known before.

Fingerprints and descriptors of a hundred thousand molecules take minutes. Where all similarities would take too long,
those that say least for their price are left out, and the user is told. Prices are fixed figures, not measured on the
spot, so that the same table gives the same answer however busy the machine is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.campaign.console import Progress
from likewise.similarity.base import Matrix, Parameter, ParameterPullback, Similarity, Vector
from likewise.similarity.combine.through import Through
from likewise.similarity.encodings import pieces
from likewise.similarity.encodings.arrays import Encoding, join, take

# Below this, other processes take longer to start than they save.
LARGE = 4_000
# Seconds that reading and encoding a pool may take on two free processors.
SECONDS, PROCESSORS = 40.0, 2
LEAST = 0.02
# Microseconds of one processor for each molecule of some 25 atoms: to read it, and then to encode it.
READING = 160.0
PRICES = {
    "Tanimoto": {"morgan": 60.0, "atompair": 120.0, "torsion": 100.0, "maccs": 750.0},
    "TanimotoCounts": {"morgan": 110.0, "atompair": 275.0, "torsion": 100.0},
    "CanonicalSMILES": {"": 70.0},
    "Descriptors": {"": 570.0},
}


@dataclass(frozen=True, eq=False)
class Ready(Through):
    """A similarity that has encoded a pool already; other objects it encodes when it meets them. PSD if that one is."""

    inner: Similarity
    encoding: Encoding = field(repr=False)
    places: Mapping[str, int] = field(repr=False)

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return (self.inner,)

    @property
    def name(self) -> str:
        return self.inner.name

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return Ready(parts[0], self.encoding, self.places)

    def fitted(self, a: Encoding) -> Similarity:
        return self.rebuilt([self.inner.fitted(a)])

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        return self.inner.parameters(a)

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        return self.rebuilt([self.inner.with_parameters(values)])

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        return self.inner.sensitivity(a)

    def encode(self, objects: Sequence[Any]) -> Encoding:
        known = [self.places.get(x) for x in objects]
        if any(place is None for place in known):
            return self.inner.encode(objects)
        index = np.array(known, dtype=np.intp)
        return self.encoding if np.array_equal(index, np.arange(len(self.places))) else take(self.encoding, index)


def price(similarity: Similarity) -> float:
    """Microseconds that encoding a molecule takes that was read already.

    >>> from likewise.similarity.kinds.molecules import Tanimoto
    >>> price(Tanimoto("maccs")) > 10 * price(Tanimoto())
    True
    """
    while type(similarity).__name__ not in PRICES:
        (similarity,) = similarity.parts
    return PRICES[type(similarity).__name__][getattr(similarity, "fingerprint", "")]


def prices(similarities: Sequence[Similarity], objects: Sequence[str]) -> tuple[list[float], float]:
    """Seconds that each similarity takes for all objects on two processors, and what is left for them after reading."""
    share = 1e-6 * len(objects) / PROCESSORS
    return [share * price(similarity) for similarity in similarities], SECONDS - share * READING


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


def encoded(similarities: Sequence[Similarity], objects: Sequence[str], progress: Progress) -> list[Similarity]:
    """The similarities with the pool encoded: each molecule is read once for all of them, by several processes."""
    progress.stage(f"reading {len(objects)} molecules", len(objects))
    parts: list[list[Encoding]] = [[] for _ in similarities]
    for piece in pieces.encoded(similarities, objects, pieces.cores()):
        for part, encoding in zip(parts, piece, strict=True):
            part.append(encoding)
        progress.advance(pieces.PIECE)
    progress.stage("comparing objects")
    places = {x: place for place, x in enumerate(objects)}
    return [Ready(one, join(part), places) for one, part in zip(similarities, parts, strict=True)]
