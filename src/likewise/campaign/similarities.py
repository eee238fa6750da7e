"""Which similarities compare a table's objects: those the user named, or those that suit the kind of object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.campaign.aims import Aims
from likewise.campaign.listener import Listener
from likewise.campaign.names import similarities
from likewise.errors import UsageError
from likewise.search.batch import Strategy
from likewise.similarity.auto.column import called_smiles, of_columns, recognise_column
from likewise.similarity.auto.text_kind import has_rdkit
from likewise.similarity.base import Similarity
from likewise.similarity.combine.fields import Fields
from likewise.spaces.base import Space
from likewise.study.goals import Bounds
from likewise.study.methods.base import Method

# Kinds of similarities that compare rows of numbers.
NUMERIC = ("vectors", "compositions")


@dataclass(frozen=True)
class Request:
    """What the user asked for, beside the columns."""

    similarity: tuple[str, ...] = ()
    space: Space | None = None
    direction: Literal["maximize", "minimize"] = "maximize"
    seed: int = 0
    acquisition: Acquisition | None = None
    strategy: Strategy | None = None
    method: Method | None = None
    skip_bad: bool = False
    # Whether all candidates will be compared, or the measured rows alone.
    searching: bool = False
    bounds: Bounds | Mapping[str, Bounds] | None = None
    # What is wanted of several columns; None where one is optimised.
    aims: Aims | None = None


def choose_similarities(
    request: Request, space: Space, objects: Sequence[Any], column: str, listener: Listener
) -> list[Similarity]:
    """The similarities that the user named, or those that suit the kind of object."""
    named = similarities(request.similarity)
    if isinstance(named, list):
        return [_of_records(one, objects) for one in named]
    if isinstance(named, dict):
        return [_of_columns(named, objects)]
    if request.space is None and not objects:
        raise UsageError("The table has no row with an object; fill in a row for each candidate, or give a space.")
    if request.space is not None:
        found = space.recognise(np.random.default_rng(request.seed))
    else:
        found = recognise_column(objects, request.seed, column)
    what = f"column {column!r}" if column else "the objects"
    listener.note(f"Treating {what} as {found.kind}{f': {found.why}' if found.why else ''}")
    if found.warning:
        listener.note(f"Warning: {found.warning}")
    if found.kind != "molecules" and called_smiles(column) and not has_rdkit():
        listener.note("To compare SMILES as molecules, install likewise[molecules]")
    if request.method is not None:
        # Another method than the default one compares by one similarity: the first, in the range of the objects.
        return [space.view(found.similarities[0])]
    return list(found.similarities)


def molecular(similarity: Similarity) -> bool:
    """Whether the objects as a whole are compared as molecules."""
    return similarity.kind == "molecules"


def _of_records(similarity: Similarity, objects: Sequence[Any]) -> Similarity:
    """A similarity of vectors, for records: of the numbers in all their columns."""
    if similarity.kind not in NUMERIC or not objects or not isinstance(objects[0], Mapping):
        return similarity
    for name, value in objects[0].items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(
                f"{similarity.name} compares numbers, and column {name!r} holds {value!r}; name a similarity for each "
                f"column, as in {name}=equal."
            )
    return Fields(similarity, tuple(objects[0]))


def _of_columns(named: dict[str, Similarity], objects: Sequence[Any]) -> Similarity:
    """Records compared column by column: as the user said, and otherwise as suits the column."""
    if not objects or not isinstance(objects[0], Mapping):
        raise UsageError("Similarities by column are for objects of several columns; name the similarity alone.")
    if unknown := [name for name in named if name not in objects[0]]:
        raise UsageError(
            f"A similarity is named for column {unknown[0]!r}, but the objects have the columns "
            f"{', '.join(map(repr, objects[0]))}."
        )
    return of_columns(named, objects)
