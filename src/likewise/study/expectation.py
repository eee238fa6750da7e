"""Objectives that are expectations, estimated by sampling (Section 4 of the paper)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import StudyError
from likewise.similarity.kinds.monte_carlo import Distribution, Samples
from likewise.study.trial import Measurement

Sampler = Callable[[Any, int, np.random.Generator], Samples]


@dataclass(frozen=True, eq=False)
class Expectation:
    """g(x) = E_{p(ω|x)}[f(ω, x)], the paper's application, as the mean over `samples` draws with its standard error.

    `f(omega, x)`, or `f(omega)`, gets all draws at once, as rows, and returns one number for each.
    `distribution(x, n, rng)` returns n draws of p(ω|x); it may be left out when the objects are distributions, as
    `Gaussian` and the members of a `Family` are.

    Each x gets a generator of the same `seed`, so g is reproducible, and draws of different x share their noise: it
    largely cancels when they are compared. The standard error of each value is as honest as with fresh noise, as the
    draws of one x are independent; but the errors of different x are then alike, not independent, so that an optimum
    should be confirmed with another seed.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> g = Expectation(lambda omega: omega[:, 0] ** 2, samples=10_000)
    >>> measured = g(Gaussian(1.0, 2.0))
    >>> bool(abs(measured.value - 3.0) < 4.0 * measured.std), measured == g(Gaussian(1.0, 2.0))
    (True, True)
    """

    f: Callable[[Samples, Any], Any] | Callable[[Samples], Any]
    distribution: Sampler | None = None
    samples: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise StudyError(f"an Expectation needs at least 2 samples for its standard error, not {self.samples}")
        if not 1 <= _arguments(self.f) <= 2:
            raise StudyError(
                f"{self.f!r} cannot be an integrand: an Expectation calls it as f(omega, x) or as f(omega)"
            )

    def __call__(self, x: Any) -> Measurement:
        values = self._values(self._drawn(x), x)
        return Measurement(float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(self.samples)))

    def _drawn(self, x: Any) -> Samples:
        rng = np.random.default_rng(self.seed)
        if self.distribution is not None:
            omega = np.asarray(self.distribution(x, self.samples, rng))
        elif isinstance(x, Distribution):
            omega = np.asarray(x.sample(self.samples, rng))
        else:
            raise StudyError(
                f"an Expectation cannot sample from {x!r}; "
                "pass distribution=, a function (x, n, rng) that draws from p(ω|x)"
            )
        if omega.shape[:1] != (self.samples,):
            raise StudyError(
                f"distribution({x!r}, {self.samples}, rng) gave shape {omega.shape}; it needs {self.samples} rows"
            )
        return omega

    def _values(self, omega: Samples, x: Any) -> Samples:
        arguments = (omega, x)[: _arguments(self.f)]
        values = np.asarray(self.f(*arguments), dtype=float)
        if values.shape != (self.samples,):
            raise StudyError(
                f"f gave shape {values.shape} for draws of shape {omega.shape}; it needs one number per draw, "
                f"shape ({self.samples},)"
            )
        return values


def _arguments(f: Any) -> int:
    """How many arguments f needs; those with a default are its own affair. Two where it takes any or nobody knows."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return 2 if callable(f) else 0
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 2
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return sum(p.default is p.empty for p in places) or min(len(places), 1)
