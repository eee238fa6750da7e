"""What the peers see of a molecule: Morgan fingerprints of radius 2 in 2,048 bits.

likewise with `similarity="auto"` sees counts of Morgan features, MACCS keys and thirteen descriptors instead;
`likewise-fingerprints` sees these bits, and `botorch-descriptors` the same descriptors beside them.
"""

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


def descriptors(smiles: Sequence[str]) -> Matrix:
    """The thirteen descriptors of likewise, one row per molecule, with mean 0 and deviation 1 over the pool."""
    import likewise as lw

    rows = lw.Descriptors().encode(smiles)
    return (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-12)


def tanimoto(bits: NDArray[np.uint8]) -> Matrix:
    """Common bits over all bits, for every pair; two molecules without any bit are alike."""
    a = bits.astype(np.float32)
    common = (a @ a.T).astype(float)
    count = bits.sum(axis=1, dtype=float)
    either = count[:, None] + count[None, :] - common
    return np.where(either > 0, common / np.maximum(either, 1), 1.0)
