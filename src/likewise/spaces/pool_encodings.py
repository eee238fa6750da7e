"""The encodings of a pool, made once: in chunks, by several processes where that pays, and kept in a folder if wanted.

In the folder every similarity of every pool has a folder of its own. Its name has a digest of what its files are made
from: the content of the pool, the similarity, the versions of the libraries. So whoever writes to it writes the same,
and several processes and several pools may share the cache. Files are written beside and moved when all are complete,
each in one step and last a manifest with their checksums: files from a run that was interrupted are never read, and
files that were damaged are made anew.
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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity import encoding as stored
from likewise.similarity import parallel
from likewise.similarity.base import Similarity, map_leaves
from likewise.similarity.encoding import Encoding, Filed, join, share
from likewise.similarity.functions import DistanceSimilarity

# Rows of a chunk: its encodings and a few columns of scores fit in memory on any machine.
CHUNK = 1 << 16
# Rows that are timed to see what all will take.
TIMED = 256
# Starting processes takes a second or two; they are worth it for work that is longer.
WORTH = 6.0
FORMAT = 3
MANIFEST, PARTIAL = "manifest.json", ".partial"
# Seconds after which nobody writes to a folder any more in which nothing happens.
FORGOTTEN = 7 * 24 * 3600.0
# Of a name: digits of a digest, and letters of a similarity, which may be a long sum.
DIGITS, LONGEST = 16, 60
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

    def __call__(self, similarities: Sequence[Similarity]) -> Iterator[tuple[Encoding | Filed, ...]]:
        """The encodings of all objects by each similarity, one chunk after another; those in the cache are on disk.

        What is not in the cache is made for all similarities at once, so that each object is read once; similarities
        that share an encoder share its encodings.
        """
        similarities, own = shared_encoders(similarities, self.objects)
        try:
            homes = [self._home(similarity) for similarity in similarities]
            kept = [None if home is None else home.find(self.left_out) for home in homes]
            new = [place for place, found in enumerate(kept) if found is None]
            made = self._keep([similarities[i] for i in new], [homes[i] for i in new])
            for number in range(-(-len(self.objects) // CHUNK)):
                fresh = iter(next(made) if new else ())
                chunk = [next(fresh) if found is None else found[number] for found in kept]
                yield tuple(chunk[k] for k in own)
        except SimilarityError as error:
            raise SimilarityError(f"{error}; {REMEDY}") from error

    def _home(self, similarity: Similarity) -> _Home | None:
        """Where its encodings are kept; None where they are not."""
        if self.cache is None or not _describable(similarity):
            return None
        what = {
            "format": FORMAT,
            "content": self._contents,
            "size": len(self.objects),
            "chunk": CHUNK,
            "similarity": described(similarity, self.objects[:2]),
            "versions": _versions(),
        }
        return _Home(_checked(self.cache) / f"{_slug(similarity)}-{_digest(what)[:DIGITS]}", what)

    @cached_property
    def _contents(self) -> str:
        return self.content()

    def _keep(
        self, similarities: Sequence[Similarity], homes: Sequence[_Home | None]
    ) -> Iterator[Sequence[Encoding | Filed]]:
        """Encode; write beside what has a home and can be stored, and move it when complete."""
        made = self._made(similarities)
        if not any(homes):
            yield from made
            return
        kept: list[list[Encoding | Filed]] = [[] for _ in homes]
        with ExitStack() as stack:
            besides = [None if home is None else stack.enter_context(_beside(home.folder)) for home in homes]
            for number, chunk in enumerate(made):
                for found, encoding, beside in zip(kept, chunk, besides, strict=True):
                    if beside is not None and stored.storable(encoding):
                        found.append(Filed(stored.write(encoding, beside, f"{number:05d}"), beside))
                    else:
                        found.append(encoding)
            for place, (home, found) in enumerate(zip(homes, kept, strict=True)):
                # All chunks are of one kind.
                if home is not None and isinstance(found[0], Filed):
                    kept[place] = home.move(found, self.left_out)
        yield from zip(*kept, strict=True)

    def _made(self, similarities: Sequence[Similarity]) -> Iterator[Sequence[Encoding]]:
        """The chunks, one after another."""
        if len(self.objects) <= parallel.PIECE:
            yield from [[one.encode(list(self.objects)) for one in similarities]] if len(self.objects) else []
            return
        made = self._pieces(similarities)
        while some := list(islice(made, CHUNK // parallel.PIECE)):
            yield [join(parts) for parts in zip(*some, strict=True)]

    def _pieces(self, similarities: Sequence[Similarity]) -> Iterator[Sequence[Encoding]]:
        from rich.console import Console
        from rich.progress import Progress

        names = ", ".join(similarity.name for similarity in similarities)
        workers = self._workers(similarities)
        with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
            task = bar.add_task(f"encoding by {names}", total=len(self.objects))
            for piece in parallel.encode_pieces(similarities, self.objects, workers):
                yield piece
                bar.advance(task, parallel.PIECE)

    def _workers(self, similarities: Sequence[Similarity]) -> int:
        """One where processes would not pay, or could not be given the similarities and the objects."""
        most = self.processes or parallel.cores()
        some = list(self.objects[:TIMED])
        if most < 2 or not all(one.portable for one in similarities) or not parallel.can_send(similarities, some):
            return 1
        if self.processes is not None:
            return most
        start = time.perf_counter()
        for similarity in similarities:
            similarity.encode(some)
        return most if (time.perf_counter() - start) / len(some) * len(self.objects) > WORTH else 1


@dataclass(frozen=True)
class _Home:
    """The folder that keeps the encodings of a pool by a similarity, and what they are made from."""

    folder: Path
    what: dict[str, Any]

    def find(self, left_out: Collection[int]) -> list[Filed] | None:
        """The encodings of a folder that was made from the same; None where there is none that is whole.

        It may hold rows that are left out, but must not lack others.
        """
        for folder in sorted(self.folder.parent.glob(f"{self.folder.name}*")):
            found = _kept(folder, self.what, left_out)
            if found is not None:
                return found
        return None

    def move(self, found: Sequence[Filed], left_out: Collection[int]) -> list[Filed]:
        """The encodings moved here, with a manifest, from the folder that they were written to."""
        beside, trees = found[0].folder, [chunk.tree for chunk in found]
        sums = {name: one for tree in trees for name, one in stored.checksums(tree, beside).items()}
        complete = {**self.what, "chunks": trees, "left_out": sorted(left_out), "checksums": sums}
        (beside / MANIFEST).write_text(json.dumps({**complete, "digest": _digest(complete)}, indent=1))
        without = f"-{_digest(sorted(left_out))[:DIGITS]}" if left_out else ""
        folder = self.folder.with_name(f"{self.folder.name}{without}")
        folder.mkdir(exist_ok=True)
        for name in (*sums, MANIFEST):
            os.replace(beside / name, folder / name)
        return [Filed(tree, folder) for tree in trees]


def with_placeholders(objects: Sequence[Any], rows: Collection[int]) -> Sequence[Any]:
    """The objects with the first of the others in place of these rows; all as they are where there are no others.

    >>> list(with_placeholders(("CCO", "?", "CCN"), [1]))
    ['CCO', 'CCO', 'CCN']
    """
    other = next((i for i in range(len(objects)) if i not in rows), None)
    return objects if other is None or not rows else _WithPlaceholders(objects, rows, objects[other])


@dataclass(frozen=True, eq=False)
class _WithPlaceholders(Sequence[Any]):
    objects: Sequence[Any]
    rows: Collection[int]
    other: Any

    def __len__(self) -> int:
        return len(self.objects)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self.other if index in self.rows else self.objects[index]
        places = range(len(self))[index]
        return [self.other if i in self.rows else x for i, x in zip(places, self.objects[index], strict=True)]

    def __iter__(self) -> Iterator[Any]:
        return (self.other if i in self.rows else x for i, x in enumerate(self.objects))


def _describable(similarity: Similarity) -> bool:
    """Whether its text says all that enters its encodings; that of a function is its place in memory.

    The versions in the manifest say nothing of a class of the user's own, which may change.
    """
    return similarity.portable and _is_ours(similarity) and " at 0x" not in repr(similarity)


def _is_ours(similarity: Similarity) -> bool:
    return type(similarity).__module__.startswith("likewise.") and all(map(_is_ours, similarity.parts))


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
    """The encodings of a folder that was made from the same; None where it is not whole, or one of something else.

    It may hold rows that are left out, but must not lack others.
    """
    try:
        found = _read_manifest(folder)
        if {key: found.get(key) for key in manifest} != manifest or not set(found["left_out"]) <= set(left_out):
            return None
        chunks = [Filed(tree, folder) for tree in found["chunks"]]
        for chunk in chunks:
            # What is damaged is noticed here, not in the middle of an ask.
            if not stored.checksums(chunk.tree, folder).items() <= found["checksums"].items():
                return None
        return chunks
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest; a ValueError where it is not as it was written."""
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
    if found.pop("digest") != _digest(found):
        raise ValueError(f"{folder / MANIFEST} is damaged")
    return found


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder to write to that is gone afterwards; what goes wrong in it is told with the remedy."""
    cache = folder.parent
    try:
        _clear(cache)
        with TemporaryDirectory(prefix=".", suffix=PARTIAL, dir=cache, ignore_cleanup_errors=True) as beside:
            yield Path(beside)
    except OSError as error:
        raise SpaceError(
            f"the encodings cannot be written to the cache {cache}: {error}; make room there, or give another folder"
        ) from error


def _clear(cache: Path) -> None:
    """Remove what runs that were killed have left behind."""
    for left in cache.glob(f".*{PARTIAL}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > FORGOTTEN:
                shutil.rmtree(left, ignore_errors=True)


def shared_encoders(similarities: Sequence[Similarity], objects: Sequence[Any]) -> tuple[list[Similarity], list[int]]:
    """What encodes for these similarities, each once, and the place of each one's own; parameters are of no account."""
    some = list(objects[:2])
    return share(similarities, lambda one: described(one, some) if some and _describable(one) else id(one))


def described(similarity: Similarity, some: Sequence[Any]) -> str:
    """The similarity as text, without the parameters that it learns: those do not enter its encodings.

    >>> from likewise.similarity.kinds.vectors import RBF
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


def _slug(similarity: Similarity) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", similarity.name).strip("-")[:LONGEST]


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
