"""Records: parts of any spaces, grids, and gradients in the continuous parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.similarity.algebra import warped
from likewise.similarity.base import Similarity, is_differentiable
from likewise.similarity.functions import from_function as plain_similarity
from likewise.similarity.kinds.gaussians import Bhattacharyya
from likewise.similarity.kinds.vectors import RBF, Linear, Matern
from likewise.similarity.records import Parts
from likewise.spaces.base import Continuous, Crossover, Enumerable, Moves, PartlyContinuous, is_continuous
from likewise.spaces.categorical import Categorical
from likewise.spaces.custom import Custom
from likewise.spaces.distributions import Gaussians
from likewise.spaces.numbers import Box
from likewise.spaces.permutations import Permutations
from likewise.spaces.pool import Pool
from likewise.spaces.record import Record
from likewise.spaces.simplex import Simplex
from likewise.spaces.strings import Strings
from likewise.testing.spaces import same

same_text = plain_similarity(lambda x, y: 1.0 if x == y else 0.4)
mixed = Record(
    kind=["a", "b", "c"],
    x=Box([0.0, 1.0], [10.0, 1000.0], log=[1]),
    temperature=[90, 105, 120],
    blend=Simplex(3, total=100.0),
    g=Gaussians((-1.0, 1.0), (0.1, 2.0), 1),
)


def test_a_record_can_do_what_its_parts_can() -> None:
    discrete, everything = Record(a=["x"], p=Permutations(3)), Record(b=Box(0, 1))
    for space in (discrete, everything, mixed):
        assert isinstance(space, Record)
        assert isinstance(space, Moves)
        assert isinstance(space, Crossover)
        assert not isinstance(space, Continuous | Enumerable)
    assert not is_continuous(discrete)
    assert not is_continuous(Record(inner=discrete))
    assert is_continuous(everything)
    assert is_continuous(Record(inner=everything))
    assert is_continuous(mixed)
    assert mixed.dimension == 2 + 3 + 2


def test_field_names_may_be_anything() -> None:
    space = Record(None, **{"where": ["a"], "self": ["b"], "base conc.": [0.1], "parts": ["c"]})
    assert space.fit({"where": "a", "self": "b", "base conc.": 0.1, "parts": "c"}) in space


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_moves_change_one_part_and_every_part_moves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = mixed.sample(1, rng)[0]
    changed = [[name for name in x if not same(x[name], y[name])] for y in mixed.moves(x, rng)]
    assert all(len(names) == 1 for names in changed)
    assert {names[0] for names in changed} == set(x)


def test_parts_without_moves_move_by_listing_sampling_or_steps() -> None:
    class Line(Custom):
        """Continuous, without moves."""

        dimension = 1

        def to_vector(self, objects: Any) -> Any:
            return np.array(objects, dtype=float)[:, None]

        def from_vector(self, vectors: Any) -> list[float]:
            return [float(v) for v in vectors[:, 0]]

        def project(self, vectors: Any) -> Any:
            return np.clip(vectors, 0.0, 1.0)

        def pull(self, vectors: Any, gradient: Any) -> Any:
            return gradient

    space = Record(
        pool=Pool(range(1000)), line=Line(lambda rng: float(rng.random())), own=Custom(lambda rng: float(rng.random()))
    )
    rng = np.random.default_rng(0)
    x = space.sample(1, rng)[0]
    moved = [{name for name in x if x[name] != y[name]} for y in space.moves(x, rng)]
    assert {frozenset(names) for names in moved} == {frozenset({name}) for name in x}
    assert all(y in space for y in space.moves(x, rng))


@given(st.integers(0, 999))
def test_a_crossover_takes_each_part_from_one_parent(seed: int) -> None:
    space = Record(a=range_list(50), b=range_list(50), c=range_list(50))
    rng = np.random.default_rng(seed)
    x, other = space.sample(2, rng)
    child = space.crossover(x, other, rng)
    assert all(child[name] in (x[name], other[name]) for name in x)


def range_list(n: int) -> list[int]:
    return list(range(n))


def test_the_grid_lists_every_record_that_is_allowed() -> None:
    space = Record(lambda r: r["a"] != r["b"], a=["x", "y"], b=["x", "y"], inner=Record(c=[1, 2], d=Pool(["u"])))
    grid = space.grid()
    expected = [{"a": a, "b": b, "inner": {"c": c, "d": "u"}} for a, b, c in product("xy", "xy", (1, 2)) if a != b]
    assert list(grid.objects) == expected
    assert grid.from_json(space.to_json(expected[0])) == expected[0]
    assert Record(a=["x", "y"], b=Strings("AC", length=3)).size == 2 * 8


def test_grids_that_cannot_be_are_refused() -> None:
    with pytest.raises(SpaceError, match=r"1000000 records, more than 200000"):
        Record(a=range_list(1000), b=range_list(1000)).grid()
    with pytest.raises(SpaceError, match="part 'x' of the record, Float, cannot be listed"):
        Record(a=["u"], x=Box(0, 1)).grid()


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"solvent": "water"}, "no field 'load'.*it needs solvent, load"),
        ({"solvent": "water", "load": [1.0], "color": 2}, "field 'color', but this space has only solvent, load"),
        ({"solvent": "oil", "load": [1.0]}, "field 'solvent': 'oil' is not one of"),
        ({"solvent": "water", "load": [99.0]}, "field 'load': the number is 99"),
        ([1, 2], "not a record"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Record(solvent=["water", "DMF"], load=Box(0.0, 5.0)).fit(x)


def test_records_are_put_in_the_order_of_the_fields() -> None:
    assert list(Record(a=[1], b=[2]).fit({"b": 2, "a": 1})) == ["a", "b"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "at least one part"),
        ({"t": (20.0, 120.0)}, r"part 't' .* Float\(low, high\)"),
        ({"t": "abc"}, "part 't'"),
        ({"t": []}, "field 't': .*at least one"),
        ({"t": [[1, 2], [3, 4]]}, "field 't': .*use a Pool"),
    ],
)
def test_parts_that_are_no_spaces_are_refused(parts: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Record(**parts)


def test_a_predicate_comes_first() -> None:
    with pytest.raises(SpaceError, match="predicate"):
        Record({"a": [1]})  # type: ignore[arg-type]


SIMILARITIES: dict[str, Callable[[], Similarity]] = {
    "every field, in another order": lambda: Parts(
        blend=Matern(0.7), kind=same_text, g=Bhattacharyya(), x=RBF([0.3, 0.6]), temperature=RBF(0.5)
    ),
    "some continuous fields": lambda: Parts(kind=same_text, x=RBF(0.4)),
    "a discrete field with a derivative": lambda: Parts(temperature=RBF(0.5), blend=RBF(0.5)),
    "a sum of fields": lambda: Parts("sum", [2.0, 1.0, 0.5], x=Matern(0.5), g=Bhattacharyya(), kind=same_text),
    "learnt weights": lambda: Parts("product", [0.5, 2.0, 1.5], kind=same_text, x=RBF(0.5), blend=RBF(1.0)),
    "combined": lambda: (
        warped(Parts(x=RBF(0.5), kind=same_text), 1.5) + 0.5 * (Parts(blend=Linear(1.0)) * Parts(g=RBF(0.5)))
    ),
    "discrete fields alone": lambda: Parts(temperature=RBF(0.5), kind=same_text),
    "a continuous field without derivative": lambda: Parts(
        x=RBF(0.5), blend=plain_similarity(lambda a, b: 1.0 / (1.0 + float(np.abs(np.round(a - b)).sum())))
    ),
}


@pytest.mark.parametrize("name", [name for name in SIMILARITIES if name != "a continuous field without derivative"])
@pytest.mark.parametrize("space", [mixed, Record(outer=["u", "v"], inner=mixed, y=Box(0, 1))], ids=["flat", "nested"])
def test_the_gradient_of_the_view_agrees_with_finite_differences(name: str, space: Any) -> None:
    similarity = SIMILARITIES[name]()
    if "inner" in space.parts:
        similarity = Parts(y=RBF(0.3), inner=similarity, outer=same_text)
    viewed = space.view(similarity)
    assert is_differentiable(viewed)
    rng = np.random.default_rng(1)
    xs, others = space.sample(5, rng), space.sample(4, rng)
    b, weights = viewed.encode(others), rng.normal(size=(5, 4))
    scores, pull = viewed.linearise(viewed.encode(xs), b)
    np.testing.assert_allclose(scores, viewed.between(viewed.encode(xs), b))
    vectors = space.to_vector(xs)
    gradient = space.pull(vectors, pull(weights))
    step = 1e-6 * rng.normal(size=vectors.shape)
    plus, minus = space.project(vectors + step), space.project(vectors - step)

    def value(v: Any) -> Any:
        return np.sum(weights * viewed.between(viewed.encode(space.with_vector(xs, v)), b), axis=1)

    change = value(plus) - value(minus)
    foreseen = np.sum(gradient * (plus - minus), axis=1)
    np.testing.assert_allclose(foreseen, change, rtol=1e-4, atol=1e-4 * np.abs(change).max() + 1e-13)


def test_the_gradient_of_self_similarity_agrees_with_finite_differences() -> None:
    viewed = mixed.view(Parts(blend=Linear(0.5), kind=same_text, x=Linear(1.0)))
    assert is_differentiable(viewed)
    assert isinstance(mixed, PartlyContinuous)
    rng = np.random.default_rng(2)
    xs = mixed.sample(5, rng)
    scores, pull = viewed.linearise_within(viewed.encode(xs))
    np.testing.assert_allclose(scores, viewed.within(viewed.encode(xs)))
    vectors = mixed.to_vector(xs)
    step = 1e-6 * rng.normal(size=vectors.shape)
    plus, minus = mixed.project(vectors + step), mixed.project(vectors - step)
    change = viewed.within(viewed.encode(mixed.with_vector(xs, plus))) - viewed.within(
        viewed.encode(mixed.with_vector(xs, minus))
    )
    gradient = mixed.pull(vectors, pull(np.ones(5)))
    np.testing.assert_allclose(np.sum(gradient * (plus - minus), axis=1), change, rtol=1e-4, atol=1e-12)


def test_a_field_without_derivative_has_no_say_in_the_gradient() -> None:
    viewed = mixed.view(SIMILARITIES["a continuous field without derivative"]())
    rng = np.random.default_rng(0)
    a = viewed.encode(mixed.sample(3, rng))
    # That its scores jump is seen on the objects.
    viewed = viewed.fitted(a)
    assert is_differentiable(viewed)
    gradient = viewed.linearise(a, a)[1](np.ones((3, 3)))
    assert gradient.shape == (3, 2 + 3 + 2)
    assert np.all(gradient[:, 2:] == 0)
    only = mixed.view(Parts(x=plain_similarity(lambda a, b: 1.0), temperature=RBF(0.5)))
    assert not is_differentiable(only.fitted(only.encode(mixed.sample(3, rng))))


@pytest.mark.parametrize("name", SIMILARITIES)
def test_the_view_is_the_same_likeness_with_the_same_parameters(name: str) -> None:
    plain = SIMILARITIES[name]()
    viewed = mixed.view(plain)
    objects = mixed.sample(6, np.random.default_rng(0))
    a = viewed.encode(objects)
    assert (viewed.psd, viewed.signed, viewed.name) == (plain.psd, plain.signed, plain.name)
    np.testing.assert_allclose(viewed.within(a), np.diag(viewed.between(a, a)))
    parameters = {k: 1.3 * p.value for k, p in viewed.parameters(a).items()}
    changed = viewed.fitted(a).with_parameters(parameters)
    assert {k: v.value.tolist() for k, v in changed.parameters(a).items()} == {
        k: v.tolist() for k, v in parameters.items()
    }
    assert is_differentiable(changed) == is_differentiable(viewed)
    np.testing.assert_allclose(changed.sensitivity(a)[0], changed.between(a, a))


def test_each_field_is_seen_by_its_own_space() -> None:
    viewed = Record(t=[90, 105, 120], x=Box(0, 4)).view(Parts(t=RBF(1.0), x=RBF(1.0)))
    score = viewed({"t": 90, "x": np.array([0.0])}, {"t": 120, "x": np.array([2.0])})
    assert score == pytest.approx(np.exp(-0.5 * (1.0 + 0.25)))


def test_lists_are_categories() -> None:
    assert isinstance(Record(a=["x"]).parts["a"], Categorical)
