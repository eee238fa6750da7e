"""What cannot be meant is refused by name, with its value and what to give instead; nothing raw, nothing silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
import pytest

import likewise as lw
from likewise import plots
from likewise.acquisition.acquisitions import Acquisition, Slopes
from likewise.integrations.optuna import LikewiseSampler
from likewise.similarity.base import Similarity

WORDS = ["AC", "AG", "AT", "CC", "CG", "GG", "GT", "TT"]
SOLVENTS = ["THF", "DMF", "DMSO", "water"]
REACTIONS = lw.Record(solvent=SOLVENTS, T=lw.Float(0, 1), base=["KOAc"])


def _near(x: Any, y: Any) -> float:
    return 1.0 / (1.0 + abs(x - y))


def _ask(space: lw.Space | None = None, similarity: Any = None, told: int = 6, **options: Any) -> Any:
    """What a study of words, or of another space, asks after some have been told."""
    study = lw.Study(space or lw.Pool(WORDS), lw.Hamming() if similarity is None else similarity, **options)
    objects = study.space.sample(told, np.random.default_rng(0)) if space else WORDS[:told]
    study.tell_many([(x, float(i)) for i, x in enumerate(objects)])
    return study.ask(2)


@dataclass(frozen=True)
class Tunes(lw.Space):
    kind = "molecule"  # type: ignore[assignment]
    where: Callable[[Any], bool] | None = None

    def _draw(self, n: int, rng: np.random.Generator) -> list[Any]:
        return ["a"] * n

    def _fit(self, x: Any) -> Any:
        return x


class Lengths(Similarity):
    """A similarity whose methods may be replaced by wrong ones."""

    def __init__(self, **wrong: Callable[..., Any]) -> None:
        self.wrong = wrong

    def encode(self, objects: Any) -> Any:
        return self.wrong.get("encode", np.array)([len(x) for x in objects])

    def between(self, a: Any, b: Any) -> Any:
        return self.wrong.get("between", lambda a, b: np.equal.outer(a, b) * 0.5 + 0.5)(a, b)

    def within(self, a: Any) -> Any:
        return self.wrong.get("within", lambda a: np.ones(len(a)))(a)


class Worth(Acquisition):
    """An acquisition that is a function of the mean."""

    def __init__(self, of: Callable[[Any], Any]) -> None:
        self.of = of

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return self.of(mean)

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        return Slopes(self.of(mean), self.of(mean), self.of(mean))


def _custom(sample: Callable[[Any], Any] = lambda rng: int(rng.integers(99)), told: int = 6, **functions: Any) -> Any:
    return _ask(lw.Custom(sample, **functions), _near, told)


def _optuna(*given: Any, **named: Any) -> None:
    study = optuna.create_study(sampler=LikewiseSampler(*given, **named))
    study.optimize(lambda t: len(t.suggest_categorical("solvent", SOLVENTS)) + t.suggest_float("T", 0, 1), 6)


def _run(**options: Any) -> lw.Result:
    return lw.maximize(lambda x: x.count("A"), lw.Pool(WORDS), lw.Hamming(), **{"budget": 3} | options)


SIMILARITIES: list[tuple[Callable[[], Any], str]] = [
    (lambda: lw.Study(Tunes()), "kind 'molecule': did you mean 'molecules'"),
    (
        lambda: _ask(similarity=Lengths(between=lambda a, b: np.ones((len(b), len(a))))),
        r"`between` .*\(6, 8\).* \(8, 6\)",
    ),
    (
        lambda: _ask(similarity=Lengths(between=lambda a, b: np.ones(len(a)))),
        r"`between` .*shape \(6,\).*a row for each",
    ),
    (lambda: _ask(similarity=Lengths(between=lambda a, b: None)), "`between` .* None"),
    (lambda: _ask(similarity=Lengths(between=lambda a, b: np.ones((len(a), len(b))) + 1j)), "`between` .*complex"),
    (lambda: _ask(similarity=Lengths(within=lambda a: 1.0)), "`within` .*1.0.*one for each object"),
    (lambda: _ask(similarity=Lengths(within=lambda a: 1.0), told=0), "`within` .*1.0.*one for each object"),
    (lambda: _ask(similarity=Lengths(encode=lambda lengths: None)), "`encode` of Lengths gave None"),
    (
        lambda: _ask(similarity=Lengths(encode=lambda lengths: np.ones(3))),
        "`encode` of Lengths gave the encodings of 3",
    ),
    (lambda: _ask(similarity=lw.from_distance(lambda x, y: -1.0)), "distance is negative: .* = -1; return 0"),
    (lambda: lw.from_distance(lambda x, y: float("nan"))("a", "b"), "distance is not a finite number"),
    (lambda: _ask(similarity=lw.from_distance(lambda x, y: 1.0 if x == y else 0.2)), "from itself is not 0.*as it is"),
    (lambda: lw.Parts(T=lambda x, y: -1.0)({"T": 1}, {"T": 2}), r"negative: S\(1, 2\) = -1"),
    (lambda: lw.Study(REACTIONS, lw.Parts(solvnt=lw.Equal(), T=lw.RBF())), "'solvnt'.* did you mean 'solvent'"),
    (lambda: lw.Study(REACTIONS, lw.Parts(T=lw.RBF())), "nothing compares the field 'solvent'"),
    (lambda: lw.Study(REACTIONS, [lw.Parts(T=lw.RBF()), 2.0 * lw.Parts(T=lw.Matern())]), "the field 'solvent'"),
    (lambda: _optuna(distance={"solvnt": _near}), "no trial has the parameter 'solvnt'.*did you mean 'solvent'"),
    (lambda: _optuna(objects={"solvent": SOLVENTS}), "'solvent' has objects and nothing that compares them"),
    (lambda: _optuna(distance={"T": _near}), "'T' is a number"),
    (lambda: _optuna({"solvent": lw.Hamming()}, objects={"solvent": 3}), "objects of parameter 'solvent' are a list"),
    (lambda: _optuna({"solvent": lambda x, y: float(x != y)}), "distance: .*'solvent': '(THF|DMF|DMSO|water)'"),
    (
        lambda: _optuna(distance={"solvent": lambda x, y: -1.0}),
        r"distance is negative: <lambda>\('(THF|DMF|DMSO|water)'",
    ),
]

SIMILARITIES += [
    (lambda: lw.RBF("a"), "positive lengthscales, not 'a'"),  # type: ignore[arg-type]
    (lambda: lw.Matern([]), r"positive lengthscales, not \[\]"),
    (lambda: lw.Equal("a"), "`otherwise` from 0 .* 'a'"),  # type: ignore[arg-type]
    (lambda: lw.warped(lw.RBF(), "a"), "warped needs a positive power, not 'a'"),  # type: ignore[arg-type]
    (lambda: lw.RBF() * "a", "multiplied by a number or a similarity, not by 'a'"),  # type: ignore[operator]
    (lambda: lw.from_distance(_near, lengthscale="a"), "positive lengthscale, not 'a'"),  # type: ignore[arg-type]
    (lambda: lw.Parts("sum", "ab", a=lw.RBF(), b=lw.RBF()), "one positive weight for each .* 'ab'"),  # type: ignore[arg-type]
]

SPACES: list[tuple[Callable[[], Any], str]] = [
    (lambda: lw.Float("0", 1), "two finite numbers.* '0' and 1"),  # type: ignore[arg-type]
    (lambda: lw.Int(0, "3"), "two finite numbers.* 0 and '3'"),  # type: ignore[arg-type]
    (lambda: lw.Box([True], [3]), r"bounds are finite numbers.* \[True\]"),
    (lambda: _custom(contains=lambda x: x < 10, told=0), "gave [0-9]+, of which its `contains` says no; .*`where`"),
    (lambda: _custom(sample=lambda: 3), r"sample\(rng\) of the custom space raised TypeError"),  # type: ignore[arg-type, misc]
    (lambda: _custom(sample=lambda rng: None, told=0), "gave None; return an object"),
    (lambda: _custom(moves=lambda x, rng: None), r"moves\(\d+, rng\) of the custom space gave None; return a list"),
    (lambda: _custom(moves=lambda x, rng: 1 / 0), r"moves\(\d+, rng\) .* raised ZeroDivisionError"),
]

SPACES += [
    (lambda: lw.Grammar(3), "rules of a Grammar are a mapping.* 3"),  # type: ignore[arg-type]
    (lambda: lw.Molecules(3), "list of at least one SMILES .* 3"),  # type: ignore[arg-type]
]

STUDIES: list[tuple[Callable[[], Any], str]] = [
    *((lambda bad=bad: _run(target=bad), f"target must be a number, not {bad!r}") for bad in (float("nan"), "3", True)),
    (lambda: _run(callbacks=3), "a callback is a function of the study and a trial, not 3"),
    (lambda: _run(synchronous="no"), "synchronous must be True or False, not 'no'"),
    (lambda: _run(timeout=True), "timeout must be positive, not True"),
    (lambda: lw.Study(lw.Pool(WORDS), storage=3), "storage=3 is no storage; .*sqlite:///"),  # type: ignore[arg-type]
    (lambda: _ask(acquisition=Worth(lambda mean: mean * np.nan)), "acquisition Worth gave NaN .* −inf"),
    (lambda: _ask(lw.Box([0.0], [1.0]), lw.RBF(), acquisition=Worth(lambda mean: None)), "Worth gave None"),
    (lambda: LikewiseSampler(seed="a"), "seed is a whole number .* 'a'"),  # type: ignore[arg-type]
    (lambda: LikewiseSampler(independent_sampler=3), "independent_sampler=3"),  # type: ignore[arg-type]
    *(
        (lambda draw=draw: getattr(plots, draw)(_run()), "of a study, not of Result.*give its `study`")
        for draw in ("progress", "predictions", "calibration", "object_map", "weights", "front", "hypervolume")
    ),
]


STUDIES += [
    (lambda: lw.Study(lw.Pool(WORDS)).optimize(3), "f is a function of an object, not 3"),  # type: ignore[arg-type]
    (lambda: lw.Study(REACTIONS).ask(2, same=3), r"same=3 names no parts; .*same=\['"),  # type: ignore[arg-type]
    (lambda: lw.Study(REACTIONS).ask(2, at_most=3), "at_most=3 names no parts; .*'ligand': 3"),  # type: ignore[arg-type]
    (lambda: lw.Study(REACTIONS).ask(2, fix=3), "fix=3 names no parts"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (make, error, said)
        for error, rows in ((lw.SimilarityError, SIMILARITIES), (lw.SpaceError, SPACES), (lw.StudyError, STUDIES))
        for make, said in rows
    ],
)
def test_it_is_refused_with_thing_value_and_remedy(
    make: Callable[[], Any], error: type[lw.LikewiseError], said: str
) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with pytest.raises(error, match=f"(?s){said}"):
        make()


def test_fields_that_are_compared_together_or_do_not_vary_are_not_missed() -> None:
    for similarity in (lw.Parts(T=lw.RBF()) + lw.Parts(solvent=lw.Equal()), lw.Parts(T=lw.RBF()) + (lambda x, y: 1.0)):
        assert len(lw.Study(REACTIONS, similarity).ask(2)) == 2
