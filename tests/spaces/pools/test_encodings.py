"""Encodings of pools: the same by any number of processes and from disk, and never from a cache of something else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import LikewiseError, SimilarityError, SpaceError
from likewise.similarity import encoding as stored
from likewise.similarity import parallel
from likewise.similarity.encoding import Encoding, Filed, Levels, join, plain, take
from likewise.spaces import pool_encodings as encoded
from likewise.spaces.pool import Pool

WORDS = [f"{i:05d}" for i in range(3000)]


def whole(pool: Pool, similarity: lw.Similarity) -> Encoding:
    return join([part.read() if isinstance(part, Filed) else part for (part,) in pool.encodings([similarity])])


def same(a: Encoding, b: Encoding) -> bool:
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return bool((a != b).nnz == 0) if hasattr(a, "nnz") else bool(np.array_equal(a, b))


@pytest.mark.parametrize("encoding", [np.arange(6).reshape(3, 2), (np.zeros(3), (np.ones(3, dtype=np.uint64),))])
def test_what_is_written_is_read(tmp_path: Path, encoding: Encoding) -> None:
    tree = json.loads(json.dumps(stored.write(encoding, tmp_path, "x")))
    assert same(stored.read(tree, tmp_path), encoding)
    assert stored.nbytes(Filed(tree, tmp_path)) == 0


@pytest.mark.parametrize("similarity", [lw.NGrams(2), lw.Hamming()])
def test_chunks_processes_and_caches_change_nothing(tmp_path: Path, similarity: lw.Similarity) -> None:
    expected = similarity.encode(WORDS)
    assert same(whole(Pool(WORDS, processes=1), similarity), expected)
    assert same(whole(Pool(WORDS, processes=2), similarity), expected)
    for _ in range(2):
        assert same(whole(Pool(WORDS, cache=tmp_path), similarity), expected)


@pytest.mark.parametrize("options", [{"processes": 1}, {"processes": 2}, {"cache": True}])
def test_several_similarities_encode_a_pool_as_each_would(tmp_path: Path, options: dict[str, Any]) -> None:
    if "cache" in options:
        options = {"cache": tmp_path}
        whole(Pool(WORDS, cache=tmp_path), lw.NGrams(2))
    similarities = [lw.Hamming(), lw.NGrams(2), lw.Levenshtein()]
    chunks = list(Pool(WORDS, **options).encodings(similarities))
    for similarity, parts in zip(similarities, zip(*chunks, strict=True), strict=True):
        read = [part.read() if isinstance(part, Filed) else part for part in parts]
        assert same(join(read), similarity.encode(WORDS))


def test_a_molecule_is_read_once_for_all_similarities(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    from likewise.similarity.kinds import molecules

    read: list[str] = []
    parse = molecules._parsed.__wrapped__
    monkeypatch.setattr(
        molecules,
        "_parsed",
        lru_cache(molecules.PARSED)(lambda text: read.append(text) or parse(text)),  # type: ignore[func-returns-value]
    )
    objects = [f"C{'C' * (i % 40)}O{'C' * (i // 40)}" for i in range(3000)]
    list(Pool(objects, processes=1).encodings([lw.Tanimoto(), lw.TanimotoCounts(), lw.Tanimoto("torsion")]))
    assert len(read) == len(objects)


@pytest.mark.parametrize("function", [lambda x: [len(x), x.count("0")], lambda x: [float(letter) for letter in x]])
def test_functions_of_a_script_are_sent_to_processes(function: Any) -> None:
    expected = lw.Embedded(function, lw.Linear()).encode(WORDS)
    assert same(whole(Pool(WORDS, processes=2), lw.Embedded(function, lw.Linear())), expected)


def test_a_function_that_cannot_be_sent_works_here() -> None:
    lock = Lock()

    def function(x: str) -> list[float]:
        with lock:
            return [float(x)]

    assert len(whole(Pool(WORDS, processes=2), lw.Embedded(function, lw.Linear()))) == len(WORDS)


class Unfrozen(lw.Similarity):
    """May know objects by the order in which it met them, which a copy would not."""

    def encode(self, objects: Any) -> Encoding:
        return list(objects)

    def between(self, a: Any, b: Any) -> Any:
        return np.ones((len(a), len(b)))

    def within(self, a: Any) -> Any:
        return np.ones(len(a))


@dataclass(frozen=True)
class Lengths(lw.Linear):
    """A similarity of the user's own."""

    def encode(self, objects: Any) -> Encoding:
        return np.array([[float(len(x)), float(os.getpid())] for x in objects])


def test_a_frozen_dataclass_is_encoded_elsewhere_and_what_is_none_here(tmp_path: Path) -> None:
    assert os.getpid() not in whole(Pool(WORDS, processes=2), Lengths())[:, 1]
    assert set(whole(Pool(WORDS, processes=1), Lengths())[:, 1]) == {os.getpid()}
    whole(Pool(WORDS, cache=tmp_path, processes=1), Lengths())
    assert not list(tmp_path.iterdir()), "the class may change, and its encodings would stay"
    plain = [
        lw.from_function(lambda x, y: 1.0),
        lw.Precomputed(["a"], [[1.0]]),
        lw.from_distance(lambda x, y: 1.0),
        Unfrozen(),
    ]
    assert not any(one.portable or (one + lw.Hamming()).portable for one in plain)


