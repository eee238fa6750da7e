"""The molecules' representation all methods share: Morgan fingerprints of radius 2 in 2,048 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks.base import Matrix

RADIUS, BITS = 2, 2048


def fingerprints(smiles: Sequence[str]) -> NDArray[np.uint8]:
    """One row of bits per molecule."""
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    return np.stack([generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(s)) for s in smiles])


def tanimoto(bits: NDArray[np.uint8]) -> Matrix:
    """Common bits over all bits, for every pair; two molecules without any bit are alike."""
    a = bits.astype(np.float32)
    common = (a @ a.T).astype(float)
    count = bits.sum(axis=1, dtype=float)
    either = count[:, None] + count[None, :] - common
    return np.where(either > 0, common / np.maximum(either, 1), 1.0)
