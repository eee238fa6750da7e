"""The studies: tables of spaces, made-up functions, options, and what is done."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from tests.golden.bench import Golden, ask, begin, do, in_child, in_threads, on_cluster, optimize, resume

import likewise as lw

WORDS = ["".join(letters) for letters in product("ABE", repeat=4)]
SMILES = [
    f"{head}C(=O)N{tail}"
    for head in ("C", "CC", "c1ccccc1", "c1ccc(F)cc1", "c1ccc(OC)cc1", "C1CCCCC1", "ClC")
    for tail in ("C", "CC", "C(C)C", "C1CC1", "Cc1ccccc1", "CC#N", "CCO")
]
LIGANDS, BASES, SOLVENTS = ("XPhos", "SPhos", "dppf", "PPh3"), ("K2CO3", "KOAc", "Cs2CO3"), ("DMF", "toluene", "water")
ROWS = [
    {"ligand": ligand, "base": base, "T": T, "price": round(1.0 + 0.7 * i + T / 90, 2)}
    for i, ligand in enumerate(LIGANDS)
    for base in BASES
    for T in (20, 50, 80)
]
MIXED = {"T": lw.Float(20, 120, step=5), "time": lw.Float(0.5, 24, log=True), "solvent": list(SOLVENTS)}


def letters(x: str) -> float:
    """Some letters are better than others, the more so the later they stand."""
    return math.sin(sum((place + 1.0) * "AEBCGTKMYWS".find(letter) for place, letter in enumerate(x)) / 3.0)


def vowels(x: str) -> float:
    return sum(place + 1.0 for place, letter in enumerate(x) if letter in "AE") - 0.5 * x.count("AA")


def atoms(x: str) -> float:
    return 3.0 * x.count("F") - 2.0 * x.count("#") + 0.3 * len(x) - 0.01 * len(x) ** 2 + 0.5 * x.count("1")


def reacted(x: Mapping[str, Any]) -> float:
    heat = -(((x["T"] - 60) / 40.0) ** 2)
    return 50 + 20 * heat + 9 * len(x.get("ligand", "")) % 7 + 3.0 * len(x.get("base", x.get("solvent", "")))


def hill(x: Any) -> float:
    """One hill, somewhat bent."""
    return float(sum(math.sin(3.0 * v + i) - (v - 0.4) ** 2 for i, v in enumerate(np.ravel(x))))


def noisy(x: Any) -> lw.Measurement:
    """The hill with something that looks like noise, and its standard deviation."""
    return lw.Measurement(hill(x) + 0.1 * math.sin(1e3 * float(np.sum(x))), std=0.1)


def on_days(x: Any) -> lw.Measurement:
    """What is measured on one of the days is too high."""
    day = "monday" if math.sin(37.0 * float(np.sum(x))) > 0 else "friday"
    return lw.Measurement(hill(x) + (0.4 if day == "monday" else 0.0), block=day)


def limited(x: Any) -> Any:
    """A detector with two ends."""
    value = hill(x)
    return lw.Below(0.0) if value < 0.0 else lw.Above(1.2) if value > 1.2 else value


def fragile(x: Any) -> float:
    if float(np.ravel(x)[0]) > 0.7:
        raise ArithmeticError("precipitated")
    return hill(x)


def order(x: Any) -> float:
    """Which items come early."""
    return sum(math.cos(place) * (item if isinstance(item, int) else len(item)) for place, item in enumerate(x))


def basket(x: frozenset[str]) -> float:
    return sum(math.cos(len(item)) for item in sorted(x)) - 0.2 * (len(x) - 3) ** 2 + ("salt" in x and "egg" in x)


def ties(x: Any) -> float:
    """Of a graph: how many edges there are, and who is at their ends."""
    names = dict(x.nodes(data="label"))
    return -0.5 * abs(x.number_of_edges() - 4) + sum(names[a] != names[b] for a, b in x.edges) - 0.1 * len(names)


def bet(x: Any) -> float:
    """E[sin 3ω − ω²/10] of a Gaussian, in closed form."""
    mean, variance = np.asarray(x.mean), np.asarray(x.covariance)
    variance = np.diag(variance) if variance.ndim == 2 else variance
    return float(np.sum(np.sin(3 * mean) * np.exp(-4.5 * variance) - 0.1 * (mean**2 + variance)))


def chosen(x: Mapping[str, Any]) -> float:
    """Of settings that only one choice has."""
    match x:
        case {"svm": {"C": c, "kernel": kernel}}:
            return 0.8 - 0.05 * math.log(c) ** 2 + 0.05 * (kernel == "rbf")
        case {"forest": {"depth": depth}}:
            return 0.85 - 0.01 * (depth - 7) ** 2
        case _:
            return 0.5


def alloy(x: Mapping[str, float]) -> dict[str, float]:
    a, b = x["a"], x["b"]
    return {"strength": 10 * a + 4 * b * (1 - b), "price": 2 + 3 * a**2 + b, "impurity": 1 + 2 * a * b}


def some_of(names: Sequence[str], x: Mapping[str, float]) -> dict[str, float]:
    """These of an alloy's outcomes."""
    return {name: value for name, value in alloy(x).items() if name in names}


