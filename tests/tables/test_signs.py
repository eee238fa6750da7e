"""One decimal sign for all numbers of a table, and columns of codes and long ids that are no numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.campaign import space_text as spacefile
from likewise.campaign.objects import cell_of_kind
from likewise.campaign.sheet import Choices, Sheet, sheet
from likewise.campaign.text import Listener
from likewise.errors import TableError, UsageError

Save = Callable[..., Path]


def made(path: Path, space: str | None = None, **chosen: Any) -> Sheet:
    return sheet(path, Choices(**chosen), Listener(), None if space is None else spacefile.space(space))


def test_values_tell_what_a_comma_means_in_the_objects(save: Save) -> None:
    table = save("conc;value\n1,250;1,5\n1,500;2,5\n1,750;\n")
    found = made(table, objects=("conc",), value="value")
    assert found.objects == [1.25, 1.5, 1.75]
    assert (found.kinds, found.decimal) == ({"conc": "numbers"}, ",")


def test_objects_tell_what_a_comma_means_in_the_values(save: Save) -> None:
    table = save("conc;value\n0,5;1,250\n1,5;2,500\n")
    assert made(table, objects=("conc",), value="value").values == [1.25, 2.5]


def test_objects_that_could_be_read_in_two_ways_are_asked_about(save: Save) -> None:
    table = save("conc;value\n1,250;1\n1,500;2\n")
    with pytest.raises(TableError, match=r"row 2, column 'conc'.* 1250 or 1.250") as caught:
        made(table, objects=("conc",), value="value")
    assert caught.value.settings == {"decimal": "", "text": "conc"}
    assert made(table, objects=("conc",), value="value", decimal=",").objects == [1.25, 1.5]
    assert made(table, objects=("conc",), value="value", text=("conc",)).objects == ["1,250", "1,500"]


def test_columns_that_contradict_each_other_are_named(save: Save) -> None:
    table = save("temp;value\n75.5;6,5\n80.25;7,5\n")
    with pytest.raises(TableError, match=r"'6,5' has a decimal comma, but '75.5' in row 2, column 'temp', a decimal"):
        made(table, objects=("temp",), value="value")
    with pytest.raises(TableError, match=r"'75.5': it is not a number with decimal sign ','"):
        made(table, objects=("temp",), value="value", decimal=",")


def test_a_space_reads_numbers_with_the_sign_of_the_table(save: Save) -> None:
    table = save("a;b;value\n1,250;2,5;1\n3,5;4;\n")
    for chosen in ({}, {"decimal": ","}):
        assert [
            list(x) for x in made(table, "box:0..10,0..10", objects=("a", "b"), value="value", **chosen).objects
        ] == [
            [1.25, 2.5],
            [3.5, 4.0],
        ]
    alone = save("a;value\n1,250;1\n")
    with pytest.raises(TableError, match=r"1250 or 1\.250"):
        made(alone, "box:0..10000", objects=("a",), value="value")
    order = save("order;value\n1,0;1.5\n0,1;2.5\n", "order.csv")
    assert made(order, "permutations:2", objects=("order",), value="value").decimal == "."


def test_an_object_on_the_command_line_has_the_sign_of_the_table() -> None:
    assert cell_of_kind("1,250", "numbers", "conc", ",") == 1.25
    assert cell_of_kind("1,250", "numbers", "conc", ".") == 1250.0
    assert cell_of_kind("1,5", "numbers", "conc", None) == 1.5
    with pytest.raises(UsageError, match=r"1250 or 1\.250"):
        cell_of_kind("1,250", "numbers", "conc", None)


def test_codes_and_long_ids_are_text_and_that_is_said(save: Save) -> None:
    table = save("id,plate,value\n12345678901234567,007,1\n12345678901234568,012,2\n")
    listener = Listener()
    found = sheet(table, Choices(("id", "plate"), "value"), listener)
    assert found.objects[0] == {"id": "12345678901234567", "plate": "007"}
    assert [note.split(": ", 1)[1] for note in listener.notes] == [
        "column 'id' is compared as text: 12345678901234567 has more digits than a number keeps",
        "column 'plate' is compared as text: '007' begins with 0, like a code",
    ]
    long = save("x,value\n0.30000000000000004,1\n12345678901234,2\n", "long.csv")
    assert made(long, objects=("x",), value="value").kinds == {"x": "numbers"}


def test_a_row_of_quotation_marks_around_nothing_is_blank(save: Save) -> None:
    found = made(save('object,value\nA,1\n"",""\n" ",\nB,2\n'), objects=("object",), value="value")
    assert found.objects == ["A", None, None, "B"]
