"""Molecules from SMILES or InChI, each distinct text parsed once; what is no molecule is an error that says why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from likewise.errors import SimilarityError, import_extra

Molecule = Any
# A parsed molecule takes about 28 kB, a canonical SMILES a hundred bytes.
PARSED, CANONICAL = 2048, 1 << 16
INCHI = "InChI="
# Microseconds of one processor to read a molecule of some 25 atoms.
READING = 160.0


def rdkit(part: str = "Chem") -> Any:
    """A module of RDKit, or the error that says how to get it."""
    return import_extra(f"rdkit.{part}", "reading molecules", "rdkit", "molecules")


@lru_cache(maxsize=PARSED)
def _parsed(text: str) -> Molecule | None:
    chem = rdkit()
    return chem.MolFromInchi(text) if text.startswith(INCHI) else chem.MolFromSmiles(text)


def parse(text: str) -> Molecule | None:
    """The molecule of a SMILES or an InChI; None where it is neither."""
    with rdkit("rdBase").BlockLogs():
        return _parsed(text)


@lru_cache(maxsize=CANONICAL)
def _canonical(text: str) -> str | None:
    molecule = _parsed(text)
    return None if molecule is None else str(rdkit().MolToSmiles(molecule))


def parsed(objects: Sequence[Any], first_row: int = 0) -> list[Molecule]:
    """The molecules of SMILES (or RDKit molecules, as they are); rows are counted from `first_row` in errors."""
    with rdkit("rdBase").BlockLogs():
        return [_molecule(x, first_row + i) for i, x in enumerate(objects)]


def canonical(objects: Sequence[Any]) -> list[str]:
    """The canonical SMILES of each molecule.

    >>> canonical(["OCC", "C(C)O"])
    ['CCO', 'CCO']
    """
    with rdkit("rdBase").BlockLogs():
        return [
            (_canonical(x) if isinstance(x, str) else None) or str(rdkit().MolToSmiles(_molecule(x, row)))
            for row, x in enumerate(objects)
        ]


def canonical_text(text: str) -> str | None:
    """The canonical SMILES of a text; None where it is no molecule.

    >>> canonical_text("OCC"), canonical_text("OCC("), canonical_text("")
    ('CCO', None, None)
    """
    with rdkit("rdBase").BlockLogs():
        return _canonical(text) or None


def _molecule(x: Any, row: int) -> Molecule:
    molecule = _parsed(x) if isinstance(x, str) else x
    if not isinstance(molecule, rdkit().Mol):
        raise SimilarityError(f"row {row} is not a molecule: {x!r} ({_reason(x)}); correct it or leave it out")
    if not molecule.GetNumAtoms():
        raise SimilarityError(f"row {row} is a molecule without atoms: {x!r}; correct it or leave it out")
    return molecule


def _reason(x: Any) -> str:
    """Why RDKit refused the text."""
    if not isinstance(x, str):
        return f"a {type(x).__name__}, where a SMILES or an RDKit molecule is needed"
    chem = rdkit()
    loose = chem.MolFromSmiles(x, sanitize=False)
    problems = [] if loose is None else chem.DetectChemistryProblems(loose)
    return str(problems[0].Message()).strip() if problems else "not valid SMILES"
