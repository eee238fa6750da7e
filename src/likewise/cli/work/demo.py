"""What `likewise demo` does: a whole optimisation in a made-up laboratory, whose files are left to look at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

from likewise.campaign.journal import Journal
from likewise.campaign.names import Request
from likewise.campaign.results import merge_files
from likewise.campaign.sheet import Choices
from likewise.campaign.text import Listener
from likewise.cli.commands import options
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.cli.work.suggest import Files, Typed, answer, suggest
from likewise.errors import UsageError

# A made-up laboratory for the demonstration: amides of para-substituted benzoic acids, and a yield nobody measured.
#
# Each building block has two invented numbers, how it pulls on electrons and how bulky it is. The yield is best for one
# balance of the two, with some noise. The molecules exist on paper alone; the numbers are nobody's data.

# SMILES of the substituent (put where {} is), its pull and its bulk.
RINGS: dict[str, tuple[float, float]] = {
    "c1ccccc1{}": (0.0, 0.0),
    "c1cc(F)ccc1{}": (0.1, 0.1),
    "c1cc(Cl)ccc1{}": (0.25, 0.3),
    "c1cc(Br)ccc1{}": (0.25, 0.45),
    "c1cc(C)ccc1{}": (-0.15, 0.3),
    "c1cc(CC)ccc1{}": (-0.15, 0.5),
    "c1cc(C(C)C)ccc1{}": (-0.15, 0.7),
    "c1cc(C(C)(C)C)ccc1{}": (-0.2, 1.0),
    "c1cc(OC)ccc1{}": (-0.3, 0.4),
    "c1cc(OCC)ccc1{}": (-0.3, 0.55),
    "c1cc(N(C)C)ccc1{}": (-0.75, 0.55),
    "c1cc(C#N)ccc1{}": (0.65, 0.3),
    "c1cc(C(F)(F)F)ccc1{}": (0.55, 0.6),
    "c1cc([N+](=O)[O-])ccc1{}": (0.8, 0.45),
    "c1cc(C(=O)OC)ccc1{}": (0.45, 0.6),
    "c1cc(SC)ccc1{}": (0.0, 0.5),
    "c1cc(c2ccccc2)ccc1{}": (0.0, 0.9),
    "c1cc(OC(F)(F)F)ccc1{}": (0.35, 0.6),
}
AMINES: dict[str, tuple[float, float]] = {
    "NC": (-0.1, 0.1),
    "NCC": (-0.12, 0.2),
    "NCCC": (-0.12, 0.3),
    "NC(C)C": (-0.15, 0.45),
    "NC1CC1": (-0.1, 0.4),
    "NC1CCCC1": (-0.15, 0.6),
    "NC1CCCCC1": (-0.15, 0.75),
    "NC(C)(C)C": (-0.2, 1.0),
    "N1CCCC1": (-0.3, 0.5),
    "N1CCCCC1": (-0.3, 0.65),
    "N1CCOCC1": (-0.05, 0.65),
    "N1CCN(C)CC1": (-0.2, 0.75),
    "NCC#N": (0.4, 0.3),
    "NCC(F)(F)F": (0.45, 0.4),
    "NCc1ccccc1": (0.05, 0.7),
    "Nc1ccccc1": (0.3, 0.6),
}
NOISE = 1.5


@dataclass(eq=False)
class Laboratory:
    """Molecules whose yields are known to nobody but the laboratory.

    >>> laboratory = Laboratory(seed=0)
    >>> len(laboratory.molecules), 0 < max(laboratory.truth.values()) < 100
    (288, True)
    """

    seed: int = 0

    @cached_property
    def truth(self) -> dict[str, float]:
        """The yield of each molecule, without noise."""
        yields = {}
        for (ring, (pull, bulk)), (amine, (other_pull, other_bulk)) in product(RINGS.items(), AMINES.items()):
            smiles = ring.format(f"C(=O){amine}")
            off = ((pull - 0.4 * other_pull - 0.45) / 0.25) ** 2 + ((bulk + 0.8 * other_bulk - 0.9) / 0.3) ** 2
            yields[smiles] = 4.0 + 88.0 * math.exp(-0.5 * off)
        return yields

    @cached_property
    def molecules(self) -> list[str]:
        """All molecules, in an order of the seed's."""
        names = list(self.truth)
        return [names[i] for i in np.random.default_rng(self.seed).permutation(len(names))]

    def measure(self, smiles: str) -> float:
        """A measurement of the yield in percent; the same one whenever it is repeated."""
        rng = np.random.default_rng([self.seed, self.molecules.index(smiles)])
        return round(min(max(self.truth[smiles] + NOISE * float(rng.standard_normal()), 0.0), 100.0), 1)

    def write(self, target: Path) -> None:
        """The table of all molecules, none of them measured."""
        names = [f"amide {number}" for number in range(1, len(self.molecules) + 1)]
        columns = {"name": names, "smiles": self.molecules, "yield": None, "round": None}
        polars.DataFrame(columns).write_csv(target)

    def fill_in(self, target: Path) -> None:
        """Measure what was suggested, and write the yields into the file."""
        table = polars.read_csv(target, infer_schema=False)
        yields = polars.Series("yield", [str(self.measure(smiles)) for smiles in table["smiles"]])
        table.with_columns(yields).write_csv(target)

    def measurements(self, table: Path) -> dict[str, float]:
        """The yields that a table holds."""
        rows = polars.read_csv(table, infer_schema=False).select("smiles", polars.col("yield").cast(float)).rows()
        return {smiles: value for smiles, value in rows if value is not None}


