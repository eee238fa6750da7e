"""The space's abilities choose the search."""

from __future__ import annotations

from likewise.errors import SpaceError
from likewise.search.alternating import AlternatingSearch
from likewise.search.base import Search
from likewise.search.climbing import ClimbingSearch
from likewise.search.exhaustive import ExhaustiveSearch
from likewise.search.gradient import GradientSearch
from likewise.search.sampling import SamplingSearch
from likewise.spaces.base import Continuous, Enumerable, Moves, PartlyContinuous, Space
from likewise.spaces.box import Box


def choose_search(space: Space, *, differentiable: bool) -> Search:
    """Exhaustive where objects can be listed, gradients where there are any, else moves, else samples."""
    if isinstance(space, Enumerable):
        return ExhaustiveSearch.over(space, space.key)
    if differentiable and isinstance(space, Continuous | PartlyContinuous):
        whole = not isinstance(space, Continuous) or (isinstance(space, Box) and bool(space.integer.any()))
        return AlternatingSearch() if whole and isinstance(space, Moves) else GradientSearch()
    if isinstance(space, Moves):
        return ClimbingSearch()
    if isinstance(space, Space):
        return SamplingSearch()
    raise SpaceError(f"{space!r} is not a space; use Pool, Box, Strings … or Custom")
