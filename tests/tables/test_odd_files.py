"""Files as they come: each is read as a person would read it, or refused in one paragraph that names the file."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from likewise.campaign.sheet import Choices, sheet
from likewise.campaign.text import Listener
from likewise.errors import LikewiseError
from likewise.tables.reading import read
from likewise.tables.writing import write_again

Save = Callable[..., Path]
TABLE = "ligand,temp,yield\nXPhos,80,10\nSPhos,90,20\ndppf,80,30\nXPhos,100,\nSPhos,60,\n"
CHOICES = Choices(("ligand", "temp"), "yield")
READ: dict[str, str | bytes] = {
    "plain": TABLE,
    "byte order mark": f"\ufeff{TABLE}",
    "UTF-16": TABLE.encode("utf-16"),
    "UTF-16, the other way": b"\xfe\xff" + TABLE.encode("utf-16-be"),
    "Latin-1": TABLE.replace("dppf", "dépf").encode("latin-1"),
    "line ends of Windows": TABLE.replace("\n", "\r\n"),
    "line ends of old": TABLE.replace("\n", "\r"),
    "a blank line after each": TABLE.replace("\n", "\n\n"),
    "blank lines first": f"\n \n{TABLE}",
    "empty rows": f"{TABLE},,\n,,\n",
    "a title": f"Screening of May\n{TABLE}",
    "a title with commas": f"Screening of May,,\n{TABLE}",
    "remarks": f"# exported\n# on Monday, at 9\n{TABLE}",
    "a counter called #": "\n".join(f"{k or '#'},{line}" for k, line in enumerate(TABLE.splitlines())),
    "totals": f"{TABLE}Total,,60\n",
    "an average elsewhere": f"{TABLE},Average,20\n",
    "a comma too many": TABLE.replace("\n", ",\n"),
    "a short row": TABLE.replace("SPhos,60,", "SPhos,60"),
    "semicolons": TABLE.replace(",", ";"),
    "bars": TABLE.replace(",", "|"),
    "tabs": TABLE.replace(",", "\t"),
    "announced": f"sep=;\r\n{TABLE.replace(',', ';')}",
    "blanks": TABLE.replace(",", " , "),
    "other blanks": TABLE.replace("80", "\u00a080\u2009"),
    "percent": TABLE.replace(",20\n", ",20%\n").replace(",30\n", ",30 %\n"),
    "a row of units": TABLE.replace("yield\n", "yield\n,°C,(%)\n"),
    "units": TABLE.replace("80", "80 °C").replace("90", "90°C"),
    "decimal commas": TABLE.replace(",", ";").replace("80", "80,0").replace("30", "30,0"),
    "gzip": gzip.compress(TABLE.encode()),
}
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "nothing": (b"", "is empty"),
    "a header alone": ("ligand,temp,yield\n", "no row below"),
    "one name twice": (TABLE.replace("temp", "ligand", 1), "both have the name 'ligand'"),
    "no header": (TABLE.split("\n", 1)[1], "no column 'ligand'"),
    "a quotation mark": ('ligand,temp,yield\nX"Phos,80,10\n"SPhos,90,20\n', "quotation mark"),
    "room temperature": (TABLE.replace("100", "rt"), "room temperature"),
    "a range": (TABLE.replace(",90,", ",80-90,"), "'80-90': it is not a number"),
    "an error of Excel": (TABLE.replace(",10\n", ",#DIV/0!\n"), "'#DIV/0!': it is not a number"),
    "plus or minus": (TABLE.replace(",10\n", ",10 ± 2\n"), "'10 ± 2': it is not a number"),
    "a cell too many": (TABLE.replace(",10\n", ",10,11\n"), "'11' is one too many"),
    "a NUL": (TABLE.encode().replace(b"dppf", b"d\0pf"), "NUL"),
    "a PDF": (b"%PDF-1.4", "a PDF document"),
    "half a workbook": (b"PK\x03\x04 half", "no Excel workbook"),
}


@pytest.mark.parametrize("data", READ.values(), ids=list(READ))
def test_read_as_a_person_would(save: Save, data: str | bytes) -> None:
    """The same numbers, from any of them, and the same file when it is written again."""
    path = save(data)
    made = sheet(path, CHOICES, Listener())
    assert [made.objects[i]["temp"] for i in (*made.measured, *made.candidates)] == [80, 90, 80, 100, 60]
    assert [made.values[i] for i in made.measured] == [10, 20, 30]
    write_again(made.table.frame, path, made.table.dialect, made.table)
    again = sheet(path, CHOICES, Listener())
    assert (again.objects, again.table.dialect) == (made.objects, made.table.dialect)


@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=list(REFUSED))
def test_refused_in_one_paragraph(save: Save, data: str | bytes, reason: str) -> None:
    if reason == "no Excel workbook":
        pytest.importorskip("python_calamine")
    with pytest.raises(LikewiseError) as caught:
        sheet(save(data), CHOICES, Listener())
    assert reason in str(caught.value)
    assert "table.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["recipe\nwater;DMF\nwater;THF\n", "my recipe\nwater;DMF\nwater;THF\n", "x y\n1;2\n3;4\n"]
)
def test_one_column_is_not_taken_for_a_title(save: Save, text: str) -> None:
    assert read(save(text)).columns == [text.split("\n")[0]]


def test_a_word_of_a_list_is_no_summary(save: Save) -> None:
    """What sums up holds a number, and leaves cells empty that all others fill, or stands last."""
    many = "".join(f"w{i},{i if i % 9 else ''}\n" for i in range(20))
    words = sheet(save(f"word,score\nmean,3\nkind,4\nsum,\n{many}total,\n"), Choices(("word",), "score"), Listener())
    assert [x for x in words.objects if x and x[0] != "w"] == ["mean", "kind", "sum", "total"]
    inside = TABLE.replace("dppf", "mean,,15\ndppf")
    assert len(sheet(save(inside), CHOICES, Listener()).measured) == 3
