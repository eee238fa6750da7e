"""Files that are damaged, packed without end or nested without end are refused by an error, never by anything else."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import polars
import pytest

from likewise.campaign import space_text as spacefile
from likewise.campaign.settings import read_project
from likewise.campaign.sheet import Choices, sheet
from likewise.campaign.text import Listener
from likewise.errors import LikewiseError, StorageError, TableError
from likewise.study.frames import read_entries
from likewise.tables import reading
from likewise.tables.cells import DEEPEST, check_depth, read_json
from likewise.tables.reading import read, read_parquet
from likewise.tables.writing import write_again


def damaged(seed: int, count: int) -> list[bytes]:
    """Parquet files with bits flipped."""
    stream = io.BytesIO()
    polars.DataFrame({"x": ["CCO", "CCN", None] * 5, "y": [1.5, None, 2.0] * 5}).write_parquet(
        stream, compression="uncompressed"
    )
    whole, draw = stream.getvalue(), random.Random(seed)
    found = []
    for _ in range(count):
        data = bytearray(whole)
        data[draw.randrange(4, len(data) - 4)] ^= 1 << draw.randrange(8)
        found.append(bytes(data))
    return found


def test_a_panic_of_the_library_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def panics(*_: object, **__: object) -> None:
        raise polars.exceptions.PanicException("assertion failed\nmore")

    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setattr(polars, "read_parquet", panics)
    with pytest.raises(TableError, match=r"damaged Parquet file \(assertion failed\); copy"):
        read(path)
    with pytest.raises(StorageError, match="assertion failed"):
        read_entries(path)


def test_flipped_bits_are_read_or_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for data in damaged(3, 400):
        with suppress(OSError, ValueError):
            read_parquet(io.BytesIO(data))


def test_what_is_packed_without_end_is_refused_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tracemalloc

    path = tmp_path / "bomb.csv.gz"
    packer = zlib.compressobj(9, wbits=31)
    path.write_bytes(b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush())
    monkeypatch.setenv(reading.VARIABLE, "0.01")
    tracemalloc.start()
    with pytest.raises(TableError, match=r"bomb.csv.gz unpacks to more than 0.01 GB; .*LIKEWISE_UNPACKED_GB"):
        read(path)
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()


def test_the_limit_is_raised_by_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"x,1\n" * 5000))
    monkeypatch.setattr(reading, "LIMIT", 1e-6)
    with pytest.raises(TableError, match="1e-06 GB"):
        read(path)
    monkeypatch.setenv(reading.VARIABLE, "1")
    assert len(read(path)) == 5000
    monkeypatch.setenv(reading.VARIABLE, "much")
    with pytest.raises(TableError, match="LIKEWISE_UNPACKED_GB is 'much'"):
        read(path)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("depth", [DEEPEST + 1, 900, 5_000, 200_000])
def test_deep_json_is_a_value_error(depth: int) -> None:
    with pytest.raises(ValueError, match="nested deeper than"):
        read_json(nested(depth))
    with pytest.raises(ValueError, match="nested deeper than"):
        read_json('{"a":' * depth + "1" + "}" * depth)


def test_json_that_is_not_deep_is_read_however_much_there_is() -> None:
    for data in ([[]] * 5000, nested(5000), {"[": ["{{{"] * 500}, json.loads(nested(DEEPEST))):
        assert read_json(json.dumps(data)) == data
        check_depth(data)


@pytest.mark.parametrize("depth", [900, 100_000])
def test_deep_cells_and_files_are_refused(tmp_path: Path, depth: int) -> None:
    csv, rows, parquet = tmp_path / "t.csv", tmp_path / "t.json", tmp_path / "t.parquet"
    csv.write_text("object,value\n" + '"[1, 2]",1\n' * 19 + f'"{nested(depth)}",2\n')
    with pytest.raises(TableError, match=r"row 21, column 'object'.*nested deeper than"):
        sheet(csv, Choices(objects=("object",), value="value"), Listener())
    rows.write_text(f'[{{"object": {nested(depth)}, "value": 1}}]')
    polars.DataFrame({"object": [nested(depth).encode()], "value": [1.0]}).write_parquet(parquet)
    for path in (rows, parquet):
        with pytest.raises(StorageError, match="nested deeper than"):
            read_entries(path)


def test_parquet_with_bytes_that_are_no_json_is_refused(tmp_path: Path) -> None:
    polars.DataFrame({"object": [b"{"], "value": [1.0]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(StorageError, match=r"t\.parquet cannot be read"):
        read_entries(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    "text",
    [
        f"space = {nested(100_000)}",
        f"space = {nested(400)}",
        "space = 'Record'\nparts" + ".a" * 100_000 + " = 1",
        "a = " + "{a = " * 5_000 + "1" + "}" * 5_000,
    ],
)
def test_deep_toml_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "space.toml"
    path.write_text(text)
    limit = sys.getrecursionlimit()
    with pytest.raises(LikewiseError, match=r"space\.toml is not TOML: it is nested deeper than"):
        spacefile.space(str(path))
    assert sys.getrecursionlimit() == limit


def table_files() -> dict[str, bytes]:
    """A small table in every kind of file that is read."""
    frame = polars.DataFrame(
        {"object": ["CCO", "CCN", "né"] * 3, "temp": [80, 90, 100] * 3, "value": [1.5, None, 2] * 3}
    )
    text, stream = frame.write_csv(), io.BytesIO()
    frame.write_parquet(stream)
    files = {
        "t.csv": text.encode(),
        "t.tsv": text.replace(",", "\t").encode("utf-16"),
        "t.csv.gz": gzip.compress(text.encode()),
        "t.parquet": stream.getvalue(),
        "t.smi": b"CCO a\nCCN b\n" * 5,
        "t.json": json.dumps([{"object": ["CCO", i], "value": 1.5 * i} for i in range(6)]).encode(),
        "project.toml": b'table = "t.csv"\n[columns]\nobjects = ["object"]\n[values]\nvalue = "maximize"\n',
        "space.toml": b'space = "Record"\n[parts]\nx = ["a", "b"]\ny = { space = "Float", low = 2, high = 12 }\n',
    }
    with suppress(ImportError):
        from likewise.tables.workbooks import workbook_bytes

        files["t.xlsx"] = workbook_bytes(frame, "t.xlsx")
    with suppress(ImportError):
        from rdkit import Chem

        lines = io.StringIO()
        with Chem.SDWriter(lines) as writer:
            for smiles in ("CCO", "CCN", "c1ccccc1"):
                molecule = Chem.MolFromSmiles(smiles)
                molecule.SetProp("_Name", f"é {smiles}")
                molecule.SetProp("assay", "né 1.5")
                writer.write(molecule)
        files["t.sdf"] = lines.getvalue().encode()
    return files


def mutant(data: bytes, draw: random.Random) -> bytes:
    """The bytes with a bit flipped, some cut out, put in or said twice, or the end cut off."""
    out = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 3])):
        place, length = draw.randrange(len(out)), draw.randrange(1, 20)
        way = draw.randrange(6)
        if way == 0:
            out[place] ^= 1 << draw.randrange(8)
        elif way == 1:
            out[place : place + 1] = draw.choice([b"\xff\xff\xff\xff", b"\0", b"\xe9", b'"', b"\r\n", b"\xed\xa0\x80"])
        elif way == 2:
            del out[place : place + length]
        elif way == 3:
            out[place:place] = draw.randbytes(length)
        elif way == 4:
            out[place:place] = out[-length:]
        else:
            del out[max(place, 1) :]
        out = out or bytearray(b"x")
    return bytes(out)


def repacked(data: bytes, draw: random.Random) -> bytes:
    """A workbook with damage in a part of it, whose checksums are right."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as copy:
        parts = {name: archive.read(name) for name in archive.namelist()}
        hit = draw.choice([name for name in parts if "book" in name or "sheet" in name or "String" in name])
        for name, part in parts.items():
            copy.writestr(name, mutant(part, draw) if name == hit else part)
    return stream.getvalue()


