"""Compositions: the projection is the nearest point, moves keep the total."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import likewise as lw
from likewise.errors import SpaceError
from likewise.similarity.kinds.vectors import RBF
from likewise.spaces.base import Continuous, Crossover, Moves
from likewise.spaces.simplex import Simplex
from likewise.testing.spaces import check_space

simplices = st.builds(Simplex, st.integers(2, 6), total=st.sampled_from([1.0, 100.0, 0.3]))


@given(simplices, st.integers(0, 2**31))
@settings(max_examples=12, deadline=None)
def test_laws_of_spaces(space: Simplex, seed: int) -> None:
    check_space(space, np.random.default_rng(seed), n=8)
    assert isinstance(space, Continuous)
    assert isinstance(space, Moves)
    assert isinstance(space, Crossover)


def test_laws_of_spaces_under_a_predicate() -> None:
    check_space(Simplex(4, where=lambda x: x[0] < 0.4))


@given(arrays.arrays(float, (4, 5), elements=st.floats(-10, 10)), st.integers(0, 2**31))
@settings(deadline=None)
def test_projection_is_the_nearest_point(vectors: np.ndarray, seed: int) -> None:
    """The nearest point p of a convex set is where (v − p)·(q − p) ≤ 0 for every other point q of it."""
    space = Simplex(5)
    p = space.project(vectors)
    assert np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    corners = [*np.eye(5), *space.sample(20, np.random.default_rng(seed))]
    for q in corners:
        assert np.all(np.sum((vectors - p) * (q - p), axis=1) <= 1e-9 * (1 + np.abs(vectors).max()))


@given(arrays.arrays(float, (3, 4), elements=st.floats(-5, 5)))
def test_pull_is_the_derivative_along_the_simplex(gradient: np.ndarray) -> None:
    space = Simplex(4, total=20.0)
    z = np.full((3, 4), 0.25)
    pulled = space.pull(z, gradient)
    np.testing.assert_allclose(pulled.sum(axis=1), 0.0, atol=1e-9)
    for k in range(1, 4):
        step = 1e-6 * (np.eye(4)[k] - np.eye(4)[0])
        change = np.array(space.from_vector(z + step)) - np.array(space.from_vector(z - step))
        np.testing.assert_allclose(pulled @ step, 0.5 * np.sum(gradient * change, axis=1), atol=1e-9)


def test_samples_are_uniform() -> None:
    """Under Dirichlet(1, …, 1) a part is at most t with probability 1 − (1 − t)^(n − 1)."""
    x = np.array(Simplex(3, total=2.0).sample(4000, np.random.default_rng(0)))
    assert np.mean(x <= 0.5, axis=0) == pytest.approx(np.full(3, 1 - 0.75**2), abs=0.04)


def test_moves_shift_mass_between_two_parts() -> None:
    space = Simplex(5, total=10.0)
    x = np.array([4.0, 6.0, 0.0, 0.0, 0.0])
    moved = space.moves(x, np.random.default_rng(0))
    assert len(moved) > 5
    for y in moved:
        assert np.sum(y != x) == 2
        assert y.sum() == pytest.approx(10.0)
        assert y.min() >= 0
    assert any(y[0] == 0 or y[1] == 0 for y in moved)


def test_view_looks_at_fractions() -> None:
    small, large = Simplex(3), Simplex(3, total=100.0)
    x, y = small.sample(2, np.random.default_rng(0))
    assert large.view(RBF(0.2))(100 * x, 100 * y) == pytest.approx(RBF(0.2)(x, y))
    assert small.view(RBF(0.2))(x, y) == pytest.approx(RBF(0.2)(x, y))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.5, 0.5], r"has shape \(2,\); the composition has 3 parts"),
        ([0.5, 0.7, -0.2], r"part 2 is -0.2; the parts of a composition are not negative"),
        ([0.5, 0.4, 0.2], r"add up to 1.1, not to 1"),
        ([0.5, np.nan, 0.5], r"part 1 is nan"),
        (["a", "b", "c"], r"is not a composition of 3 numbers"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Simplex(3).fit(x)


def test_fit_rounds_off_noise() -> None:
    x = Simplex(3).fit([0.3333333, 0.3333333, 0.3333333])
    assert x.sum() == pytest.approx(1.0, abs=1e-15)
    assert Simplex(3).fit([1.0 + 1e-8, -1e-8, 0.0]).min() == 0.0


@pytest.mark.parametrize(("n", "total"), [(1, 1.0), (2.5, 1.0), (3, 0.0), (3, np.inf)])
def test_a_simplex_that_cannot_be_is_refused(n: Any, total: float) -> None:
    with pytest.raises(SpaceError):
        Simplex(n, total=total)


BOUNDED = {
    "bounds": Simplex(4, lower=[0.1, 0, 0, 0.2], upper=[0.5, 0.6, 0.3, 0.9]),
    "few": Simplex(6, most=3),
    "few and bounds": Simplex(5, upper=0.45, most=3),
    "one": Simplex(3, most=1),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_within_bounds_the_nearest_composition_is_found(name: str) -> None:
    space, rng = BOUNDED[name], np.random.default_rng(0)
    vectors = rng.normal(0.3, 0.6, (50, space.dimension))
    others = space.to_vector(space.sample(3000, rng))
    mine = np.linalg.norm(vectors - space.project(vectors), axis=1)
    nearest = np.linalg.norm(vectors[:, None] - others[None], axis=2).min(axis=1)
    # Which parts to keep is chosen by size, which is not always nearest where bounds are tight as well.
    assert np.all(nearest - mine >= (-1e-9 if name != "few and bounds" else -0.3))


@given(st.integers(2, 9), st.data())
def test_any_vector_leads_to_a_composition_that_is_exact(n: int, data: st.DataObject) -> None:
    most = data.draw(st.integers(1, n))
    total = data.draw(st.sampled_from([1.0, 100.0, 7.3]))
    lower = data.draw(st.lists(st.floats(0, 0.9 / most), min_size=n, max_size=n))
    lower = [low if k < most else 0.0 for k, low in enumerate(lower)]
    upper = [data.draw(st.floats(max(low, 1.0 / most), 1.0)) for low in lower]
    space = Simplex(n, lower=[total * x for x in lower], upper=[total * x for x in upper], most=most, total=total)
    rng = np.random.default_rng(n)
    far = space.from_vector(rng.normal(size=(20, n)))
    for x in [*far, *space.sample(20, rng), *space.moves(far[0], rng)]:
        assert np.sum(x > 0) <= most
        assert abs(x.sum() - total) <= 1e-12 * total * n
        assert np.all(x >= np.array(lower) * total - 1e-12 * total)
        assert np.all(x <= np.array(upper) * total + 1e-12 * total)


def test_samples_use_every_number_of_parts_and_fill_the_bounds() -> None:
    x = np.array(Simplex(6, most=3).sample(600, np.random.default_rng(0)))
    assert np.bincount(np.sum(x > 0, axis=1), minlength=4)[1:].min() > 150
    bounded = np.array(Simplex(3, upper=0.6).sample(2000, np.random.default_rng(0)))
    np.testing.assert_allclose(bounded.mean(axis=0), 1 / 3, atol=0.02)
    assert bounded.min() < 0.01
    assert bounded.max() > 0.59


def test_recipes_have_their_names_whatever_their_order() -> None:
    recipe = Simplex(names=["water", "dye", "acid"], total=100, where="dye <= 20")
    assert list(recipe.fit({"acid": 30, "water": 70})) == ["water", "dye", "acid"]
    for x in recipe.sample(20, np.random.default_rng(0)):
        assert x["dye"] <= 20
        assert recipe.from_json(recipe.to_json(x)) == x
    score = lw.Hellinger()
    first, other = {"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 1.0}
    assert score(first, dict(reversed(other.items()))) == score(first, other) == score([1.0, 3.0], [2.0, 1.0])


@pytest.mark.parametrize("similarity", ["auto", lw.Aitchison()])
def test_a_study_finds_a_recipe_of_few_ingredients(similarity: object) -> None:
    space = Simplex(names=["a", "b", "c", "d"], lower={"a": 0.1}, upper={"b": 0.5}, most=3)
    study = lw.Study(space, similarity, seed=1)  # type: ignore[arg-type]
    best = np.array([0.3, 0.0, 0.7, 0.0])
    for _ in range(3):
        for s in study.ask(3):
            assert sum(share > 0 for share in s.object.values()) <= 3
            assert s.object["a"] >= 0.1
            study.tell(s, -float(np.sum((np.array(list(s.object.values())) - best) ** 2)))
    assert study.best.value is not None
    assert study.best.value > -0.3


def test_recipes_of_molecules_are_compared_by_their_ingredients() -> None:
    pytest.importorskip("rdkit")
    names = ["CCO", "CO", "c1ccccc1", "Cc1ccccc1"]
    space = Simplex(names=names, most=2)
    found = space.recognise(np.random.default_rng(0))
    assert found.kind == "mixtures"
    pure = [space.fit({name: 1.0}) for name in names]
    alike = found.similarities[0]
    assert alike(pure[0], pure[1]) > alike(pure[0], pure[2])
    assert len(lw.Study(space, seed=0).ask(3)) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Simplex(), "number of its parts, or their names"),
        (lambda: Simplex(3, names=["a", "b"]), "n=3, but there are 2 names"),
        (lambda: Simplex(names="abc"), "a list of texts"),
        (lambda: Simplex(names=["a", "a"]), "each once"),
        (lambda: Simplex(names=["a", "b"], lower={"c": 1}), "has the part 'c'; the names are a, b"),
        (lambda: Simplex(3, lower=0.5), "between 1.5 and 3 of the total; loosen"),
        (lambda: Simplex(3, upper=0.3), "of the total; loosen"),
        (lambda: Simplex(6, upper=0.3, most=3), "3 parts add up to between 0 and 0.9"),
        (lambda: Simplex(3, lower=0.1, most=2), "3 parts have a lower bound above 0, but at most 2"),
        (lambda: Simplex(3, lower=-0.1), "0 ≤ lower ≤ upper"),
        (lambda: Simplex(3, most=0), "at least one part is used"),
        (lambda: Simplex(3, most=2).fit([0.2, 0.3, 0.5]), "3 parts above 0, and at most 2"),
        (lambda: Simplex(names=["a", "b"], upper={"a": 0.4}).fit({"a": 0.5, "b": 0.5}), "part 'a' is 0.5, outside"),
        (lambda: Simplex(names=["a", "b"]).fit({"a": 0.5, "c": 0.5}), "has a part 'c'; the parts are a, b"),
        (lambda: Simplex(names=["a", "b"]).fit([0.5, 0.5]), "give a dict of a, b"),
    ],
)
def test_recipes_that_cannot_be_are_refused(make: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        make()
