"""Tables as people save them, the worst included, and what comes back after writing."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from pathlib import Path

import polars
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from likewise.errors import TableError, UsageError
from likewise.tables.dialect import Dialect, find_delimiter
from likewise.tables.reading import read
from likewise.tables.writing import check_name, dialect_for, keep_backup, write

PLAIN = "smiles,yield\nCCO,1.5\nCCN,\n"


def saved(folder: Path, data: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (PLAIN.encode(), "a.csv"),
        (PLAIN.encode(), "a.dat"),
        (PLAIN.replace("\n", "\r\n").encode(), "crlf.csv"),
        (PLAIN.replace("\n", "\r").encode(), "old-mac.csv"),
        (b"\xef\xbb\xbf" + PLAIN.encode(), "bom.csv"),
        (b"\xff\xfe" + PLAIN.replace(",", "\t").encode("utf-16-le"), "unicode-text.txt"),
        (b"\xfe\xff" + PLAIN.encode("utf-16-be"), "big-endian.csv"),
        (PLAIN.replace(",", "\t").encode(), "a.tsv"),
        (PLAIN.replace(",", "\t").encode(), "tabs-in.csv"),
        (PLAIN.replace(",", ";").encode(), "semicolons.csv"),
        (PLAIN.replace(",", "|").encode(), "bars.txt"),
        (gzip.compress(PLAIN.encode(), mtime=0), "a.csv.gz"),
        (gzip.compress(PLAIN.encode(), mtime=0), "hidden.csv"),
        (PLAIN.rstrip("\n").encode(), "no-newline.csv"),
        (b"\n\r\n" + PLAIN.encode(), "blank-first.csv"),
        (b'"smiles","yield"\n"CCO","1.5"\n"CCN",""\n', "quoted.csv"),
        (b"smiles,yield,,\nCCO,1.5,,\nCCN,,,\n", "empty-columns.csv"),
    ],
)
def test_every_way_to_save_the_same_table_is_read_the_same(tmp_path: Path, data: bytes, name: str) -> None:
    table = read(saved(tmp_path, data, name))
    assert table.columns == ["smiles", "yield"]
    assert [[cell or None for cell in row] for row in table.frame.rows()] == [["CCO", "1.5"], ["CCN", None]]


def test_parquet_gzipped_or_not(tmp_path: Path) -> None:
    frame = polars.DataFrame({"x": [1.5, 2.0], "y": [1, None]})
    stream = io.BytesIO()
    frame.write_parquet(stream)
    for data in (stream.getvalue(), gzip.compress(stream.getvalue(), mtime=0)):
        assert read(saved(tmp_path, data, "any.name")).frame.equals(frame)


def test_latin_1_is_read_and_said(tmp_path: Path) -> None:
    table = read(saved(tmp_path, "Lösemittel;Ausbeute\nEthylacetat µ;1,5\n".encode("cp1252")))
    assert table.columns == ["Lösemittel", "Ausbeute"]
    assert table.frame["Lösemittel"][0] == "Ethylacetat µ"
    assert "1252" in table.notes[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", ["empty", "header"]),
        ("  \n\n", ["empty"]),
        ("smiles,yield\n", ["no row", "'smiles'"]),
        ("smiles,yield,smiles\nC,1,2\n", ["columns 1 and 3", "'smiles'", "rename"]),
        ("smiles,,yield,\nC,x,1,y\n", ["columns 2 and 4", "no name"]),
        ("smiles,yield\nCCO,1\nCC\0N,2\n", ["NUL", "line 3", "CSV"]),
        ("smiles,yield\nCCO,1\nCCN,2,3\n", ["row 3", "3 cells", "2 columns", "'3'"]),
        ('smiles,yield\nCCO,1\n"CCN,2\n', ["row 3", "quotation mark"]),
        (b"PK\x03\x04rest of a workbook", ["Excel", "CSV"]),
        (b"\xd0\xcf\x11\xe0old", ["Excel"]),
        (b"\x1f\x8bnot really", ["gzip", "damaged"]),
        (b"PAR1nonsense", ["Parquet", "damaged"]),
        (gzip.compress(PLAIN.encode(), mtime=0)[:-9], ["gzip", "damaged"]),
        (b"\xff\xfesm", ["UTF-16"]),
    ],
)
def test_bad_files_are_one_readable_paragraph(tmp_path: Path, data: str | bytes, words: list[str]) -> None:
    with pytest.raises(TableError) as caught:
        read(saved(tmp_path, data + b"\xff" if data == b"\xff\xfesm" else data))  # type: ignore[operator]
    message = str(caught.value)
    assert "table.csv" in message
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_missing_file_and_a_folder_are_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(UsageError, match="folder"):
        read(tmp_path)


def test_a_missing_column_names_those_there_are(tmp_path: Path) -> None:
    table = read(saved(tmp_path, PLAIN))
    with pytest.raises(UsageError, match=r"'SMILES'.*'smiles', 'yield'; did you mean 'smiles'"):
        table.column("SMILES")


def test_ragged_rows_can_be_skipped_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    table = read(saved(tmp_path, "a,b\n1,2\n3,4,5\n6,7\n"), skip_ragged=True)
    assert table.ragged == (1,)
    assert table.frame.rows() == [("1", "2"), (None, None), ("6", "7")]
    assert table.number(2) == 4


def test_quotation_marks_inside_cells_are_put_up_with(tmp_path: Path) -> None:
    table = read(saved(tmp_path, 'name,value\n5" pipe,2\n"a ""quoted"" word",3\n'))
    assert table.frame["name"].to_list() == ['5" pipe', 'a "quoted" word']


def test_rows_are_numbered_as_a_spreadsheet_numbers_them(tmp_path: Path) -> None:
    table = read(saved(tmp_path, 'a,b\n"two\nlines",1\n\nx,2\n'))
    assert [table.number(i) for i, cell in enumerate(table.frame["a"]) if cell == "x"] == [4]
    assert read(saved(tmp_path, "\n\na,b\nx,1\n")).number(0) == 4


def test_a_delimiter_inside_the_header_does_not_confuse() -> None:
    assert find_delimiter('object;"yield (mg, dry)"\na;1,5\n') == ";"
    assert find_delimiter("smiles\nCCO\n") == ","
    assert find_delimiter("smiles\nCCO\n", "x.tsv.gz") == "\t"
    assert find_delimiter("a,b;c\n1,2;3\n1,2;3\n") == ";"


def test_a_million_rows_take_seconds(tmp_path: Path) -> None:
    rows = "".join(f"ACGT{i},{i}.5\n" for i in range(1_000_000))
    table = read(saved(tmp_path, f"object,value\n{rows}"))
    assert len(table) == 1_000_000
    assert table.frame["value"][-1] == "999999.5"


cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12).map(str.strip)


@given(
    st.lists(st.tuples(cells, cells), min_size=1, max_size=8),
    st.sampled_from([Dialect(), Dialect(delimiter=";", newline="\r\n", bom=True), Dialect(delimiter="\t", gzipped=True),
                     Dialect(encoding="utf-16-le", bom=True, delimiter="\t")]),
)  # fmt: skip
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], dialect: Dialect
) -> None:
    path = tmp_path_factory.mktemp("written") / "t.csv"
    frame = polars.DataFrame({"first": [r[0] for r in rows], "second": ["x" + r[1] for r in rows]})
    write(frame, path, dialect)
    back = read(path)
    assert back.columns == frame.columns
    assert [tuple(cell or "" for cell in row) for row in back.frame.rows()] == frame.rows()
    assert (back.dialect.delimiter, back.dialect.gzipped) == (dialect.delimiter, dialect.gzipped)


@given(st.lists(st.tuples(cells, st.text("=+-@'1a. ", max_size=5)), min_size=1, max_size=6))
def test_writing_what_was_read_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    """Whatever a file holds: written once, it stays as it is."""
    path = tmp_path_factory.mktemp("again") / "t.csv"
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([("first", "second"), *rows, ("last", "'-80 °C")])
    path.write_bytes(stream.getvalue().encode())
    table = read(path)
    write(table.frame, path, table.dialect)
    once, again = path.read_bytes(), read(path)
    assert again.frame["second"].to_list()[-1] == "-80 °C"
    write(again.frame, path, again.dialect)
    assert path.read_bytes() == once


def test_no_written_cell_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    dangerous = ["=HYPERLINK(1)", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "-1.5", "+3", "'=x", "plain"]
    write(polars.DataFrame({"=header": dangerous}), path, Dialect())
    written = [row[0] for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))]
    assert written == [
        "'=header",
        "'=HYPERLINK(1)",
        "'+cmd|' /C calc'!A0",
        "'-2+3",
        "'@SUM(A1)",
        "'\t=1",
        "-1.5",
        "+3",
        "''=x",
        "plain",
    ]


def test_a_name_decides_the_format_and_the_input_the_rest() -> None:
    german = Dialect(delimiter=";", encoding="cp1252", newline="\r\n")
    assert dialect_for(Path("next.csv"), german) == german
    assert dialect_for(Path("next.tsv"), german).delimiter == "\t"
    assert dialect_for(Path("next.csv"), Dialect(delimiter="\t")).delimiter == ","
    assert dialect_for(Path("next.parquet"), german).kind == "parquet"
    assert dialect_for(Path("next.csv.gz"), german).gzipped
    assert dialect_for(Path("next.csv"), Dialect(kind="parquet")) == Dialect()


def test_what_does_not_fit_the_old_encoding_is_written_as_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write(polars.DataFrame({"a": ["α–ω"]}), path, Dialect(encoding="cp1252"))
    assert read(path).frame["a"][0] == "α–ω"


@pytest.mark.parametrize("name", ["n.ods", "n.json", "n.xls.gz"])
def test_a_name_that_promises_another_format_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"it can end in \.xlsx"):
        check_name(Path(name))


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = saved(tmp_path, PLAIN)
    missing = tmp_path / "no" / "such" / "folder.csv"
    with pytest.raises(TableError, match="cannot be written"):
        write(polars.DataFrame({"a": ["x"]}), missing, Dialect())
    assert target.read_text() == PLAIN
    assert sorted(p.name for p in tmp_path.iterdir()) == ["table.csv"]


def test_a_link_stays_a_link_and_backups_are_never_overwritten(tmp_path: Path) -> None:
    target = saved(tmp_path, PLAIN)
    target.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    write(polars.DataFrame({"a": ["x"]}), link, Dialect())
    assert link.is_symlink()
    assert target.read_text() == "a\nx\n"
    assert target.stat().st_mode & 0o777 == 0o640
    names = [keep_backup(link).name for _ in range(3)]
    assert names == ["table.csv.bak", "table.csv.bak1", "table.csv.bak2"]


@pytest.mark.parametrize("delimiter", ["\t", ";", ","])
def test_very_long_cells_are_read_with_their_delimiter(tmp_path: Path, delimiter: str) -> None:
    long = "x" * 300_000
    table = read(saved(tmp_path, f"object{delimiter}value\n{long}{delimiter}1\n{long}{delimiter}2\n"))
    assert table.columns == ["object", "value"]
    assert table.frame["object"].to_list() == [long, long]
    wide = read(saved(tmp_path, f"{long[:150_000]}{delimiter}value\na{delimiter}1\n"))
    assert wide.columns == [long[:150_000], "value"]


def test_a_row_with_too_many_cells_can_be_left_out(tmp_path: Path) -> None:
    path = saved(tmp_path, "smiles,yield\nCCO,1\nCCN,2,3\n")
    with pytest.raises(TableError) as caught:
        read(path)
    assert caught.value.settings == {"skip_bad": ""}
    assert read(path, skip_ragged=True).ragged == (1,)


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([",", ";", "\t"]),
)
@example(["b\r"], "\n", ",")
def test_texts_are_read_as_they_were_written(cells: list[str], newline: str, delimiter: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame = polars.DataFrame({"text": cells, "number": list(map(str, range(len(cells))))})
        write(frame, path, Dialect(delimiter=delimiter, newline=newline))
        assert read(path).frame.to_dict(as_series=False) == frame.to_dict(as_series=False)
