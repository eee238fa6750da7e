"""A space of the user's own functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from likewise.errors import SpaceError
from likewise.similarity.base import assign
from likewise.spaces.base import CHILDREN, Generator, Space, check_json_functions, checked_where
from likewise.spaces.codec import tagged, untagged


@dataclass(frozen=True, init=False)
class Custom(Space):
    """A space of your own functions, of which only the first is needed.

    - `sample(rng)` gives one random object.
    - `moves(x, rng)` lists neighbours of x. Without it the space is searched by samples alone, which is far worse.
    - `contains(x)` says whether x is in the space; without it everything is.
    - `crossover(x, other, rng)` mixes two objects.
    - `to_json(x)` and `from_json(data)` turn an object into JSON data and back. Objects of strings, numbers, lists,
      tuples, dicts, sets and arrays are stored as they are; others need both.
    - `where(x)` says whether an object is allowed; by default all are.

    >>> import numpy as np
    >>> even = Custom(lambda rng: 2 * int(rng.integers(50)), moves=lambda x, rng: [x - 2, x + 2],
    ...               contains=lambda x: x % 2 == 0 and 0 <= x < 100)
    >>> even.moves(0, np.random.default_rng(0)), 3 in even
    ([2], False)
    """

    short = None
    _sample: Callable[[Generator], Any]
    _moves: Callable[[Any, Generator], Sequence[Any]] | None
    _contains: Callable[[Any], bool] | None
    _crossover: Callable[[Any, Any, Generator], Any] | None
    _to_json: Callable[[Any], Any] | None
    _from_json: Callable[[Any], Any] | None
    where: Callable[[Any], bool] | None

    def __init__(
        self,
        sample: Callable[[Generator], Any],
        *,
        moves: Callable[[Any, Generator], Sequence[Any]] | None = None,
        contains: Callable[[Any], bool] | None = None,
        crossover: Callable[[Any, Any, Generator], Any] | None = None,
        to_json: Callable[[Any], Any] | None = None,
        from_json: Callable[[Any], Any] | None = None,
        where: Callable[[Any], bool] | None = None,
    ) -> None:
        functions = {
            "sample": sample,
            "moves": moves,
            "contains": contains,
            "crossover": crossover,
        }
        for name, function in functions.items():
            if not (callable(function) or (function is None and name != "sample")):
                raise SpaceError(f"Custom needs a function for {name}, not {function!r}")
        check_json_functions("Custom", to_json, from_json)
        assign(self, where=checked_where(where), _to_json=to_json, _from_json=from_json)
        assign(self, **{f"_{name}": function for name, function in functions.items()})
        # What a space can do is said by having the method, so one without the function has none.
        if moves is not None:
            assign(self, moves=self._moves_inside)
        if crossover is not None:
            assign(self, crossover=self._crossover_inside)

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        return [self._sampled(rng) for _ in range(n)]

    def _sampled(self, rng: Generator) -> Any:
        x = called("sample", self._sample, rng)
        if x is None:
            raise SpaceError("sample(rng) of the custom space gave None; return an object")
        if self._contains is not None and not self._inside(x):
            raise SpaceError(
                f"sample(rng) of the custom space gave {x!r}, of which its `contains` says no; "
                "let both mean the same objects, or restrict the space by `where`"
            )
        return x

    def _inside(self, x: Any) -> bool:
        inside = called("contains", self._contains, x)
        if inside is None:
            raise SpaceError(f"contains({x!r}) of the custom space gave None; return True or False, for every object")
        return bool(inside)

    def _fit(self, x: Any) -> Any:
        if self._contains is not None and not self._inside(x):
            raise SpaceError(f"{x!r} is not in the custom space: its `contains` says no")
        return x

    def to_json(self, x: Any) -> Any:
        if self._to_json is not None:
            return self._to_json(x)
        try:
            return tagged(x)
        except TypeError as error:
            raise SpaceError(
                f"{x!r} cannot be stored, as {error}; give Custom to_json and from_json, "
                "two functions from an object to JSON data and back"
            ) from error

    def from_json(self, data: Any) -> Any:
        return untagged(data) if self._from_json is None else self._from_json(data)

    def _describe(self) -> dict[str, Any]:
        return {"space": "Custom"}

    def _moves_inside(self, x: Any, rng: Generator) -> list[Any]:
        """The neighbours that the user's function lists, those outside the space left out."""
        near = called("moves", self._moves, x, rng)
        if isinstance(near, str) or not isinstance(near, Iterable):
            raise SpaceError(f"moves({x!r}, rng) of the custom space gave {near!r}; return a list of objects")
        return [y for y in near if y in self]

    def _crossover_inside(self, x: Any, other: Any, rng: Generator) -> Any:
        """A mix of two objects by the user's function, x itself where that keeps leaving the space."""
        tries = (called("crossover", self._crossover, x, other, rng) for _ in range(CHILDREN))
        return next((made for made in tries if made in self), x)


def called(name: str, function: Any, *arguments: Any) -> Any:
    """What a function of the user's gives; a SpaceError that names it where it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        shown = ", ".join("rng" if isinstance(x, Generator) else repr(x) for x in arguments)
        raise SpaceError(f"{name}({shown}) of the custom space raised {type(error).__name__}: {error}") from error
