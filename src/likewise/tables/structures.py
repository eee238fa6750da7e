"""Files of molecules: `.smi`, a SMILES and a name in each line, and `.sdf`, drawn molecules with their properties.

They hold no results. A column `value` is added, to be filled in where the table is written anew.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import TableError, import_extra

if TYPE_CHECKING:
    import polars

LINES, DRAWINGS = (".smi", ".smiles", ".ism"), (".sdf", ".sd")
HEADERS = ("smiles", "smi", "structure", "canonical_smiles")
VALUE = "value"
LISTED = 5


def structure_kind(source: Path) -> str | None:
    """Whether a file holds molecules by its name, and how: the end of the name, without .gz.

    >>> structure_kind(Path("library.smi.gz")), structure_kind(Path("runs.csv"))
    ('.smi', None)
    """
    ending = Path(source.name.lower().removesuffix(".gz")).suffix
    return ending if ending in (*LINES, *DRAWINGS) else None


def read_lines(text: str, source: Path) -> polars.DataFrame:
    """The molecules of a .smi file: a SMILES, and what follows it as the name."""
    import polars

    lines = polars.Series("line", [line for line in text.splitlines() if line.strip()], dtype=polars.String())
    if len(lines) and lines[0].split()[0].lower() in HEADERS:
        lines = lines[1:]
    if not len(lines):
        raise TableError(f"{source} holds no molecule; give a SMILES in each line.")
    found = lines.str.strip_chars().str.extract_groups(r"^(\S+)\s*(.*)$").struct.unnest()
    found.columns = ["smiles", "name"]
    named = found["name"].str.len_bytes().max()
    frame = found.with_columns(polars.col("name").replace("", None)) if named else found.select("smiles")
    return frame.with_columns(polars.lit(None, dtype=polars.String()).alias(VALUE))


def read_drawings(text: str, source: Path) -> tuple[polars.DataFrame, list[str]]:
    """The molecules of an .sdf file as SMILES with their properties, and a note on those that cannot be read."""
    import polars

    chem = import_extra("rdkit.Chem", "reading molecules", "rdkit", "molecules")
    rows: list[dict[str, Any]] = []
    unread: list[int] = []
    with import_extra("rdkit.rdBase", "reading molecules", "rdkit", "molecules").BlockLogs():
        for number, molecule in enumerate(chem.ForwardSDMolSupplier(io.BytesIO(text.encode())), 1):
            if molecule is None or not molecule.GetNumAtoms():
                unread.append(number)
                continue
            name = molecule.GetProp("_Name").strip() if molecule.HasProp("_Name") else ""
            rows.append({"smiles": chem.MolToSmiles(molecule), "name": name or None, **molecule.GetPropsAsDict()})
    if not rows:
        raise TableError(f"{source} holds no molecule that can be read; export it again.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    texts = {name: [None if row.get(name) is None else str(row[name]) for row in rows] for name in names}
    frame = polars.DataFrame(texts, schema=dict.fromkeys(names, polars.String()))
    if VALUE not in frame.columns:
        frame = frame.with_columns(polars.lit(None, dtype=polars.String()).alias(VALUE))
    frame = frame.select([c for c in frame.columns if c in ("smiles", VALUE) or frame[c].null_count() < len(frame)])
    more = f" and {len(unread) - LISTED} more" if len(unread) > LISTED else ""
    listed = ", ".join(map(str, unread[:LISTED]))
    return frame, [f"{source}: molecules that cannot be read are left out: number {listed}{more}"] if unread else []