def four(x: Any) -> dict[str, float]:
    a, b = (float(v) for v in x)
    return {"p": math.sin(3 * a) + b, "q": math.cos(2 * b) - a, "r": a * b, "s": (a - b) ** 2}


def in_parts(study: lw.Study) -> None:
    """The outcomes of one run arrive one by one, one of them as a limit; another run fails after its first."""
    first, second = study.ask(2)
    values = alloy(first.object)
    study.tell(first, {"strength": values.pop("strength")})
    study.tell(second, {"strength": 1.0})
    study.fail(second, "decomposed")
    study.tell(first, {"impurity": lw.Below(1.9)})


def queue(study: lw.Study) -> None:
    """Objects are put in line, are under way, and one of them is given back."""
    study.enqueue("BBBB", "EEEE")
    study.mark_running(["ABAB", "BABA"])
    study.abandon("BABA")


def exchange(study: lw.Study) -> None:
    """A second worker of one stored study."""
    other = lw.Study(study.space, seed=3, storage=study.storage, worker="another")
    for s in other.ask(2):
        other.tell(s, hill(s.object))
    other.ask(1)


def unlike(a: float, b: float) -> float:
    """A similarity that is no kernel."""
    return max(0.0, 1.0 - abs(a - b) / 6.0) * (1.0 if (a - b) % 2 == 0 else 0.6)


def square(**options: Any) -> lw.Box:
    return lw.Box([0.0, 0.0], [1.0, 1.0], **options)


def pair() -> lw.Record:
    return lw.Record(a=lw.Float(0, 1), b=lw.Float(0, 1))


def gamma() -> lw.Family:
    from scipy.special import gammaincinv, gammaln

    return lw.Family(
        sample=lambda x, n, rng: x[1] * gammaincinv(x[0], rng.random(n)),
        log_density=lambda w, x: (x[0] - 1) * np.log(w) - w / x[1] - gammaln(x[0]) - x[0] * np.log(x[1]),
        parameters=lw.Box([0.5, 0.1], [9.0, 4.0], log=[0, 1]),
        name="Gamma",
    )


def series() -> lw.Pool:
    times = np.linspace(0, 6, 8)
    return lw.Pool([(np.sin(times * (1 + k / 12) + k) + 0.02 * k).round(2) for k in range(30)])


def even() -> lw.Custom:
    return lw.Custom(
        lambda rng: 2 * int(rng.integers(60)),
        moves=lambda x, rng: [y for y in (x - 8, x - 2, x + 2, x + 8) if 0 <= y < 120],
        contains=lambda x: x % 2 == 0 and 0 <= x < 120,
    )


ROUNDS = (begin(), ask(2), ask(2))
WORD_POOL = partial(lw.Pool, WORDS)
AIMS = {"strength": "maximize", "price": "minimize"}
IMPURITY = {"constraints": {"impurity": lw.AtMost(1.6)}}

