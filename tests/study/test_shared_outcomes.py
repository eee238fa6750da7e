"""What the outcomes of a study share: the work, never the answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw

rng = np.random.default_rng(5)
WORDS = sorted({"".join(rng.choice(list("ACGT"), 8)) for _ in range(200)})
POINTS = rng.uniform(size=(30, 2)).tolist()


def outcomes_of(x: Any) -> dict[str, float]:
    if isinstance(x, str):
        return {"a": float(x.count("A")), "b": x.count("AC") + 0.3 * x.count("G"), "c": -float(x.count("TT"))}
    one, two = x
    return {"a": float(np.sin(3 * one)), "b": float(one * two), "c": float((one - two) ** 2)}


SPACES = {
    "words": (lambda: lw.Pool(WORDS), WORDS, WORDS[40:60]),
    "box": (lambda: lw.Box([0.0, 0.0], [1.0, 1.0]), POINTS, rng.uniform(size=(9, 2)).tolist()),
}


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("many", [8, 30])
def test_an_outcome_among_several_is_believed_as_alone(kind: str, many: int) -> None:
    space, objects, new = SPACES[kind]
    several = lw.Study(space(), objectives=dict.fromkeys("abc", "maximize"), seed=1)
    several.tell_many([(x, outcomes_of(x)) for x in objects[:many]])
    for name in "abc":
        alone = lw.Study(space(), seed=1)
        alone.tell_many([(x, outcomes_of(x)[name]) for x in objects[:many]])
        ours, theirs = several.predict(new, outcome=name), alone.predict(new)
        assert np.array_equal(ours.mean, theirs.mean)
        assert np.array_equal(ours.std, theirs.std)


def test_a_matrix_is_decomposed_once_for_all_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    from likewise.model import scores

    made, treat = [], scores.treat

    def counting(scores: Any, *rest: Any, **options: Any) -> Any:
        made.append(len(scores))
        return treat(scores, *rest, **options)

    monkeypatch.setattr(scores, "treat", counting)
    counts = []
    for names in ("a", "abc"):
        study = lw.Study(lw.Pool(WORDS), (lw.NGrams(1), lw.NGrams(2)), objectives=dict.fromkeys(names, "maximize"))
        study.tell_many([(x, {name: outcomes_of(x)[name] for name in names}) for x in WORDS[:30]])
        study.predict(WORDS[:2], outcome=names[0])
        counts.append(len(made))
        made.clear()
    assert counts[0] == counts[1] > 0
