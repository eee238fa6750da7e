"""Pools from files are the pools of the same objects in a list, and what is wrong with a file is said by its place."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import SpaceError
from likewise.spaces.pool import Pool, TableObjects

SMILES = ["CCO", "CCN", "CCO", "c1ccccc1", "CC(=O)O"]


def write(frame: pl.DataFrame, path: Path) -> Path:
    plain = path.with_name(path.name.removesuffix(".gz"))
    kind = plain.suffix
    if kind == ".parquet":
        frame.write_parquet(plain)
    else:
        frame.write_csv(plain, separator="," if kind == ".csv" else "\t")
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(plain.read_bytes()))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.csv.gz", "a.parquet.gz"])
def test_a_file_is_the_pool_of_its_objects(tmp_path: Path, name: str) -> None:
    path = write(pl.DataFrame({"smiles": SMILES, "price": range(5)}), tmp_path / name)
    pool, listed = Pool(path, column="smiles"), Pool(SMILES)
    assert list(pool.objects) == list(listed.objects)
    assert (len(pool), pool.duplicates, pool.describe()) == (4, 1, listed.describe())
    assert [pool.index(x) for x in listed.objects] == [0, 1, 2, 3]
    assert [pool.row(listed.key(x)) for x in listed.objects] == [0, 1, 2, 3]
    assert "CCX" not in pool
    assert Pool(str(path), column="smiles", where=lambda x: "N" not in x).objects[1] == "c1ccccc1"


def test_a_folder_of_parquet_files_is_one_pool(tmp_path: Path) -> None:
    for i in range(3):
        write(pl.DataFrame({"smiles": [f"{'C' * j}O" for j in range(i, i + 3)]}), tmp_path / f"{i}.parquet")
    assert list(Pool(tmp_path).objects) == ["O", "CO", "CCO", "CCCO", "CCCCO"]


def test_several_columns_are_records(tmp_path: Path) -> None:
    rows = [{"solvent": s, "celsius": t, "dry": d} for s in ("water", "DMF") for t in (20, 60) for d in (True, False)]
    path = write(pl.DataFrame(rows), tmp_path / "grid.csv")
    pool, listed = Pool(path, column=["solvent", "celsius", "dry"]), Pool(rows)
    assert list(pool.objects) == list(listed.objects) == rows
    assert pool.describe() == listed.describe()
    assert pool.index({"dry": False, "solvent": "DMF", "celsius": 60.0}) == 7
    assert {"solvent": "DMF", "celsius": 60} not in pool
    assert {"solvent": "DMF", "celsius": 60, "dry": 1} not in pool
    study = lw.Study(pool, seed=1)
    for s in study.ask(3):
        study.tell(s, float(s.object["celsius"]))
    assert study.best.object in rows


def test_from_json_makes_objects_of_cells(tmp_path: Path) -> None:
    from fractions import Fraction

    path = write(pl.DataFrame({"share": ["1/2", "2/4", "1/3"]}), tmp_path / "a.csv")
    pool = Pool(path, to_json=str, from_json=Fraction)
    assert pool.objects == (Fraction(1, 2), Fraction(1, 3))


@given(st.lists(st.text(max_size=3), min_size=1, max_size=20, unique=True), st.integers(0, 3))
def test_tables_look_like_tuples(texts: list[str], start: int) -> None:
    table, listed = TableObjects(pl.DataFrame({"x": texts})), tuple(texts)
    assert list(table) == list(listed)
    assert table[-1] == listed[-1]
    assert table[start:] == list(listed[start:])
    assert list(table.ordered()) == sorted(listed)
    assert [table.position(x) for x in listed] == list(range(len(listed)))
    with pytest.raises(IndexError):
        table[len(listed)]


@pytest.mark.parametrize(
    ("content", "column", "match"),
    [
        (None, None, "There is no file"),
        ("", None, "is empty"),
        ("smiles\n", None, "no row below"),
        ("smiles,x\nCCO,1\n", None, r"columns 'smiles', 'x'.*column='smiles'"),
        ("smiles,x\nCCO,1\n", "smile", r"no column \['smile'\]; it has 'smiles', 'x'"),
        ("smiles,x\nCCO,1\n,2\n", "smiles", "row 1 .* no value in the column 'smiles'"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, content: str | None, column: Any, match: str) -> None:
    path = tmp_path / "pool.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SpaceError, match=match):
        Pool(path, column=column)


def test_bad_sources_are_named(tmp_path: Path) -> None:
    (tmp_path / "pool.mol").write_text("x")
    (tmp_path / "pool.parquet").write_text("no parquet at all")
    (tmp_path / "none").mkdir()
    with pytest.raises(SpaceError, match=r"none of \.csv"):
        Pool(tmp_path / "pool.mol")
    with pytest.raises(SpaceError, match="cannot be read"):
        Pool(tmp_path / "pool.parquet")
    with pytest.raises(SpaceError, match=r"no \.parquet files"):
        Pool(tmp_path / "none")
    with pytest.raises(SpaceError, match="a list has no columns"):
        Pool(["a"], column="x")
    for memory in ("much", "0GB", -1, 0, True):
        with pytest.raises(SpaceError, match="no amount of memory"):
            Pool(["a"], memory=memory)
    with pytest.raises(SpaceError, match="processes=0"):
        Pool(["a"], processes=0)


@pytest.mark.parametrize(("memory", "amount"), [("4GB", 4 * 10**9), ("1.5 MiB", 3 << 19), ("12kB", 12_000), (7, 7)])
def test_amounts_of_memory(memory: Any, amount: int) -> None:
    assert Pool(["a"], memory=memory).memory == amount


def test_what_is_excluded_is_never_proposed_but_may_be_told() -> None:
    pool = Pool([f"{i:02d}" for i in range(12)], exclude=["03", "04", "99"])
    study = lw.Study(pool, lw.Hamming(), seed=3)
    study.tell("03", 1.0)
    asked = []
    for _ in range(12):
        for s in study.ask():
            asked.append(s.object)
            study.tell(s, float(np.sin(int(s.object))))
    assert sorted(asked) == [x for x in pool.objects if x not in ("03", "04")]
    assert pool.describe() == Pool(pool.objects).describe()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["007", "7", "010"], ["007", "7", "010"]),
        (["7", "0", "-3"], [7, 0, -3]),
        (["0.5", "-0.3", "00.5", "0"], [0.5, -0.3, 0]),
        (["1.5", "-07"], ["1.5", "-07"]),
        (["123456789012345678901", "123456789012345678902"], ["123456789012345678901", "123456789012345678902"]),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_codes_with_leading_zeros_are_texts(tmp_path: Path, name: str, cells: list[str], expected: list[Any]) -> None:
    content = "\n".join(["code,n", *(f"{cell},{i}" for i, cell in enumerate(cells))]).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert list(Pool(path, column="code").objects) == expected
    assert Pool(path, column=["n", "code"]).objects[0] == {"n": 0, "code": expected[0]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_a_pool_reads_what_suggest_reads(tmp_path: Path, delimiter: str, encoding: str) -> None:
    rows = [["Lösung", "wasserfrei"], ["a b", "1.5"], ["'=c", "2"]]
    path = tmp_path / "pool.csv"
    path.write_bytes("\r\n".join(delimiter.join(row) for row in rows).encode(encoding))
    assert list(Pool(path, column="Lösung").objects) == ["a b", "=c"]
    assert list(Pool(path, column="wasserfrei").objects) == [1.5, 2]


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text("name;volume\na;0,5\nb;1,25\n")
    assert list(Pool(path, column="volume").objects) == [0.5, 1.25]


def test_a_pool_unpacks_within_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pool.csv.gz"
    path.write_bytes(gzip.compress(b"x\n" + b"a\n" * 10**6))
    monkeypatch.setenv("LIKEWISE_UNPACKED_GB", "0.001")
    with pytest.raises(SpaceError, match="unpacks to more than"):
        Pool(path)


def test_a_panic_over_a_parquet_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(pl.DataFrame({"x": ["a"]}), tmp_path / "pool.parquet")

    def panics(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl, "read_parquet", panics)
    with pytest.raises(SpaceError, match="index out of bounds"):
        Pool(path)
