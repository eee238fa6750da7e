"""A plate map: in which well which run is, with replicates and controls, in an order that is drawn by lots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars

from likewise.errors import UsageError
from likewise.tables.dialect import Dialect
from likewise.tables.writing import dialect_for, write

# Rows and columns of plates by their number of wells.
PLATES = {6: (2, 3), 12: (3, 4), 24: (4, 6), 48: (6, 8), 96: (8, 12), 384: (16, 24), 1536: (32, 48)}
CONTROL = "control"


class Well(NamedTuple):
    """A well of a plate, when it is run, and the run in it with the number of its replicate; None for a control."""

    plate: int
    well: str
    order: int
    run: int | None
    replicate: int


def wells(count: int) -> list[str]:
    """The names of the wells of a plate, row by row.

    >>> wells(6)
    ['A1', 'A2', 'A3', 'B1', 'B2', 'B3']
    """
    if count not in PLATES:
        raise UsageError(f"A plate has {', '.join(map(str, PLATES))} wells, not {count}; give one of these.")
    rows, columns = PLATES[count]
    letters = [chr(65 + i) if i < 26 else f"A{chr(65 + i - 26)}" for i in range(rows)]
    return [f"{letter}{column}" for letter in letters for column in range(1, columns + 1)]


def plate_map(runs: int, size: int = 96, controls: int = 0, replicates: int = 1, seed: int = 0) -> list[Well]:
    """Each run in `replicates` wells and `controls` on each plate, in random order, on as many plates as it takes.

    The wells are filled row by row in the order of the runs, so that neither place nor time goes with the rank. The
    replicates of a run are spread over the whole.
    """
    names = wells(size)
    if not 0 <= controls < size:
        raise UsageError(f"{controls} controls leave no room on a plate of {size} wells; give fewer.")
    rng, room = np.random.default_rng(seed), size - controls
    # Each round of replicates is drawn by itself, so that all runs come once before any comes twice.
    order = [(int(run), turn) for turn in range(1, replicates + 1) for run in rng.permutation(runs)]
    found: list[Well] = []
    for plate, start in enumerate(range(0, len(order), room), 1):
        filled: list[tuple[int | None, int]] = [*order[start : start + room]]
        for turn in range(1, controls + 1):
            filled.insert(int(rng.integers(len(filled) + 1)), (None, turn))
        found += [Well(plate, names[k], len(found) + k + 1, run, turn) for k, (run, turn) in enumerate(filled)]
    return found


def write_plate(
    target: Path, found: Sequence[Well], runs: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[str]]
) -> None:
    """Write a plate map as a table: where, when, which run and which replicate, and the settings of the run."""
    rows = [
        {
            "plate": str(well.plate),
            "well": well.well,
            "order": str(well.order),
            "run": CONTROL if well.run is None else runs[well.run],
            "replicate": str(well.replicate),
            **{name: None if well.run is None else cells[well.run][k] for k, name in enumerate(columns)},
        }
        for well in found
    ]
    names = ["plate", "well", "order", "run", "replicate", *columns]
    frame = polars.DataFrame(rows, schema=dict.fromkeys(names, polars.String()))
    write(frame, target, dialect_for(target, Dialect()))
