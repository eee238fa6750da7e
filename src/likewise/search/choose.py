"""The space's abilities choose the search."""

from __future__ import annotations

from likewise.errors import SpaceError
from likewise.search.base import Search
from likewise.search.climbing import ClimbingSearch
from likewise.search.exhaustive import ExhaustiveSearch
from likewise.search.gradient import GradientSearch
from likewise.search.sampling import SamplingSearch
from likewise.spaces.base import Continuous, Enumerable, Moves, Space


def choose_search(space: Space, *, differentiable: bool) -> Search:
    """Exhaustive where objects can be listed, gradients where there are any, else moves, else samples."""
    if isinstance(space, Enumerable):
        return ExhaustiveSearch.over(space, space.key)
    if isinstance(space, Continuous) and differentiable:
        return GradientSearch()
    if isinstance(space, Moves):
        return ClimbingSearch()
    if isinstance(space, Space):
        return SamplingSearch()
    raise SpaceError(f"{space!r} is not a space; use Pool, Box, Strings … or Custom")