def test_a_process_that_dies_is_named_with_the_remedy() -> None:
    def function(x: str) -> list[float]:
        if x == WORDS[-1]:
            os._exit(3)
        return [float(x)]

    with pytest.raises(LikewiseError, match=r"for Linear of function has ended.*processes=1"):
        whole(Pool(WORDS, processes=2), lw.Embedded(function, lw.Linear()))


def test_levels_of_records_survive_pieces_processes_and_caches(tmp_path: Path) -> None:
    rows = [{"number": i, "word": WORDS[i * i % 7], "heat": float(i % 4)} for i in range(3000)]
    similarity = lw.Parts(word=lw.NGrams(2), heat=lw.RBF(1.0))
    expected = plain(similarity.encode(rows))
    pools = [Pool(rows, processes=1), Pool(rows, processes=2), *(Pool(rows, cache=tmp_path) for _ in range(2))]
    for pool in pools:
        found = whole(pool, similarity)
        assert [len(x.which) for x in found if isinstance(x, Levels)] == [3000, 3000]
        assert len(found[1].entries) == 4
        assert same(plain(found), expected)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many objects were encoded, each time that some were."""
    found: list[int] = []
    encode = parallel.encode_pieces

    def counted(similarities: Any, objects: Any, workers: int) -> Any:
        found.append(len(objects))
        return encode(similarities, objects, workers)

    monkeypatch.setattr(parallel, "encode_pieces", counted)
    return found


def test_a_cache_is_used_until_anything_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[int]
) -> None:
    def runs(objects: list[str], similarity: lw.Similarity) -> int:
        made.clear()
        assert same(whole(Pool(objects, cache=tmp_path, processes=1), similarity), similarity.encode(objects))
        return len(made)

    assert [runs(WORDS, lw.NGrams(2)) for _ in range(3)] == [1, 0, 0]
    assert [runs(WORDS, lw.NGrams(3)), runs(WORDS, lw.NGrams(2))] == [1, 0]
    assert [runs(WORDS[::-1], lw.NGrams(2)), runs(WORDS[::-1], lw.NGrams(2))] == [1, 0]
    monkeypatch.setattr(encoded, "_versions", lambda: {"numpy": "0"})
    assert [runs(WORDS[::-1], lw.NGrams(2)), runs(WORDS[::-1], lw.NGrams(2))] == [1, 0]
    manifest = next(tmp_path.glob("NGrams*/manifest.json"))
    next(manifest.parent.glob("*.npy")).unlink()
    found = [runs(WORDS, lw.NGrams(2)), runs(WORDS, lw.NGrams(2))]
    assert found == [1, 0]
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("moved", [0, 1, 2, 3, 4])
def test_a_half_written_cache_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[int], moved: int
) -> None:
    replace, names = os.replace, []

    def interrupted(source: Any, target: Any) -> None:
        names.append(Path(target).name)
        if len(names) > moved:
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(encoded.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            whole(Pool(WORDS, cache=tmp_path, processes=1), lw.NGrams(2))
    assert (names[-1] == "manifest.json") is (moved == 4)
    assert not list(tmp_path.glob(".*"))
    made.clear()
    assert same(whole(Pool(WORDS, cache=tmp_path, processes=1), lw.NGrams(2)), lw.NGrams(2).encode(WORDS))
    assert len(made) == 1


def test_two_pools_in_one_folder_never_mix(tmp_path: Path) -> None:
    first, second = Pool(WORDS, cache=tmp_path, processes=1), Pool(WORDS[::-1], cache=tmp_path, processes=1)
    early = [part for (part,) in first.encodings([lw.NGrams(2)])]
    late = [part for (part,) in second.encodings([lw.NGrams(2)])]
    assert same(join([part.read() for part in early]), lw.NGrams(2).encode(WORDS))
    assert same(join([part.read() for part in late]), lw.NGrams(2).encode(WORDS[::-1]))


def test_a_flipped_bit_is_noticed_wherever_it_is(tmp_path: Path, made: list[int]) -> None:
    expected = lw.NGrams(2).encode(WORDS)
    rng = np.random.default_rng(0)
    whole(Pool(WORDS, cache=tmp_path, processes=1), lw.NGrams(2))
    files = sorted(tmp_path.glob("*/*"))
    assert len(files) == 5
    for file in files:
        size = file.stat().st_size
        for place in (0, size - 1, *rng.integers(0, size, size=8).tolist()):
            data = bytearray(file.read_bytes())
            data[place] ^= 1 << int(rng.integers(8))
            file.write_bytes(data)
            made.clear()
            assert same(whole(Pool(WORDS, cache=tmp_path, processes=1), lw.NGrams(2)), expected)
            assert len(made) == 1


SHARING = """
import sys, time
import numpy as np
import likewise as lw
from likewise.similarity.encoding import join