def use(path: Path) -> None:
    """Do with a file what commands do with it: a table is read and written again, with a new result in each row."""
    if path.suffix == ".json":
        read_entries(path)
    elif path.name == "project.toml":
        read_project(path)
    elif path.suffix == ".toml":
        spacefile.space(str(path))
    else:
        table = read(path)
        sheet(path, Choices(), Listener())
        if table.dialect.kind != "structures" and "value" in table.columns:
            write_again(table.frame.with_columns(value=polars.lit(7.0)), path, table.dialect, table)
            read(path)


@pytest.mark.parametrize("name", table_files())
def test_a_damaged_file_is_used_or_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    whole, path = table_files()[name], Path(name)
    path.write_bytes(whole)
    use(path)
    refusals = []
    for seed in range(150):
        draw = random.Random(f"{name} {seed}")
        path.write_bytes(repacked(whole, draw) if name == "t.xlsx" and seed % 2 else mutant(whole, draw))
        try:
            use(path)
        except LikewiseError as error:
            refusals.append(str(error))
    assert refusals
    assert all(name in refusal for refusal in refusals)


def test_molecules_of_an_old_instrument_are_read(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    text = table_files()["t.sdf"].decode()
    (tmp_path / "t.sdf").write_bytes(text.encode("cp1252"))
    assert read(tmp_path / "t.sdf").frame["assay"].to_list() == ["né 1.5"] * 3
