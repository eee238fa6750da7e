"""BoTorch on pools: what is computed by hand for large ones is what the model's posterior says."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")
pytest.importorskip("botorch", reason="the peers are not installed")

import torch
from benchmarks.methods import botorch_kernels, botorch_pool
from benchmarks.tasks.pool import Part, Pool

pytestmark = pytest.mark.filterwarnings("ignore")
SIZE = 300


def pools() -> dict[str, Pool]:
    """A pool of each kind, its values a smooth function of the objects and some noise."""
    rng = np.random.default_rng(0)
    x, y = rng.random((2, SIZE))
    words = ["".join(word) for word in rng.choice(list("ACGT"), (SIZE, 6))]
    smiles = ["C" * int(a) + f"C({b})" + "O" * int(c) for a, b, c in rng.choice(["1", "2", "3"], (SIZE, 3))]
    smiles = [s.replace("(1)", "(F)N").replace("(2)", "(=O)N").replace("(3)", "(C#N)S") for s in smiles]
    category = rng.choice(["a", "b", "c"], SIZE)
    length, noise = np.array([len(s) for s in smiles], dtype=float), 0.1 * rng.normal(size=SIZE)
    parts = {
        "molecules": ([Part("smiles", "molecule", tuple(smiles))], length),
        "string": ([Part("seq", "string", tuple(words))], np.array([w.count("A") for w in words], dtype=float)),
        "mixed": (
            [Part("x", "number", tuple(x)), Part("y", "number", tuple(y)), Part("c", "category", tuple(category))],
            np.sin(5 * x) + y * (category == "a"),
        ),
        "reaction": ([Part("smiles", "molecule", tuple(smiles)), Part("x", "number", tuple(x))], length * x),
        "vector": ([Part("x", "number", tuple(x)), Part("y", "number", tuple(y))], np.sin(5 * x) + y),
    }
    return {kind: Pool(kind, kind, tuple(made), 100 + 7 * (v + noise)) for kind, (made, v) in parts.items()}


def begun(task: Pool, n: int = 40, seen_by: botorch_pool.Viewer = botorch_kernels.view) -> botorch_pool.PoolOptimiser:
    botorch_pool._VIEWS.clear()
    optimiser = botorch_pool.PoolOptimiser(task, 0, seen_by)
    optimiser.tell(list(range(n)), task.score(range(n)))
    return optimiser


@pytest.mark.parametrize("kind", ["molecules", "molecules by their bits", "string", "mixed", "reaction", "vector"])
def test_marginals_are_those_of_the_posterior(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit", reason="molecules need RDKit")
    if kind.endswith("bits"):
        monkeypatch.setattr(botorch_kernels, "MATRIX_LIMIT", 0)
    monkeypatch.setattr(botorch_pool, "ROWS", 128)
    optimiser = begun(pools()[kind.split()[0]])
    model = optimiser._fitted()
    with torch.no_grad():
        mean, variance = botorch_pool.marginals(model, optimiser.view.inputs)
        posterior = model.posterior(optimiser.view.inputs)
    assert mean.std() > 1
    assert variance.min() < 0.9 * variance.max()
    torch.testing.assert_close(mean, posterior.mean[:, 0], rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(variance, posterior.variance[:, 0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["string", "mixed"])
def test_either_way_picks_the_same_member(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = pools()[kind]
    jointly = begun(task).ask(1)
    assert "joint chunks" in botorch_pool.settings(task)
    monkeypatch.setattr(botorch_pool, "LARGE", 0)
    assert begun(task).ask(1) == jointly
    assert "marginals" in botorch_pool.settings(task)
    assert "joint chunks" not in botorch_pool.settings(task)


@pytest.mark.parametrize("kind", ["string", "vector"])
def test_either_way_picks_the_same_batch(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = pools()[kind]
    jointly = begun(task).ask(4)
    monkeypatch.setattr(botorch_pool, "LARGE", 0)
    assert begun(task).ask(4) == jointly


def test_a_batch_of_a_large_pool_is_picked_among_the_most_promising(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(botorch_pool, "LARGE", 0)
    monkeypatch.setattr(botorch_pool, "CHOICES", 4)
    task = pools()["string"]
    optimiser = begun(task)
    picked = optimiser.ask(4)
    model = optimiser._fitted()
    with torch.no_grad():
        gain = optimiser._log_ei(*botorch_pool.marginals(model, optimiser.view.inputs[40:]))
    assert set(picked) == set((40 + gain.topk(4).indices).tolist())
    assert "among the 4 members of highest" in botorch_pool.settings(task)


@pytest.mark.parametrize("limit", [0, 6000])
def test_descriptors_stand_beside_the_bits(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit", reason="molecules need RDKit")
    monkeypatch.setattr(botorch_kernels, "MATRIX_LIMIT", limit)
    task = pools()["molecules"]
    optimiser = begun(task, seen_by=botorch_kernels.described)
    inputs, kernel = optimiser.view.inputs, optimiser.view.kernel()
    bits, numbers = kernel.kernels
    plain = botorch_kernels.view(task)
    torch.testing.assert_close(bits(inputs[:9]).to_dense(), plain.kernel()(plain.inputs[:9]).to_dense())
    assert numbers.base_kernel.active_dims.tolist() == list(range(inputs.shape[1] - 13, inputs.shape[1]))
    assert optimiser.ask(1)[0] >= 40


@pytest.mark.parametrize("kind", ["mixed", "reaction"])
@pytest.mark.parametrize("kept", ["x y", "c", "c d", "smiles", "smiles x"])
def test_parts_of_one_kind_alone_have_a_kernel(kind: str, kept: str) -> None:
    pytest.importorskip("rdkit", reason="molecules need RDKit")
    made = pools()
    parts = {part.name: part for name in ("mixed", "reaction") for part in made[name].parts}
    parts["d"] = Part("d", "category", parts["c"].values[::-1])
    task = Pool(kind, kind, tuple(parts[name] for name in kept.split()), made[kind].values)
    assert begun(task).ask(1)[0] >= 40
