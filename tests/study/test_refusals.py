"""What cannot be meant is refused at once, and the error says what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import likewise as lw

WORDS = ["AC", "AG", "AT", "CC", "CG"]


def _study(*given: Any, **options: Any) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), *given, **options)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: _study(lw.Hamming), r"write Hamming\(\)"),
        (lambda: _study(lambda a: 1.0), "takes 1 argument; a similarity is a function of two objects"),
        (lambda: lw.from_function(lambda a: 1.0), "takes 1 argument; a similarity is a function of two objects"),
        (lambda: lw.symmetrised(lw.Hamming), r"write Hamming\(\)"),  # type: ignore[arg-type]
        (lambda: lw.from_distance(lambda a, b, c: 1.0), "takes 3 arguments"),  # type: ignore[arg-type, misc]
        (lambda: lw.Study(lw.Pool), r"write Pool\(…\)"),  # type: ignore[arg-type]
        (lambda: _study(spectrum="clipp"), "'clipp' is no treatment; give 'krein'"),
        (lambda: _study(initial=2.5), "initial must be at least 1 and whole, not 2.5"),
        (lambda: _study(initial=-1), "initial must be at least 1 and whole, not -1"),
        (lambda: _study(initial=True), "initial must be at least 1 and whole, not True"),
        (lambda: _study(seed=True), "a seed is a whole number from 0, or None to draw one, not True"),
        (lambda: _study().tell("AC", "1.5"), "is no number: '1.5'; tell a float"),
        (lambda: _study().tell("AC", True), "is no number: True"),
        (lambda: lw.Pool([]), "at least one object"),
        (lambda: lw.Strings(12), "an alphabet is a text"),  # type: ignore[arg-type]
        (lambda: lw.Precomputed(["a", "b"], [[1, 0.2], [0.3, 1]]), r"give the mean of the matrix and its transpose"),
        (lambda: lw.Pool(WORDS, where=lambda x: x["T"] > 20), "`where` raised TypeError for 'AC'"),
        (lambda: lw.Box(0, 1, where=lambda x: x["T"]).fit(0.5), "`where` raised"),
        (
            lambda: lw.Record(a=["x"], where=lambda x: None).fit({"a": "x"}),
            "`where` gave None for {'a': 'x'}; return True",
        ),
        (lambda: lw.Pool(WORDS, to_json=str), "Pool needs to_json and from_json together, or neither"),
        (lambda: lw.Custom(len, to_json=3, from_json=str), "Custom needs a function for to_json, not 3"),
        (lambda: lw.Record(a=lw.Float), r"'a' of a Record is a class of spaces; write Float\(…\)"),
        (
            lambda: _study(acquisition=lw.UpperConfidence),
            r"acquisition=UpperConfidence is a class.*UpperConfidence\(\)",
        ),
        (lambda: _study(method=lw.Paper), r"write Paper\(\)"),
        (lambda: lw.Custom(len, contains=lambda x: None).fit(3), r"contains\(3\) of the custom space gave None"),
        (lambda: lw.Precomputed(["a", "b"], [["x", "y"], ["z", "w"]]), "Precomputed needs a matrix of numbers"),
        (lambda: _study_of([None, "a"]), "object 0 is missing, None"),
    ],
)
def test_it_is_refused_with_a_remedy(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(lw.LikewiseError, match=said):
        make()


def _study_of(objects: list[Any]) -> lw.Study:
    return lw.Study(lw.Pool(objects))


def test_a_mean_of_the_matrix_and_its_transpose_is_taken() -> None:
    assert lw.Precomputed(["a", "b"], [[1, 0.25], [0.25, 1]])("a", "b") == 0.25


def test_an_unknown_option_is_named_with_those_that_may_be_meant() -> None:
    with pytest.raises(TypeError, match="there is no option 'n_trials'; there are 'seed', 'storage'"):
        lw.maximize(len, lw.Pool(WORDS), n_trials=10)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="there is no option 'worker_s'; did you mean 'workers' or 'worker'"):
        lw.minimize(len, lw.Pool(WORDS), worker_s=2)  # type: ignore[call-arg]


def test_what_is_answered_cannot_be_changed_and_may_be_a_key() -> None:
    study = lw.Study(
        lw.Record(a=["x", "y"], b=lw.Float(0, 1)), objectives={"y": "maximize", "z": "minimize"}, initial=2
    )
    study.tell_many([({"a": a, "b": b}, {"y": b, "z": b}) for a in "xy" for b in (0.1, 0.5, 0.9)])
    (s,) = study.ask()
    for held in (s.notes, s.outcomes, s.analogues):
        with pytest.raises(TypeError, match="does not support item assignment"):
            held["y"] = 1.0
    assert {s: 1, study.trials[0]: 2}[s] == 1
    study.tell({"a": "x", "b": 0.3}, {"y": 0.3, "z": 0.3}, notes={"by": "Ann"})
    study.trials[-1].notes["by"] = "Bob"  # type: ignore[index]
    study.trials[-1].object["b"] = 7.0
    assert (study.trials[-1].notes, study.trials[-1].object["b"]) == ({"by": "Ann"}, 0.3)
