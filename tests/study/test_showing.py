"""What is shown of a study and its parts fits on a screen, names nothing private, and cannot be changed."""

from __future__ import annotations

import copy
import logging
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

import likewise as lw

# A terminal of 24 lines of 80 characters.
SCREEN = 24 * 80


def told(n: int = 40) -> lw.Study:
    study = lw.Study(lw.Box([0.0] * 60, [1.0] * 60), lw.RBF(), seed=1)
    points = np.random.default_rng(0).random((n, 60))
    study.tell_many([(x, float(x[0])) for x in points])
    return study


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    study = told()
    suggestion = study.ask()[0]
    study.fail([0.5] * 60, "x" * 10_000)
    return {
        "study": study,
        "suggestion": suggestion,
        "trial": study.trials[0],
        "failed": study.trials[-1],
        "committee": study.committee(),
        "member": study.committee().members[0],
        "diagnosis": study.diagnose(),
        "prediction": study.predict([t.object for t in study.trials]),
        "recommendation": study.recommend()[0],
        "posterior": lw.condition(lw.RBF(1.0), [t.object for t in study.trials[:30]], np.arange(30.0)),
        "comparison": lw.compare(np.linspace(0.0, 6.0, 25), np.sin(np.linspace(0.0, 6.0, 25)), lw.RBF()),
        "result": lw.Result(suggestion.object, 1.0, study, "the budget is spent"),
    }


def test_nothing_that_is_shown_is_longer_than_a_screen(shown: dict[str, Any]) -> None:
    lengths = {name: max(len(repr(thing)), len(str(thing))) for name, thing in shown.items()}
    assert max(lengths.values()) < SCREEN, lengths


def test_no_private_name_is_shown(shown: dict[str, Any]) -> None:
    private = {name: repr(thing) for name, thing in shown.items() if "(_" in repr(thing) or "=_" in repr(thing)}
    assert not private


def test_a_study_says_how_many_trials_it_has_and_the_best_value() -> None:
    study = lw.Study(lw.Strings("ACGT", 4), lw.Hamming(), direction="minimize")
    assert repr(study).endswith("name='study': 0 trials)")
    study.tell_many([("ACGT", 2.5), ("AAAA", 1.25)])
    assert repr(study).endswith("name='study': 2 trials, best 1.25)")


def test_a_suggestion_cannot_be_changed_but_copied_and_sent(shown: dict[str, Any]) -> None:
    suggestion = lw.Study(lw.Strings("ACGT", 4), lw.Hamming()).ask()[0]
    with pytest.raises(TypeError):
        suggestion.notes["stage"] = "mine"  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        suggestion.mean = 2.0  # type: ignore[misc]
    for twin in (copy.deepcopy(suggestion), pickle.loads(pickle.dumps(suggestion))):
        assert (twin, dict(twin.notes)) == (suggestion, dict(suggestion.notes))


def test_everything_is_shown_as_a_small_escaped_table(shown: dict[str, Any]) -> None:
    for name in ("study", "suggestion", "trial", "committee", "diagnosis"):
        html = shown[name]._repr_html_()
        assert html.count("<table>") == html.count("</table>") == 1, name
        assert len(html) < 4 * SCREEN
    study = lw.Study(lw.Pool(["<b>", "a&b", "c", "d", "e", "f"]), lw.Levenshtein())
    assert "&lt;b&gt;" in study.ask(6)._repr_html_()
    study.tell("<b>", 1.0)
    for html in (study._repr_html_(), study.trials._repr_html_(), study.best._repr_html_()):
        assert "&lt;b&gt;" in html
        assert "<b>" not in html


def test_a_front_is_shown_with_a_column_for_each_objective() -> None:
    study = lw.Study(lw.Pool(["a", "b"]), lw.Hamming(), objectives={"yield": "maximize", "cost": "minimize"})
    study.tell_many([("a", {"yield": 1.0, "cost": 2.0}), ("b", {"yield": 2.0, "cost": 3.0})])
    assert "<th>yield</th><th>cost</th>" in study.front._repr_html_()
    assert "2 on the front" in study._repr_html_()


def test_suggested_molecules_are_drawn_and_other_texts_are_not() -> None:
    pytest.importorskip("rdkit")
    molecules = lw.Study(lw.Pool(["CCO", "CCN", "c1ccccc1"]), lw.Tanimoto())
    assert molecules.ask(2)._repr_html_().count("<svg") == 2
    assert "<svg" not in lw.Study(lw.Pool(["CCO", "CCN"]), lw.Levenshtein()).ask()._repr_html_()


def test_asks_and_fits_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    study = lw.Study(lw.Strings("ACGT", 4), lw.Hamming())
    study.tell_many([(x, x.count("A")) for x in ("AAAA", "AACC", "CCCC", "ACGT", "GGGG")])
    with caplog.at_level(logging.DEBUG, logger="likewise"):
        study.ask(2)
    levels = {record.levelname: record.getMessage() for record in caplog.records}
    assert levels["INFO"].startswith("asked 2 of study 'study', 7 trials: ")
    assert levels["INFO"].endswith(str(study.effort))
    assert levels["DEBUG"].startswith("fitted Committee(")
