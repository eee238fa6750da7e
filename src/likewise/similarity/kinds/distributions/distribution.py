"""A distribution as an object: it draws samples and knows its density."""

from __future__ import annotations

from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Vector

Samples = np.ndarray[Any, Any]


@runtime_checkable
class Distribution(Protocol):
    """An object p(ω|x) such as a `Gaussian`, or a member of a `Family`."""

    def sample(self, n: int, rng: np.random.Generator) -> Samples:
        """`n` draws of ω, one per row."""
        ...

    def log_density(self, omega: Samples) -> Vector:
        """log p(ω|x) of each row of `omega`."""
        ...


def own_sample(x: Any, n: int, rng: np.random.Generator) -> Samples:
    """`n` draws from an object that is a distribution."""
    return cast(Samples, _method(x, "sample")(n, rng))


def own_log_density(omega: Samples, x: Any) -> Vector:
    """The log-densities of draws under an object that is a distribution."""
    return cast(Vector, _method(x, "log_density")(omega))


def _method(x: Any, name: str) -> Any:
    # Trajectories ask for thousands of densities: a protocol takes as long to check as many a density.
    found = getattr(x, name, None)
    if found is None:
        raise SimilarityError(
            f"{x!r} is no distribution: it has no method {name}; "
            "give the functions sample(x, n, rng) and log_density(omega, x)"
        )
    return found