TABLE, NEXT, REPORT = "molecules.csv", "next.csv", "report.html"
COLUMNS = options.ColumnOptions(["smiles"], ["yield"])


class DemoRound(NamedTuple):
    """What was known after a batch: the best measured yield, and how many molecules are truly better than any of these.

    `rank` counts from 1 among all `molecules`, by the yield without noise.
    """

    round: int
    measured: int
    best: float
    rank: int
    molecules: int


def demo(folder: Path, rounds: int, n: int, seed: int, force: bool, console: Console) -> Reply:
    """The rounds of a made-up optimisation, and the suggestions after them."""
    table, following, report = _files(folder, force)
    laboratory = Laboratory(seed)
    laboratory.write(table)
    with console.working("measuring", rounds) as progress:
        done = []
        for number in range(1, rounds + 1):
            done.append(_measure(laboratory, table, following, n, number))
            progress.advance()
    command = f"likewise suggest {table} --object smiles --value yield -n {n} --out {following} --report {report}"

    def data() -> dict[str, Any]:
        answer(table, COLUMNS.choices, _request(seed), n, Files(following, report), Listener())
        files = {"table": str(table), "next": str(following), "report": str(report)}
        return {"rounds": [round._asdict() for round in done], "files": files, "next_command": command}

    def in_words() -> None:
        say(f"{table}: {len(laboratory.molecules)} made-up molecules, none of them measured at first.", "")
        rows = [(str(r.round), str(r.measured), f"{r.best:.1f}", f"{r.rank} of {r.molecules}") for r in done]
        say_table(("round", "measured", "best yield (%)", "true rank"), rows, right=(0, 1, 2, 3))
        say("", "The next batch, and the report:", "", f"    {command}", "")
        choices = dict.fromkeys(("space", "method", "acquisition", "strategy"))
        choices |= {"n": n, "out": following, "report": report}
        typed = Typed(choices, COLUMNS, options.Aim(seed=seed), options.PlateOptions(), more=False, force=False)
        suggest(table, typed, console).say()

    return Reply(data, in_words)


def _files(folder: Path, force: bool) -> list[Path]:
    """The files of the demonstration in their folder, where none of them is left."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, and the demonstration needs a folder; give another name.")
    files = [folder / name for name in (TABLE, NEXT, REPORT)]
    taken = [file for file in (*files, Journal.of(files[0]).path) if file.exists()]
    if taken and not force:
        there = ", ".join(file.name for file in taken)
        raise UsageError(f"{folder} holds {there} already; give another folder, or --force to replace them.")
    folder.mkdir(parents=True, exist_ok=True)
    for file in taken:
        file.unlink()
    return files


def _request(seed: int) -> Request:
    return Request(seed=seed, searching=True)


def _measure(laboratory: Laboratory, table: Path, following: Path, n: int, number: int) -> DemoRound:
    """One round: suggestions, their measurements, and both merged into the table."""
    asked = answer(table, COLUMNS.choices, _request(laboratory.seed), n, Files(following), Listener())
    laboratory.fill_in(following)
    merged = merge_files(table, following, Choices(), "stop", table, Listener())
    first = None if asked.committed is None else asked.committed.backup
    for file in (first, merged.backup, following):
        if file is not None:
            file.unlink()
    measured = laboratory.measurements(table)
    best = max(laboratory.truth[smiles] for smiles in measured)
    better = sum(truth > best for truth in laboratory.truth.values())
    return DemoRound(number, len(measured), max(measured.values()), better + 1, len(laboratory.truth))
