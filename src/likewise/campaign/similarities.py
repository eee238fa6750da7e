"""Which similarities compare a table's objects: those the user named, or those that suit the kind of object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.campaign.listener import Listener
from likewise.campaign.names import similarities
from likewise.errors import UsageError
from likewise.search.batch import Strategy
from likewise.similarity.auto.recognise import Recognised, of_field, of_kind, of_texts, recognise
from likewise.similarity.base import Similarity
from likewise.similarity.combine.parts import Parts
from likewise.spaces.base import Space

JUDGED = 2_000
# In a column that is called SMILES, texts are molecules and those that do not parse mistakes, if half of these do.
READ, HALF = 200, 0.5


@dataclass(frozen=True)
class Request:
    """What the user asked for, beside the columns."""

    similarity: tuple[str, ...] = ()
    space: Space | None = None
    direction: Literal["maximize", "minimize"] = "maximize"
    seed: int = 0
    acquisition: Acquisition | None = None
    strategy: Strategy | None = None
    skip_bad: bool = False
    # Whether all candidates will be compared, or the measured rows alone.
    searching: bool = False


def choose_similarities(
    request: Request, space: Space, objects: Sequence[Any], column: str, listener: Listener
) -> list[Similarity]:
    """The similarities that the user named, or those that suit the kind of object."""
    named = similarities(request.similarity)
    if isinstance(named, list):
        return named
    if isinstance(named, dict):
        return [_of_columns(named, objects)]
    if request.space is not None:
        found = space.recognise(np.random.default_rng(request.seed))
    else:
        found = recognise_column(objects, request.seed, column)
    what = f"column {column!r}" if column else "the objects"
    listener.note(f"Treating {what} as {found.kind}{f': {found.why}' if found.why else ''}")
    if found.kind != "molecules" and _called_smiles(column) and not _has_rdkit():
        listener.note("To compare SMILES as molecules, install likewise[molecules]")
    return list(found.similarities)


def molecular(similarity: Similarity) -> bool:
    """Whether the objects as a whole are compared as molecules."""
    return similarity.kind == "molecules"


def recognise_column(objects: Sequence[Any], seed: int = 0, column: str = "") -> Recognised:
    """The kind of the objects; whether many texts are molecules is judged by some, for reading all takes long."""
    texts = all(isinstance(x, str) for x in objects)
    if texts and _called_smiles(column) and _mostly_molecules(objects):
        return of_kind("molecules", "", objects)
    if len(objects) <= JUDGED or not texts:
        return recognise(objects)
    some = np.random.default_rng(seed).choice(len(objects), size=JUDGED, replace=False)
    found = recognise([objects[i] for i in some.tolist()])
    return found if found.kind == "molecules" else of_texts(objects, molecules=False)


def _called_smiles(column: str) -> bool:
    return column.strip().lower().endswith(("smiles", "smi"))


def _has_rdkit() -> bool:
    return find_spec("rdkit") is not None


def _mostly_molecules(texts: Sequence[str]) -> bool:
    if not texts or not _has_rdkit():
        return False
    from rdkit.Chem import MolFromSmiles
    from rdkit.rdBase import BlockLogs

    some = texts[:: -(-len(texts) // READ)]
    with BlockLogs():
        return sum(bool(text) and MolFromSmiles(text) is not None for text in some) >= HALF * len(some)


def _of_columns(named: dict[str, Similarity], objects: Sequence[Any]) -> Similarity:
    """Records compared column by column: as the user said, and otherwise as suits the column."""
    if not objects or not isinstance(objects[0], Mapping):
        raise UsageError("Similarities by column are for objects of several columns; name the similarity alone.")
    if unknown := [name for name in named if name not in objects[0]]:
        raise UsageError(
            f"A similarity is named for column {unknown[0]!r}, but the objects have the columns "
            f"{', '.join(map(repr, objects[0]))}."
        )
    rest = [name for name in objects[0] if name not in named]
    parts = {name: of_field([x[name] for x in objects]).similarities[0] for name in rest}
    return Parts("product", None, **{name: named.get(name) or parts[name] for name in objects[0]})
