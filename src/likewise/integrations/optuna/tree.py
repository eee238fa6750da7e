"""Which parameters occur together: some always, some only under certain choices of another one.

Optuna's search spaces are written as code that runs, and known by the trials alone. A parameter that some trials lack
belongs to the branches of a categorical parameter whose choice says whether it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution

from likewise.integrations.optuna.parts import Parts, choice_of, number_of, numbers_of
from likewise.spaces.base import Space
from likewise.spaces.oneof import OneOf
from likewise.spaces.record import Record

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Node:
    """Parameters that occur together; `branches` has, for a parameter and each of its choices, what else occurs then.

    >>> from optuna.distributions import FloatDistribution
    >>> model, C = CategoricalDistribution(["svm", "bayes"]), FloatDistribution(0.1, 10)
    >>> trials = [{"model": "svm", "C": 1.0}, {"model": "bayes"}]
    >>> found = grow({"model": model, "C": C}, trials)
    >>> found.to_object({"model": "svm", "C": 1.0}), found.to_object({"model": "bayes"})
    ({'model': {'svm': {'C': 1.0}}}, {'model': {'bayes': None}})
    """

    parameters: Mapping[str, BaseDistribution]
    branches: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """All parameters, those of the branches too."""
        inside = (node.names for nodes in self.branches.values() for node in nodes)
        return set(self.parameters).union(*inside)

    def space(self, parts: Parts) -> Record:
        """The space of the parameters, each as `parts` makes it."""
        return Record(**{name: self._part(name, one, parts) for name, one in self.parameters.items()})

    def _part(self, name: str, distribution: BaseDistribution, parts: Parts) -> Space:
        if name not in self.branches:
            return parts.part(name, distribution)
        assert isinstance(distribution, CategoricalDistribution)
        nodes = zip(numbers_of(distribution), self.branches[name], strict=True)
        return OneOf(**{number: node.space(parts) if node.parameters else None for number, node in nodes})

    def to_object(self, params: Params) -> dict[str, Any] | None:
        """The parameters of a trial as an object of the space; None if it lacks one, or has one out of range."""
        made: dict[str, Any] = {}
        for name, distribution in self.parameters.items():
            if name not in params or not contains(distribution, params[name]):
                return None
            made[name] = self._value(name, distribution, params)
            if name in self.branches and made[name] is None:
                return None
        return made

    def _value(self, name: str, distribution: BaseDistribution, params: Params) -> Any:
        if not isinstance(distribution, CategoricalDistribution):
            return params[name]
        number = number_of(distribution, params[name])
        if name not in self.branches:
            return number
        node = self.branches[name][int(number)]
        if not node.parameters:
            return {number: None}
        inside = node.to_object(params)
        return None if inside is None else {number: inside}

    def to_params(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """An object of the space as the parameters of a trial."""
        params: dict[str, Any] = {}
        for name, distribution in self.parameters.items():
            if name in self.branches:
                ((number, inside),) = x[name].items()
                params |= self.branches[name][int(number)].to_params(inside or {})
            else:
                number = x[name]
            params[name] = choice_of(distribution, number)
        return params


def contains(distribution: BaseDistribution, value: Any) -> bool:
    """Whether a distribution has this value."""
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except ValueError:
        return False


def grow(search_space: Mapping[str, BaseDistribution], trials: Sequence[Params]) -> Node:
    """The tree of these parameters in these trials; parameters whose presence nothing explains are left out."""
    always = {name: one for name, one in search_space.items() if all(name in params for params in trials)}
    rest = {name: one for name, one in search_space.items() if name not in always}
    branches: dict[str, tuple[Node, ...]] = {}
    for parent, one in always.items():
        if not rest or not isinstance(one, CategoricalDistribution):
            continue
        by_choice = [[p for p in trials if number_of(one, p[parent]) == str(i)] for i in range(len(one.choices))]
        own = {name: rest[name] for name in rest if _explained(name, by_choice)}
        if own:
            branches[parent] = tuple(_branch(own, some) for some in by_choice)
            rest = {name: left for name, left in rest.items() if name not in own}
    return Node(always, branches)


def _branch(own: Mapping[str, BaseDistribution], trials: Sequence[Params]) -> Node:
    """What occurs under one choice; under one that was never made, nothing is known to."""
    present = {name: one for name, one in own.items() if any(name in params for params in trials)}
    return grow(present, trials)


def _explained(name: str, by_choice: Iterable[Sequence[Params]]) -> bool:
    """Whether a choice can say that a parameter is absent, and is true to it: under some choice it never occurs."""
    shares = [sum(name in params for params in some) / len(some) for some in by_choice if some]
    return 0.0 in shares