folder, seed, start = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
time.sleep(max(0.0, start - time.time()))
for number in range(10):
    words = [f"{number}{i:05d}" for i in range(2500)]
    # Half of the processes have the pool in another order.
    words = words[::-1] if seed % 2 else words
    pool = lw.Pool(words, cache=folder, processes=1)
    found = join([part.read() for (part,) in pool.encodings([lw.Hamming()])])
    assert np.array_equal(found, lw.Hamming().encode(words))
"""


def test_four_processes_share_a_folder(tmp_path: Path) -> None:
    start = str(time.time() + 1.5)
    commands = [[sys.executable, "-c", SHARING, str(tmp_path), str(seed), start] for seed in range(4)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    errors = [process.communicate(timeout=100)[1] for process in processes]
    assert errors == [""] * 4
    assert len(list(tmp_path.iterdir())) == 20


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    pool = Pool(WORDS, cache=tmp_path / "a", processes=1)
    parts = [part for (part,) in pool.encodings([lw.NGrams(2)])]
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(SimilarityError, match=r"cannot be read.*leave the folder where it is"):
        parts[0].read()


def test_what_a_killed_run_has_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    for name, age in (("old", 30), ("new", 0)):
        (tmp_path / f".{name}.partial").mkdir()
        (tmp_path / f".{name}.partial" / "00000.npy").write_text("")
        os.utime(tmp_path / f".{name}.partial", (time.time() - age * 86400,) * 2)
    whole(Pool(WORDS, cache=tmp_path, processes=1), lw.NGrams(2))
    assert [left.name for left in tmp_path.glob(".*")] == [".new.partial"]


def test_functions_are_not_cached(tmp_path: Path) -> None:
    similarity = lw.from_function(lambda x, y: float(x == y))
    assert same([entry.object for entry in whole(Pool(WORDS, cache=tmp_path), similarity)], WORDS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SpaceError, match="cannot be written"):
        whole(Pool(WORDS, cache=tmp_path / "a"), lw.NGrams(2))


def test_a_cache_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(SpaceError, match="cannot be written"):
        whole(Pool(WORDS, cache=tmp_path / "a"), lw.NGrams(2))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_broken_molecule_is_named_by_its_row(processes: int) -> None:
    pytest.importorskip("rdkit")
    smiles = ["C" * (1 + i % 7) + "O" * (i // 7 % 5 + 1) + "N" * (i // 35) for i in range(2500)]
    smiles[2345] = "C1CC"
    with pytest.raises(SimilarityError, match="row 2345 is not a molecule: 'C1CC'"):
        whole(Pool(smiles, processes=processes), lw.Tanimoto())


@pytest.mark.parametrize("where", ["list", "file"])
@pytest.mark.parametrize("rows", [[0], [2345], [0, 1, 2345, 2499]])
def test_what_is_excluded_need_not_be_encodable(tmp_path: Path, where: str, rows: list[int]) -> None:
    words: list[Any] = [f"{i:05d}" for i in range(2500)]
    expected = lw.NGrams(2).encode(words)
    for row in rows:
        words[row] = f"x{row}"
    if where == "file":
        (tmp_path / "a.csv").write_text("\n".join(["word", *words]))
    objects = tmp_path / "a.csv" if where == "file" else words
    pool = Pool(objects, exclude=[words[row] for row in rows], cache=tmp_path / "cache", processes=1)
    with pytest.raises(SimilarityError, match=rf"object {rows[0]} .*exclude=\[…\] leaves it out of a Pool"):
        whole(Pool(objects, processes=1), Digits())
    left = np.setdiff1d(np.arange(len(words)), rows)
    assert same(take(whole(pool, lw.NGrams(2)), left), take(expected, left))
    assert np.array_equal(whole(pool, Digits())[left], left)


class Digits(lw.Hamming):
    """A similarity that cannot compare but digits."""

    def encode(self, objects: Any) -> Encoding:
        for number, x in enumerate(objects):
            if not x.isdigit():
                raise SimilarityError(f"object {number} is no number: {x!r}")
        return np.array([int(x) for x in objects])


def test_a_cache_without_some_rows_serves_only_those_who_leave_them_out(tmp_path: Path, made: list[int]) -> None:
    def runs(*exclude: str) -> int:
        made.clear()
        whole(Pool(WORDS, exclude=exclude, cache=tmp_path, processes=1), lw.NGrams(2))
        return len(made)

    assert [runs("00001"), runs("00001"), runs("00001", "00002"), runs(), runs("00001")] == [1, 0, 0, 1, 0]


def test_graphs_are_named_by_their_row() -> None:
    error = SimilarityError("node 1 of graph 3 has no label while other nodes have one; in graph 4")
    assert str(parallel.counted_from(error, 100)).startswith("node 1 of graph 103 has no label")
    assert str(parallel.counted_from(error, 100)).endswith("graph 4")
