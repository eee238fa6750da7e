"""The space's abilities choose the search, and how objects are picked together."""

from __future__ import annotations

from likewise.acquisition.base import Acquisition
from likewise.acquisition.improvement import LogExpectedImprovement
from likewise.errors import SpaceError
from likewise.search.alternating import AlternatingSearch
from likewise.search.base import Search
from likewise.search.batch import Sequential, Strategy, TwoStage
from likewise.search.climbing import ClimbingSearch
from likewise.search.gradient import GradientSearch
from likewise.search.pool.exhaustive import ExhaustiveSearch
from likewise.search.sampling import SamplingSearch
from likewise.spaces.base import Continuous, Enumerable, Moves, Space, is_continuous

# Dimensions from which on a box is mostly corners.
WIDE = 30


def choose_search(space: Space, *, differentiable: bool) -> Search:
    """Exhaustive where objects can be listed, gradients where there are any, else moves, else samples."""
    if isinstance(space, Enumerable):
        return ExhaustiveSearch.over(space, space.key)
    if differentiable and is_continuous(space):
        return AlternatingSearch() if space.stepped and isinstance(space, Moves) else GradientSearch()
    if isinstance(space, Moves):
        return ClimbingSearch()
    if isinstance(space, Space):
        return SamplingSearch()
    raise SpaceError(f"{space!r} is not a space; use Pool, Box, Strings … or Custom")


def choose_strategy(space: Space, acquisition: Acquisition) -> Strategy:
    """How objects of this space are best picked, one or several.

    In a box of very many dimensions doubt is greatest in the corners, and improvement is expected there. The paper's
    two stages, which look for doubt among the peaks of the mean alone, find better objects. Another acquisition than
    the usual one picks by itself.

    >>> from likewise.spaces.box import Box
    >>> wide, usual = Box([0.0] * 50, [1.0] * 50), LogExpectedImprovement()
    >>> choose_strategy(wide, usual), choose_strategy(Box([0.0] * 5, [1.0] * 5), usual)
    (TwoStage(), Sequential())
    """
    wide = space.kind == "vectors" and isinstance(space, Continuous) and space.dimension >= WIDE
    return TwoStage() if wide and isinstance(acquisition, LogExpectedImprovement) else Sequential()
