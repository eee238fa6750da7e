"""Which similarities compare the objects of a table's column: by what they are, and by what the column is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from likewise.similarity.auto.recognise import Recognised, of_field, of_kind, of_texts, recognise
from likewise.similarity.auto.text_kind import read_as_smiles
from likewise.similarity.base import Similarity
from likewise.similarity.combine.parts import Parts

JUDGED = 2_000
# In a column that is called SMILES, texts are molecules and those that do not parse mistakes, if half of some do.
HALF = 0.5


def recognise_column(objects: Sequence[Any], seed: int = 0, column: str = "") -> Recognised:
    """The kind of the objects; whether many texts are molecules is judged by some, for reading all takes long."""
    texts = all(isinstance(x, str) for x in objects)
    if texts and called_smiles(column) and _mostly_molecules(objects):
        return of_kind("molecules", "", objects)
    if len(objects) <= JUDGED or not texts:
        return recognise(objects)
    some = np.random.default_rng(seed).choice(len(objects), size=JUDGED, replace=False)
    found = recognise([objects[i] for i in some.tolist()])
    return found if found.kind in ("molecules", "reactions") else of_texts(objects, molecules=False)


def called_smiles(column: str) -> bool:
    """Whether a column's name says that it holds SMILES.

    >>> called_smiles("ligand_SMILES"), called_smiles("name")
    (True, False)
    """
    return column.strip().lower().endswith(("smiles", "smi"))


def _mostly_molecules(texts: Sequence[str]) -> bool:
    parsed, tried = read_as_smiles(texts)
    return tried > 0 and parsed >= HALF * tried


def of_columns(named: Mapping[str, Similarity], objects: Sequence[Mapping[str, Any]]) -> Similarity:
    """Records compared column by column: as `named` says, and otherwise as suits the column."""
    rest = [name for name in objects[0] if name not in named]
    parts = {name: of_field([x[name] for x in objects]).similarities[0] for name in rest}
    return Parts("product", None, **{name: named.get(name) or parts[name] for name in objects[0]})
