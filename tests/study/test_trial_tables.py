"""What is exported comes back exactly; what users write is read, or refused with the row and the column."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import StorageError, StudyError
from likewise.study.frames import export, read_entries
from likewise.study.trial import Outcome, State, Trial

SUFFIXES = [".csv", ".parquet", ".json"]
finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text() | st.sampled_from(
    [
        "",
        "1",
        "=1+1",
        "'=1",
        "\t=1",
        "\r=1",
        "-1.5",
        "-",
        "+a",
        "@",
        "null",
        '"',
        "a,b",
        "NaN",
        "1e999",
        " x ",
        "\r",
        "a\r\nb",
        "\x00",
        "\ud800",
    ]
)
scalars = st.none() | st.booleans() | st.integers() | finite | texts
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2))
fields = st.sampled_from(["a", "b", "=a", "'=a", "-", "value", "id", "object", "object.a", "state"])
tables = st.one_of(
    st.lists(anything, max_size=4),
    st.lists(texts, max_size=4),
    st.lists(finite | st.integers(), max_size=4),
    st.lists(st.lists(finite, max_size=3), max_size=4),
    st.lists(st.dictionaries(fields, scalars, min_size=1), max_size=4),
    st.lists(st.fixed_dictionaries({"a": finite, "b": texts}), max_size=4),
)


def read_table(path: Path, **columns: Any) -> list[tuple[str, float, float | None]]:
    """The measured trials of a table: each object as JSON text, its value and its standard deviation, if known."""
    entries = [(entry.payload, entry.outcomes.get("value")) for entry in read_entries(path, **columns)]
    return [(payload, told.value, told.std) for payload, told in entries if told is not None]


def stored(objects: list[Any], values: list[float], errors: list[str]) -> list[Trial]:
    """Rows in every state, with those values and errors."""
    rows = []
    for id, (x, value, error) in enumerate(zip(objects, values, errors, strict=True)):
        state = list(State)[id % 4]
        told = state is State.TOLD
        rows.append(
            Trial(
                id,
                x,
                state,
                {"value": Outcome(value, abs(value))} if told else {},
                error if state is State.FAILED else None,
                worker=error,
                created=1.5e9 + id / 3,
                updated=1.5e9 + id / 7,
            )
        )
    return rows


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(deadline=None)
@given(objects=tables, data=st.data())
def test_what_is_exported_comes_back(suffix: str, objects: list[Any], data: st.DataObject) -> None:
    size = len(objects)
    values = data.draw(st.lists(finite, min_size=size, max_size=size))
    errors = data.draw(st.lists(texts, min_size=size, max_size=size))
    rows = stored(objects, values, errors)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"trials{suffix}"
        export(rows[::-1], path)
        entries = read_entries(path)
        assert [found.name for found in Path(name).iterdir()] == [path.name]
    assert [json.loads(entry.payload) for entry in entries] == objects
    told = [{name: Outcome(m.value, m.std) for name, m in entry.outcomes.items()} for entry in entries]
    assert told == [row.outcomes for row in rows]
    assert [(entry.state, entry.error) for entry in entries] == [(row.state, row.error) for row in rows]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_measured_trials_are_in_the_table(suffix: str, tmp_path: Path) -> None:
    rows = stored([{"solvent": "DMF", "t": 20.5}] * 6, [0.1 + 0.2] * 6, ["no"] * 6)
    export(rows, tmp_path / f"t{suffix}")
    assert read_table(tmp_path / f"t{suffix}") == [('{"solvent": "DMF", "t": 20.5}', 0.1 + 0.2, 0.1 + 0.2)] * 2


def test_columns_are_what_a_reader_expects(tmp_path: Path) -> None:
    rows = stored([{"solvent": "DMF", "t": 20.5}, {"solvent": "=MeCN", "t": 1}], [1.0, 2.0], ["e", "e"])
    for suffix in (".csv", ".parquet"):
        export(rows, tmp_path / f"t{suffix}")
    typed = polars.read_parquet(tmp_path / "t.parquet")
    after = ["value", "std", "state", "error", "worker", "created", "updated"]
    assert typed.columns == ["id", "solvent", "t", *after]
    assert typed["t"].to_list() == [20.5, 1.0]
    assert typed["solvent"].to_list() == ["DMF", "=MeCN"]
    assert typed["created"].to_list() == [row.created for row in rows]
    first, second, third = (tmp_path / "t.csv").read_text().splitlines()
    assert first == ",".join(typed.columns)
    assert second.startswith("0,DMF,20.5,,,asked,,e,1500000000.0,")
    assert third.startswith("1,'=MeCN,1,2.0,2.0,told,,e,")


def test_no_exported_cell_is_a_formula(tmp_path: Path) -> None:
    dangerous = ["=HYPERLINK(1)", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1"]
    rows = stored([{"=header": text, "@b": text} for text in dangerous], [1.0] * 7, dangerous)
    export(rows, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        written = list(csv.reader(file))
    assert written[0][1:3] == ["'=header", "'@b"]
    assert [row[1] for row in written[1:]] == [f"'{text}" for text in dangerous]
    assert not any(cell[:1] in "=+@\t\r\n" for row in written for cell in row if len(cell) > 1)
    assert [json.loads(entry.payload)["=header"] for entry in read_entries(tmp_path / "t.csv")] == dangerous


def test_vectors_are_lists_in_parquet(tmp_path: Path) -> None:
    export(stored([[0.1, 0.2], [0.3, 0.4]], [1.0, 2.0], ["", ""]), tmp_path / "t.parquet")
    assert polars.read_parquet(tmp_path / "t.parquet")["object"].to_list() == [[0.1, 0.2], [0.3, 0.4]]


def test_a_user_names_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_text("\ufeffsmiles,base,yield,error bar\r\nCCO,K2CO3,0.5,0.1\r\nCCN,KOH,,\r\n", encoding="utf-8")
    assert read_table(path, object="smiles", value="yield", std="error bar") == [('"CCO"', 0.5, 0.1)]
    assert read_table(path, object=["smiles", "base"], value="yield") == [
        ('{"smiles": "CCO", "base": "K2CO3"}', 0.5, None)
    ]
    asked = read_entries(path, object="smiles", value="yield")[1]
    assert (asked.payload, asked.state) == ('"CCN"', State.ASKED)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("object,value\nA,0.1\nB,high\n", r"data row 2: value is 'high'"),
        ("object,value\nA,1e\n", r"data row 1: value is '1e'"),
        ("object,value\nA,1e999\n", r"data row 1: value is .*inf.*finite"),
        ("object,value\nA,NaN\n", r"data row 1: value is 'NaN'"),
        ("object,value\n1e999,1\n", r"data row 1: the object"),
        ("object,score\nA,1\n", r"no column 'value'; its columns are 'object', 'score'"),
        ("value,std\n1,1\n", "no column for the objects"),
        ("object,value,state\nA,1,done\n", r"state is 'done'; it is one of asked, told"),
        ("object,value,state\nA,1,told\nB,,told\n", "data row 2: a trial that is told with value None"),
    ],
)
def test_bad_tables_are_refused(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(StudyError, match=words) as raised:
        read_entries(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("t.csv", b""), ("t.parquet", b"PAR1"), ("t.json", b"{}"), ("t.json", b"{"), ("t.json", b"\xff")],
)
def test_unreadable_files_are_refused(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StorageError, match=name):
        read_table(tmp_path / name)


def test_places_are_checked(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"There is no file .*nowhere\.csv"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(StorageError, match="cannot be written"):
        export([], tmp_path / "nowhere" / "t.csv")
    with pytest.raises(StudyError, match=r"'\.xlsx'; a table ends in \.csv"):
        export([], tmp_path / "t.xlsx")


def test_a_failed_export_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(StorageError):
        export([], path)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("t.csv", "old")]


@pytest.mark.parametrize("text", ["object;value\nA;1,5\nB;0,25\n", 'object,value\nA,"1,5"\nB,"0,25"\n'])
def test_decimal_commas_are_read_as_suggest_reads_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert read_table(path) == [('"A"', 1.5, None), ('"B"', 0.25, None)]


def test_a_comma_that_could_mean_two_things_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("object;value\nA;1,500\n")
    with pytest.raises(StorageError, match=r"row 2, column 'value'.* 1500 or 1\.500"):
        read_entries(path)
