"""Encodings on disk: arrays as .npy files, read by mapping them, and a JSON tree that says how they belong together.

Arrays of numbers, sparse matrices, tuples, levels and groups of these can be stored; lists of Python objects cannot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.encodings.arrays import Encoding, Grouped, Levels


@dataclass(frozen=True)
class Filed:
    """An encoding in a folder: `tree` says how its files belong together."""

    tree: Any
    folder: Path

    def read(self) -> Encoding:
        """The encoding, mapped for as long as it is held."""
        try:
            return read(self.tree, self.folder)
        except OSError as error:
            raise SimilarityError(
                f"the encodings in {self.folder} cannot be read: {error}; leave the folder where it is while it is used"
            ) from error


SPARSE = ("data", "indices", "indptr")


def storable(encoding: Encoding) -> bool:
    """Whether the encoding is made of arrays of numbers.

    >>> storable((np.zeros(2), np.ones((2, 3)))), storable(["a", "b"])
    (True, False)
    """
    return all(isinstance(part, np.ndarray) and part.dtype.kind in "biuf" for part in _contents(encoding))


def nbytes(encoding: Encoding) -> int:
    """Memory of an encoding, roughly for what is not made of arrays; none for what is on disk.

    >>> nbytes((np.zeros(2), np.zeros(3, dtype=np.uint8)))
    19
    """
    if isinstance(encoding, Filed):
        return 0
    return sum(part.nbytes if isinstance(part, np.ndarray) else 100 * len(part) for part in _contents(encoding))


def _contents(encoding: Encoding) -> Iterator[Any]:
    """The arrays, and what is none, that an encoding is made of."""
    if isinstance(encoding, tuple):
        inside: Iterable[Any] = encoding
    elif isinstance(encoding, Levels):
        inside = (encoding.entries, encoding.which)
    elif isinstance(encoding, Grouped):
        inside = (encoding.which, *(entries for entries in encoding.entries if entries is not None))
    elif _is_sparse(encoding):
        inside = (getattr(encoding, name) for name in SPARSE)
    else:
        yield encoding
        return
    for part in inside:
        yield from _contents(part)


def write(encoding: Encoding, folder: Path, stem: str) -> Any:
    """Write the arrays of an encoding to files that begin with `stem`; returns the tree to read them by."""
    if isinstance(encoding, tuple):
        return {"tuple": [write(part, folder, f"{stem}-{i}") for i, part in enumerate(encoding)]}
    if isinstance(encoding, Levels):
        return {"levels": [write(encoding.entries, folder, f"{stem}-levels"), write(encoding.which, folder, stem)]}
    if isinstance(encoding, Grouped):
        inside = {i: entries for i, entries in enumerate(encoding.entries) if entries is not None}
        files = {str(i): write(entries, folder, f"{stem}-group{i}") for i, entries in inside.items()}
        return {"groups": len(encoding.entries), "which": write(encoding.which, folder, stem), "entries": files}
    if _is_sparse(encoding):
        matrix = encoding.tocsr()
        files = {name: write(getattr(matrix, name), folder, f"{stem}-{name}") for name in SPARSE}
        return {"sparse": files, "shape": list(matrix.shape)}
    np.save(folder / f"{stem}.npy", encoding)
    return {"array": f"{stem}.npy"}


def checksums(tree: Any, folder: Path) -> dict[str, str]:
    """A checksum for each file of an encoding.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     list(checksums(write((np.zeros(2), np.ones(3)), Path(folder), "x"), Path(folder)))
    ['x-0.npy', 'x-1.npy']
    """
    found = {}
    for name in _files(tree):
        with (folder / name).open("rb") as file:
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _files(tree: Any) -> Iterator[str]:
    if "array" in tree:
        yield tree["array"]
        return
    if "groups" in tree:
        inside: Iterable[Any] = (tree["which"], *tree["entries"].values())
    else:
        inside = tree.get("tuple") or tree.get("levels") or tree["sparse"].values()
    for part in inside:
        yield from _files(part)


def read(tree: Any, folder: Path) -> Encoding:
    """The encoding that `write` wrote, mapped from its files."""
    if "tuple" in tree:
        return tuple(read(part, folder) for part in tree["tuple"])
    if "levels" in tree:
        return Levels(*(read(part, folder) for part in tree["levels"]))
    if "groups" in tree:
        entries = {int(i): read(part, folder) for i, part in tree["entries"].items()}
        return Grouped(read(tree["which"], folder), tuple(entries.get(i) for i in range(tree["groups"])))
    if "sparse" in tree:
        from scipy import sparse

        parts = tuple(read(tree["sparse"][name], folder) for name in SPARSE)
        return sparse.csr_array(parts, shape=tuple(tree["shape"]))
    array = np.load(folder / tree["array"], mmap_mode="r")
    # A plain view, which the libraries below handle faster than a memmap.
    return array.view(np.ndarray)


def _is_sparse(encoding: Encoding) -> bool:
    return hasattr(encoding, "indptr") and hasattr(encoding, "tocsr")
