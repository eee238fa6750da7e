"""The settings file: what is written is read again, whatever columns are called; what is wrong in it is named."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.campaign.columns import read_aims
from likewise.campaign.settings import find_project, project_text, read_project, toml_value
from likewise.errors import TableError

Save = Callable[..., Path]
names = st.text(min_size=1, max_size=12).filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text))


@given(st.recursive(names | st.integers(-9, 9) | st.booleans(), lambda e: st.lists(e) | st.dictionaries(names, e)))
def test_values_are_written_as_toml_reads_them(value: Any) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}") == {"x": value}


@settings(max_examples=30)
@given(objects=st.lists(names, min_size=1, max_size=3, unique=True), value=names, minimize=st.booleans())
def test_settings_are_read_as_they_are_written(objects: list[str], value: str, minimize: bool) -> None:
    options = {"object": objects, "value": value, "minimize": minimize, "bounds": "0,", "n": 3, "seed": 5}
    text = project_text("t.csv", options, units={value: "%"}, following="next.csv", about={value: "numbers"})
    data = tomllib.loads(text)
    assert data["columns"]["objects"] == objects
    assert data["values"] == {value: "minimize" if minimize else "maximize"}
    assert data["bounds"] == {value: [0, ""]}


def test_settings_are_options(save: Save) -> None:
    options = {"object": ["a"], "value": "y", "minimize": True, "bounds": "0,", "similarity": ["indel"]}
    text = project_text("t.csv", {**options, "space": "strings:AB:3"}, units={}, following="next.csv", about={})
    project = read_project(save(text, "likewise.toml"))
    assert project.table.name == "t.csv"
    assert {name: project.options[name] for name in options} == options
    assert (project.options["space"], project.options["n"]) == ("strings:AB:3", 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("table = 3", ["table is 3", "a text"]),
        ("tabel = 't.csv'", ["'tabel'", "table"]),
        ("number = 4", ["names no table"]),
        ("table = 't.csv'\n[values]\ny = 'up'", ["values.y", "maximize"]),
        ("table = 't.csv'\n[values]\nz = '< 2'", ["requires something of z", "optimises nothing"]),
        ("table = 't.csv'\n[values]\ny = 'maximize'\n[require]\nz = 'low'", ["values.z", "< 2"]),
        ("table = 't.csv'\n[columns]\nobject = ['a']", ["columns.object", "objects"]),
        ("table = 't.csv'\nbounds = 3", ["bounds is 3"]),
        ("table = 't.csv'\n[values]\ny = 'minimize'\n[bounds]\ny = [1]", ["[0, 100]"]),
        ("table = ", ["not TOML"]),
        ("table = 't.csv'\nnumber = true", ["number is True", "a whole number"]),
        ("x = " + "[" * 5000, ["not TOML"]),
    ],
)
def test_what_is_wrong_is_named(save: Save, text: str, words: list[str]) -> None:
    with pytest.raises(TableError) as caught:
        read_project(save(text, "likewise.toml"))
    for word in ("likewise.toml", *words):
        assert word in str(caught.value)


def test_a_project_is_found_beside_its_table_and_nowhere_else(save: Save, tmp_path: Path) -> None:
    save("table = 't.csv'", "likewise.toml")
    (tmp_path / "sub").mkdir()
    assert find_project(tmp_path / "t.csv") is not None
    assert find_project(tmp_path / "other.csv") is None
    assert find_project(tmp_path / "sub" / "t.csv") is None
    assert find_project(None, tmp_path / "sub") is None


def test_several_values_and_requirements_are_read_as_they_are_written(save: Save) -> None:
    aims = read_aims(["yield:max", "cost (€):min"], ["impurity<2", "pH 6..8", "purity>=95"])
    options = {"object": ["a"], "value": "yield", "aims": aims, "bounds": "yield=0,100;cost (€)=0,"}
    text = project_text("t.csv", options, units={}, following="next.csv", about={})
    found = read_project(save(text, "likewise.toml")).options
    assert read_aims(found["value"], found["require"]) == aims
    assert found["bounds"] == options["bounds"]
