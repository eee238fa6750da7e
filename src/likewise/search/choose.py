"""The space's abilities choose the search, and how objects are picked together."""

from __future__ import annotations

from likewise.acquisition.base import Acquisition
from likewise.acquisition.improvement import LogExpectedImprovement
from likewise.errors import SpaceError
from likewise.search.alternating import AlternatingSearch
from likewise.search.base import Search
from likewise.search.batch import Batch, Sequential, TwoStage
from likewise.search.climbing import ClimbingSearch
from likewise.search.exhaustive import ExhaustiveSearch
from likewise.search.gradient import GradientSearch
from likewise.search.sampling import SamplingSearch
from likewise.spaces.base import Continuous, Enumerable, Moves, PartlyContinuous, Space
from likewise.spaces.box import Box

# Dimensions from which on a box is mostly corners.
WIDE = 10


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


def choose_batch(space: Space, acquisition: Acquisition, n: int) -> Batch:
    """How `n` objects of this space are best picked together.

    In a box of many dimensions doubt is greatest in the corners, and all picks but the first would go there. The
    paper's two stages, which look for doubt among the peaks of the mean alone, find better ones. Another
    acquisition than the usual one picks all of a batch.

    >>> from likewise.spaces.box import Box
    >>> wide, usual = Box([0.0] * 50, [1.0] * 50), LogExpectedImprovement()
    >>> choose_batch(wide, usual, 8), choose_batch(wide, usual, 1)
    (TwoStage(), Sequential())
    """
    wide = isinstance(space, Box) and space.dimension >= WIDE
    return TwoStage() if wide and n > 1 and isinstance(acquisition, LogExpectedImprovement) else Sequential()
