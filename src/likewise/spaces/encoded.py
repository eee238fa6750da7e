"""The encodings of a pool, made once: in chunks, by several processes where that pays, and kept in a folder if wanted.

In the folder every likeness has a folder of its own with a manifest of what its files were made from: the content of
the pool, the similarity, the versions of the libraries. Files whose manifest does not match are made anew. They are
written beside and renamed when complete, so that files from a run that was interrupted are never read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, overload

import numpy as np

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity import stored
from likewise.similarity.base import Similarity, map_leaves
from likewise.similarity.distance import DistanceSimilarity
from likewise.similarity.encoding import Encoding, join
from likewise.similarity.stored import Filed
from likewise.spaces import pieces

# Rows of a chunk: its encodings and a few columns of scores fit in memory on any machine.
CHUNK = 1 << 16
# Rows that are timed to see what all will take.
TIMED = 256
# Starting processes takes a second or two; they are worth it for work that is longer.
WORTH = 6.0
FORMAT = 2
# A pool without the object would be another pool, and its study another study.
REMEDY = "exclude=[…] leaves it out of a Pool, also where a study has begun"
LIBRARIES = ("likewise", "numpy", "scipy", "rdkit", "selfies", "networkx", "biopython", "rapidfuzz")


@dataclass(frozen=True, eq=False)
class Encoder:
    """How the objects of a pool are encoded; `content` names them in a manifest.

    The encodings of rows that are `left_out` are of no account: others stand in for them.
    """

    objects: Sequence[Any]
    content: Callable[[], str]
    cache: Path | None = None
    processes: int | None = None
    left_out: Collection[int] = ()

    def __call__(self, similarity: Similarity) -> Iterator[Encoding | Filed]:
        """The encodings of all objects, one for each chunk; those in the cache are on disk."""
        try:
            yield from self._found(similarity)
        except SimilarityError as error:
            raise SimilarityError(f"{error}; {REMEDY}") from error

    def _found(self, similarity: Similarity) -> Iterator[Encoding | Filed]:
        if self.cache is None or not _describable(similarity):
            yield from self._made(similarity)
            return
        what = described(similarity, self.objects[:2])
        folder = _checked(self.cache) / _slug(similarity, what)
        manifest = self._manifest(what)
        found = _kept(folder, manifest, self.left_out)
        yield from found if found is not None else self._keep(folder, manifest, similarity)

    def _manifest(self, what: str) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "content": self.content(),
            "size": len(self.objects),
            "chunk": CHUNK,
            "similarity": what,
            "versions": _versions(),
        }

    def _keep(self, folder: Path, manifest: dict[str, Any], similarity: Similarity) -> Iterator[Encoding | Filed]:
        """Encode, and write beside what is there; a complete folder takes its place."""
        beside = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".partial", dir=folder.parent))
        made = self._made(similarity)
        try:
            trees: list[Any] = []
            for encoding in made:
                if not stored.storable(encoding):
                    yield from (encoding, *made)
                    return
                trees.append(stored.write(encoding, beside, f"{len(trees):05d}"))
            (beside / "manifest.json").write_text(json.dumps(self._complete(manifest, trees), indent=1))
            shutil.rmtree(folder, ignore_errors=True)
            os.replace(beside, folder)
        except OSError as error:
            raise SpaceError(
                f"the encodings cannot be written to the cache {folder.parent}: {error}; "
                "make room there, or give another folder"
            ) from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        yield from (Filed(tree, folder) for tree in trees)

    def _complete(self, manifest: dict[str, Any], trees: list[Any]) -> dict[str, Any]:
        return {**manifest, "chunks": trees, "left_out": sorted(self.left_out)}

    def _made(self, similarity: Similarity) -> Iterator[Encoding]:
        """The chunks, one after another."""
        if len(self.objects) <= pieces.PIECE:
            yield from [similarity.encode(list(self.objects))] if len(self.objects) else []
            return
        made = self._pieces(similarity)
        while some := list(islice(made, CHUNK // pieces.PIECE)):
            yield join(some)

    def _pieces(self, similarity: Similarity) -> Iterator[Encoding]:
        workers = self._workers(similarity)
        with Bar(f"encoding by {similarity.name}", len(self.objects)) as bar:
            for (piece,) in pieces.encoded([similarity], self.objects, workers):
                yield piece
                bar.advance(pieces.PIECE)

    def _workers(self, similarity: Similarity) -> int:
        """One where processes would not pay, or could not be given the similarity."""
        most = self.processes or pieces.cores()
        if most < 2 or not portable(similarity):
            return 1
        if self.processes is not None:
            return most
        some = self.objects[:TIMED]
        start = time.perf_counter()
        similarity.encode(some)
        return most if (time.perf_counter() - start) / len(some) * len(self.objects) > WORTH else 1


def standing_in(objects: Sequence[Any], rows: Collection[int]) -> Sequence[Any]:
    """The objects with the first of the others in place of these rows; all as they are where there are no others.

    >>> list(standing_in(("CCO", "?", "CCN"), [1]))
    ['CCO', 'CCO', 'CCN']
    """
    other = next((i for i in range(len(objects)) if i not in rows), None)
    return objects if other is None or not rows else _StandingIn(objects, rows, objects[other])


@dataclass(frozen=True, eq=False)
class _StandingIn(Sequence[Any]):
    objects: Sequence[Any]
    rows: Collection[int]
    other: Any

    def __len__(self) -> int:
        return len(self.objects)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self.other if index in self.rows else self.objects[index]
        places = range(len(self))[index]
        return [self.other if i in self.rows else x for i, x in zip(places, self.objects[index], strict=True)]

    def __iter__(self) -> Iterator[Any]:
        return (self.other if i in self.rows else x for i, x in enumerate(self.objects))


def portable(similarity: Similarity) -> bool:
    """Whether another process encodes as this one does: similarities of this library that number no objects."""
    own = type(similarity).__module__.startswith("likewise.similarity.") and not hasattr(similarity, "_register")
    return own and all(map(portable, similarity.parts))


def _describable(similarity: Similarity) -> bool:
    """Whether its text says all that enters its encodings; that of a function is its place in memory."""
    return portable(similarity) and " at 0x" not in repr(similarity)


def _checked(cache: Path) -> Path:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache):
            pass
    except OSError as error:
        raise SpaceError(
            f"the cache folder {cache} cannot be written to: {error}; give a folder of your own, or leave cache out"
        ) from error
    return cache


def _kept(folder: Path, manifest: dict[str, Any], left_out: Collection[int]) -> list[Filed] | None:
    """The encodings of a folder that was made from the same; None where there is none, or one of something else.

    It may hold rows that are left out, but must not lack others.
    """
    try:
        found = json.loads((folder / "manifest.json").read_text())
        if {key: found.get(key) for key in manifest} != manifest or not set(found.get("left_out", ())) <= set(left_out):
            return None
        chunks = [Filed(tree, folder) for tree in found["chunks"]]
        for chunk in chunks:
            # A file that is missing or cut short is noticed here, not in the middle of an ask.
            chunk.read()
        return chunks
    except (OSError, ValueError, KeyError, TypeError):
        return None


def described(similarity: Similarity, some: Sequence[Any]) -> str:
    """The similarity as text, without the parameters that it learns: those do not enter its encodings.

    >>> from likewise.similarity.vectors import RBF
    >>> described(RBF(0.2), [[1.0], [2.0]]) == described(RBF(0.7), [[1.0], [2.0]])
    True
    """
    learnt = similarity.parameters(similarity.encode(some))
    plain = similarity.with_parameters({name: np.ones_like(parameter.value) for name, parameter in learnt.items()})
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return repr(map_leaves(_unscaled, plain))


def _unscaled(similarity: Similarity) -> Similarity:
    if isinstance(similarity, DistanceSimilarity) and similarity.constant is None:
        return replace(similarity, lengthscale=None)  # type: ignore[type-var]
    return similarity


def _slug(similarity: Similarity, what: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", similarity.name).strip("-")
    return f"{name}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


class Bar:
    """Progress on stderr, where that is a terminal."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=self._total)
        return self

    def advance(self, done: int) -> None:
        """So many more are done."""
        if self._bar is not None:
            self._bar.advance(self._task, done)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
