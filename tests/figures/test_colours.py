"""Yellow is never the worst: the bright end of the scale is the good one, whichever direction is good."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import likewise as lw
from likewise import plots
from likewise.figures import figures
from likewise.figures.figures import Map


def brightness(minimize: bool) -> np.ndarray:
    points = np.arange(8.0).reshape(4, 2)
    shown = Map(list("abcd"), points, np.array([1.0, 2.0, 3.0, np.nan]), [3], 1.0)
    figure = figures.object_map(shown, "y", minimize=minimize)
    (drawn,) = [c for c in figure.axes[0].collections if c.get_gid() == "measured"]
    drawn.update_scalarmappable()
    return np.asarray(drawn.get_facecolors())[:, :3].sum(axis=1)


@pytest.mark.parametrize(("minimize", "best"), [(False, 2), (True, 0)])
def test_the_best_value_is_the_brightest(minimize: bool, best: int) -> None:
    assert int(np.argmax(brightness(minimize))) == best


def test_maps_of_studies_know_the_direction() -> None:
    study = lw.Study(lw.Pool([[x] for x in range(6)]), lw.RBF(), direction="minimize")
    study.tell_many([([x], float(x)) for x in range(5)])
    (drawn,) = [c for c in plots.object_map(study).axes[0].collections if c.get_gid() == "measured"]
    assert drawn.get_cmap().name == "viridis_r"
