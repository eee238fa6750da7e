"""The report's pictures for notebooks: each takes a study and returns a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from likewise.errors import StudyError
from likewise.figures import figures
from likewise.report import plot_data
from likewise.report import plot_data as front_data
from likewise.study.study import Study
from likewise.study.trial import Suggestion
from likewise.tables.cells import brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST = 3


def progress(study: Study, suggestions: Sequence[Suggestion] = (), *, name: str = "value") -> Figure:
    """Values in the order they were told, the best so far, and what is expected of suggestions.

    study: one with at least one observation.
    suggestions: those of an ask, which are drawn after the values; none by default.
    name: what the values are, for the axis; "value" by default.
    """
    _enough(study, 1)
    return figures.progress(plot_data.course(study), plot_data.expectations(suggestions), name)


def predictions(study: Study, *, name: str = "value") -> Figure:
    """Each measured value against what the other objects predict for it, with 95 % intervals.

    study: one with at least three observations.
    name: what the values are, for the axes; "value" by default.
    """
    _enough(study, FEWEST)
    return figures.predictions(study.diagnose(each=False).left_out, name)


def calibration(study: Study) -> Figure:
    """How many values lie inside their leave-one-out intervals, against how many should.

    study: one with at least three observations.
    """
    _enough(study, FEWEST)
    return figures.calibration(study.diagnose(each=False).left_out)


def object_map(
    study: Study, suggestions: Sequence[Suggestion] = (), *, most: int = plot_data.MAPPED, name: str = "value"
) -> Figure:
    """The objects in the plane, by their similarity alone: measured ones coloured by value, suggestions numbered.

    study: one with at least one observation.
    suggestions: those of an ask, which are drawn with their numbers; none by default.
    most: objects that are drawn at most, 1,500 by default, as more hide each other.
    name: what the values are, for the colours; "value" by default.
    """
    _enough(study, 1)
    minimize = study.goals.objective is not None and study.direction == "minimize"
    return figures.object_map(plot_data.object_map(study, suggestions, most), name, minimize=minimize)


def weights(study: Study) -> Figure:
    """How much each similarity counts in the committee.

    study: one with at least one observation.
    """
    _enough(study, 1)
    committee = study.committee()
    names = [similarity.name for similarity in committee.similarities]
    return figures.weights(names, committee.similarity_weights().tolist())


def front(study: Study, suggestions: Sequence[Suggestion] = ()) -> Figure:
    """The trade-off of several objectives: measured objects, the front among them, and what suggestions promise.

    Two objectives span the plane; from three on, each object is a line across one axis for each, better upwards.

    study: one of several objectives.
    suggestions: those of an ask, which are drawn with what is expected of them; none by default.
    """
    _of_study(study)
    return figures.front(front_data.front(study, suggestions))


def hypervolume(study: Study) -> Figure:
    """How much the front dominates after each measurement, from the reference that the study has by now.

    study: one of several objectives.
    """
    _of_study(study)
    return figures.hypervolume(front_data.volumes(study))


def _enough(study: Study, least: int) -> None:
    _of_study(study)
    observations = len(plot_data.course(study).values)
    if observations < least:
        raise StudyError(f"study {study.name!r} has {observations} observations; this picture needs at least {least}")


def _of_study(study: Any) -> None:
    if not isinstance(study, Study):
        remedy = "give its `study`" if isinstance(getattr(study, "study", None), Study) else "give a Study"
        raise StudyError(f"these pictures are of a study, not of {brief(study)}; {remedy}")