# Each kind of space and of object, compared by what "auto" stands for.
SPACES = {
    "pool of words": Golden(WORD_POOL, vowels, ROUNDS),
    "pool of molecules": Golden(partial(lw.Pool, SMILES), atoms, ROUNDS, needs=["rdkit"]),
    "pool of reactions": Golden(
        partial(lw.Pool, [f"{x}.NCC>>{x}CN" for x in SMILES[:30]]), lambda x: atoms(x) / 2, ROUNDS, needs=["rdkit"]
    ),
    "pool of numbers": Golden(partial(lw.Pool, [0.37 * k for k in range(60)]), lambda x: hill(x / 9), ROUNDS),
    "pool of records": Golden(partial(lw.Pool, ROWS), reacted, ROUNDS),
    "pool of vectors": Golden(
        partial(lw.Pool, [[math.sin(k), math.cos(2.0 * k), k / 50] for k in range(50)]), hill, ROUNDS
    ),
    "pool of bits": Golden(
        partial(lw.Pool, [tuple(int(b) for b in f"{k * 37 % 256:08b}") for k in range(60)]), hill, ROUNDS
    ),
    "pool of series": Golden(series, lambda x: hill(x[::2]), ROUNDS),
    "pool of proteins": Golden(
        partial(lw.Pool, ["".join("AKMYWS"[k * p // 5 % 6] for p in range(1, 9)) for k in range(40)]),
        letters,
        ROUNDS,
        needs=["Bio"],
    ),
    "pool by a function": Golden(
        partial(lw.Pool, [float(k) for k in range(40)]), lambda x: hill(x / 13), ROUNDS, {"similarity": lambda: unlike}
    ),
    "pool in parts": Golden(
        partial(lw.Pool, ["".join(x) for x in product("ACGT", repeat=6)]),
        letters,
        (begin(30), ask(8)),
        {"similarity": lambda: [lw.Hamming(), lw.NGrams(3)]},
    ),
    "strings": Golden(lambda: lw.Strings("ACGT", length=7), letters, ROUNDS),
    "strings of any length": Golden(
        lambda: lw.Strings("ACGT", min_length=3, max_length=7, where=lambda x: "GG" not in x), letters, ROUNDS
    ),
    "mutants": Golden(lambda: lw.Mutants("AKMYWSKA", most=3, positions=[1, 2, 4, 6, 7]), letters, ROUNDS),
    "permutations": Golden(lambda: lw.Permutations(8), order, ROUNDS),
    "permutations of items": Golden(
        lambda: lw.Permutations(["cut", "drill", "painting", "pack"], steps=["insert"]), order, ROUNDS
    ),
    "subsets": Golden(
        lambda: lw.Subsets(["salt", "oil", "egg", "flour", "butter", "yeast", "sugar"], min_size=1, max_size=5),
        basket,
        ROUNDS,
    ),
    "box": Golden(square, hill, ROUNDS),
    "box of six": Golden(lambda: lw.Box([0.0] * 6, [1.0] * 6), hill, (begin(20), ask(3))),
    "box of scales": Golden(
        lambda: lw.Box([1e-4, 1, 20], [1e-1, 8, 120], log=[0], integer=[1]),
        lambda x: -((math.log10(x[0]) + 2) ** 2) - 0.1 * (x[1] - 3) ** 2 + math.sin(x[2] / 20),
        ROUNDS,
    ),
    "float": Golden(lambda: lw.Float(20, 120, step=5), lambda x: hill(x / 60), (begin(6), ask(2), ask(2))),
    "int": Golden(lambda: lw.Int(1, 64, log=True), lambda x: hill(math.log(x) / 2), (begin(6), ask(2), ask(2))),
    "categorical": Golden(
        lambda: lw.Categorical(list("abcdefghij")),
        lambda x: math.sin(ord(x)),
        (begin(6), ask(2), ask(1)),
        delicate=True,
    ),
    "simplex": Golden(lambda: lw.Simplex(3, total=100.0), lambda x: hill(x / 100), ROUNDS),
    "recipes": Golden(
        lambda: lw.Simplex(
            names=["water", "glycerol", "dye", "salt"], lower={"water": 50}, upper={"dye": 5}, most=3, total=100
        ),
        lambda x: hill([x["water"] / 100, x["glycerol"] / 50, x["dye"] / 5]),
        ROUNDS,
        delicate=True,
    ),
    "record": Golden(lambda: lw.Record(**MIXED), reacted, ROUNDS),
    "record with conditions": Golden(
        lambda: lw.Record(
            where="x + y + z = 100 and x >= 2*y and solvent != 'DMF'",
            x=lw.Float(0, 100, step=5),
            y=lw.Float(0, 40, step=5),
            z=lw.Float(0, 100, step=5),
            solvent=list(SOLVENTS),
        ),
        lambda x: hill([x["x"] / 100, x["y"] / 40]) + 0.2 * len(x["solvent"]),
        (begin(), ask(2)),
        looks=["best", "predict", "explain"],
    ),
    "branches": Golden(
        lambda: lw.OneOf(
            svm=lw.Record(C=lw.Float(0.01, 100, log=True), kernel=["rbf", "linear"]),
            forest=lw.Record(depth=lw.Int(1, 20)),
            bayes=None,
        ),
        chosen,
        ROUNDS,
    ),
    "graphs": Golden(
        lambda: lw.Graphs((2, 5), labels="CNO", connected=True), ties, ROUNDS, needs=["networkx"], delicate=True
    ),
    "Gaussians": Golden(lambda: lw.Gaussians(mean=(-3, 3), variance=(0.01, 4)), bet, ROUNDS),
    "full Gaussians": Golden(
        lambda: lw.Gaussians(mean=(-3, 3), variance=(0.05, 4), dimension=2, covariance="full"),
        bet,
        (begin(), ask(2)),
        looks=["best", "predict", "explain"],
    ),
    "family": Golden(
        gamma,
        lambda x: hill(np.log(np.asarray(x))),
        (begin(8), ask(2)),
        {"similarity": lambda: [lw.MonteCarloJS(samples=32), lw.RBF()]},
    ),
    "custom": Golden(
        even, lambda x: hill(x / 40), ROUNDS, {"similarity": lambda: lambda a, b: 1 / (1 + abs(a - b) / 9)}
    ),
    "grammar": Golden(
        lambda: lw.Grammar({"S": ["S + S", "sin S", "( S )", "x", "y", "1"]}, max_depth=4),
        lambda x: math.sin(x.count("x")) + 0.3 * x.count("sin") - 0.05 * len(x) + 0.2 * x.rfind("y"),
        ROUNDS,
        delicate=True,
    ),
    "molecules": Golden(
        lambda: lw.Molecules(["CCO", "c1ccccc1O", "CC(=O)N"], max_tokens=8),
        atoms,
        (begin(8), ask(1)),
        needs=["selfies"],
        looks=["best", "predict", "explain"],
    ),
}

# What is asked for, what is known beforehand, and what comes back.
DATA = {
    "minimise": Golden(square, hill, ROUNDS, {"direction": "minimize"}),
    "noise": Golden(square, noisy, (begin(), ask(2), ask(2, replicates=True))),
    "noise in a pool": Golden(
        partial(lw.Pool, [0.1 * k for k in range(40)]), noisy, (begin(12), begin(6), ask(3, replicates=True))
    ),
    "bounds": Golden(square, lambda x: min(2.0, 1.5 + hill(x)), ROUNDS, {"bounds": (0, 2)}),
    "blocks": Golden(square, on_days, (begin(14), ask(2), ask(2))),
    "limits": Golden(square, limited, (begin(12), ask(2), ask(2))),
    "failures": Golden(square, fragile, (begin(12), ask(2), ask(2))),
    "failures in a pool": Golden(partial(lw.Pool, [0.05 * k for k in range(40)]), fragile, ROUNDS),
    "a bad measurement": Golden(
        WORD_POOL, vowels, (begin(14), do(lambda study: study.tell("BAEB", 897.0)), ask(2)), {"similarity": lw.Hamming}
    ),
    "a wide range": Golden(square, lambda x: math.exp(4 * hill(x)), ROUNDS),
    "a target": Golden(square, hill, (optimize(budget=14, target=1.9),)),
    "a small gain": Golden(WORD_POOL, vowels, (begin(20), optimize(budget=20, stop_when=0.5, patience=2))),
    "many values": Golden(square, hill, (begin(120), ask(2)), {"similarity": lw.Matern}),
    "waiting": Golden(WORD_POOL, vowels, (begin(), ask(3, leave=2), do(queue), ask(3, leave=1), ask(2))),
    "from the beginning": Golden(partial(lw.Pool, ROWS), reacted, (ask(4), ask(3), ask(2)), {"initial": 6}),
    "plates": Golden(
        partial(lw.Pool, ROWS),
        reacted,
        (
            begin(),
            ask(4, same=["T"], groups=2),
            ask(3, at_most={"ligand": 1}, fix={"base": "KOAc"}),
            ask(2, where="T < 60 and ligand != 'dppf'"),
        ),
    ),
    "plates of a record": Golden(
        lambda: lw.Record(**MIXED), reacted, (begin(), ask(3, same=["T"]), ask(2, fix={"solvent": "DMF"}))
    ),
    "a budget": Golden(
        partial(lw.Pool, ROWS), reacted, (begin(), ask(3, cost="price", budget=7.5), ask(2, cost="price"))
    ),
}

# Several outcomes.
OUTCOMES = {
    "two objectives": Golden(pair, partial(some_of, tuple(AIMS)), ROUNDS, {"objectives": AIMS}, delicate=True),
    "four objectives": Golden(square, four, ROUNDS, {"objectives": dict.fromkeys("pqrs", "maximize")}),
    "a constraint": Golden(
        pair,
        partial(some_of, ("strength", "impurity")),
        ROUNDS,
        {"objectives": {"strength": "maximize"}, "constraints": {"impurity": lw.AtMost(1.5)}},
    ),
    "two objectives and a constraint": Golden(
        pair,
        alloy,
        (begin(), ask(2), do(in_parts), ask(2)),
        {
            "objectives": AIMS,
            "constraints": {"impurity": lw.Between(1.1, 1.6)},
            "preference": lw.Weighted({"strength": 2.0, "price": 1.0}),
            "reference": {"strength": 0.0, "price": 8.0},
            "bounds": {"strength": (0, None)},
        },
    ),
    "a price that is known": Golden(
        partial(lw.Pool, ROWS),
        lambda x: {"yield": reacted(x)},
        (begin(), ask(2), ask(3, budget=8.0, cost="price")),
        {
            "objectives": {"yield": "maximize", "price": lw.Computed("price")},
            "preference": lw.Desirability({"yield": (20, 80), "price": (6, 1)}),
        },
    ),
}

# How it is chosen.
METHODS = {
    **{
        f"acquisition {name}": Golden(square, hill, ROUNDS, {"acquisition": acquisition}, delicate=name == "pi")
        for name, acquisition in {
            "pi": lw.ProbabilityOfImprovement,
            "ucb": lambda: lw.UpperConfidence(2.0),
            "mean": lw.Mean,
        }.items()
    },
    **{
        f"strategy {name} in a {where}": Golden(space, f, (begin(), ask(3)), {"strategy": strategy})
        for name, strategy in {
            "thompson": lw.Thompson,
            "top score": lw.TopScore,
            "two stages": lw.TwoStage,
        }.items()
        for where, space, f in (("box", square, hill), ("pool", WORD_POOL, vowels))
    },
    **{
        f"spectrum {name}": Golden(
            partial(lw.Pool, [float(k) for k in range(40)]),
            lambda x: hill(x / 13),
            (begin(), ask(2)),
            {"similarity": lambda: unlike, "spectrum": name},
        )
        for name in ("clip", "flip")
    },
    "paper": Golden(
        lambda: lw.Box([0.0, 0.0], [3.0, 3.0]),
        hill,
        (begin(8), ask(2), ask(2)),
        {"method": lw.Paper, "similarity": lw.RBF},
    ),
    "paper by its second strategy": Golden(
        WORD_POOL,
        vowels,
        ROUNDS,
        {"method": lambda: lw.Paper(noise=0.1, strategy="top", singular="minimum_norm"), "similarity": lw.Indel},
    ),
}

# Where it is kept and who evaluates.
PLACES = {
    "resumed": Golden(
        square,
        hill,
        (begin(), ask(2, leave=1), resume(), ask(2), resume(similarity=lw.RBF()), ask(2)),
        {"storage": True},
    ),
    "resumed record": Golden(
        pair, alloy, (begin(), ask(2), resume(), ask(2)), {"storage": True, "objectives": AIMS, **IMPURITY}
    ),
    "two workers": Golden(
        square, hill, (begin(), ask(1), do(exchange), ask(2)), {"storage": True, "similarity": lw.Matern}
    ),
    "a child": Golden(WORD_POOL, vowels, (begin(), ask(2), in_child(2))),
    "threads": Golden(WORD_POOL, vowels, (begin(8), in_threads(4), ask(2))),
    "a cluster": Golden(
        WORD_POOL, vowels, (begin(), on_cluster(ask(2), ask(2))), {"similarity": lw.Hamming}, needs=["distributed"]
    ),
}

STUDIES = {**SPACES, **DATA, **OUTCOMES, **METHODS, **PLACES}
