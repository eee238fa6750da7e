"""The report's pictures for notebooks: each takes a study and returns a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from likewise.errors import StudyError
from likewise.figures import figures as pictures
from likewise.figures import plot_data as views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from likewise.study.study import Study
    from likewise.study.suggestion import Suggestion

FEWEST = 3


def progress(study: Study, suggestions: Sequence[Suggestion] = (), *, name: str = "value") -> Figure:
    """Values in the order they were told, the best so far, and what is expected of suggestions."""
    _enough(study, 1)
    return pictures.progress(views.course(study), suggestions, name)


def predicted(study: Study, *, name: str = "value") -> Figure:
    """Each measured value against what the other objects predict for it, with 95 % intervals."""
    _enough(study, FEWEST)
    return pictures.predicted(study.diagnose().left_out, name)


def calibration(study: Study) -> Figure:
    """How many values lie inside their leave-one-out intervals, against how many should."""
    _enough(study, FEWEST)
    return pictures.calibration(study.diagnose().left_out)


def object_map(
    study: Study, suggestions: Sequence[Suggestion] = (), *, most: int = views.MAPPED, name: str = "value"
) -> Figure:
    """The objects in the plane, by their similarity alone: measured ones coloured by value, suggestions numbered."""
    _enough(study, 1)
    return pictures.object_map(views.object_map(study, suggestions, most), name)


def weights(study: Study) -> Figure:
    """How much each similarity counts in the committee."""
    _enough(study, 1)
    committee = study.committee()
    names = [similarity.name for similarity in committee.similarities]
    return pictures.weights(names, committee.similarity_weights().tolist())


def _enough(study: Study, least: int) -> None:
    told = len(views.course(study).values)
    if told < least:
        raise StudyError(f"study {study.name!r} has {told} observations; this picture needs at least {least}")
