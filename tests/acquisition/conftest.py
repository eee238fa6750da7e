"""Every acquisition of one objective, for the laws that all of them keep."""

from __future__ import annotations

import pytest

import likewise as lw
from likewise.acquisition.acquisitions import Acquisition, LeastKnown, Spread

ALL: list[Acquisition] = [
    lw.Mean(),
    lw.UpperConfidence(2.0),
    Spread(),
    LeastKnown(),
    lw.LogExpectedImprovement(),
    lw.LogExpectedImprovement(ceiling=1.2),
    lw.ProbabilityOfImprovement(),
]


@pytest.fixture(params=ALL, ids=repr, scope="session")
def acquisition(request: pytest.FixtureRequest) -> Acquisition:
    """One after the other."""
    found: Acquisition = request.param
    return found
