"""Small studies and the commands of the pages answer as recorded: `python -m tests.golden --record` records them anew.

Picks and text are the same, numbers to a millionth; GOLDEN_TOLERANCE is another share, and 0 asks for every digit. On a
processor that rounds otherwise a thousandth will do, and what hangs on the last digit is left out.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.golden import bench, pages
from tests.golden.recorded import ELSEWHERE, TOLERANCE, differences, read, recorded_with, versions
from tests.golden.studies import STUDIES

import likewise as lw

ROOT = Path(__file__).resolve().parents[2]
# Where something is hashed: texts, sets, and names of outcomes.
SAMPLE = ["pool of words", "subsets", "two objectives"]


def check(what: str, name: str, run: Callable[[], dict[str, Any]], *, delicate: bool = False) -> None:
    there, before, now = read(what), recorded_with(what), versions()
    assert name in there, f"nothing is recorded of {name!r}: python -m tests.golden --record {name!r}"
    other = [f"recorded with {part} {before[part]}, here {now[part]}" for part in now if before[part] != now[part]]
    same = before["arithmetic"] == now["arithmetic"]
    if delicate and not same:
        pytest.skip("the last digit decides what is picked, and this processor rounds otherwise")
    recorded, answered = there[name], run()
    for answers in (recorded, answered) if not same else ():
        answers.pop(bench.DELICATE, None)
    differing = list(differences(recorded, answered, TOLERANCE if same else max(TOLERANCE, ELSEWHERE)))
    assert not differing, "\n".join(map(str, [f"{len(differing)} differences in {name!r}", *differing[:12], *other]))


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.filterwarnings("ignore")
def test_a_study_answers_as_recorded(name: str, tmp_path: Path) -> None:
    for library in STUDIES[name].needs:
        pytest.importorskip(library)
    golden = STUDIES[name]
    check("studies", name, lambda: bench.run(golden, tmp_path), delicate=golden.delicate)


@pytest.mark.parametrize("name", pages.PAGES)
@pytest.mark.filterwarnings("ignore")
def test_the_commands_of_a_page_answer_as_recorded(name: str, tmp_path: Path) -> None:
    for library in pages.PAGES[name].needs:
        pytest.importorskip(library)
    assert {answer["code"] for answer in read("pages")[name].values()} == {0}
    check("pages", name, lambda: pages.run(pages.PAGES[name], tmp_path))


@pytest.mark.filterwarnings("ignore")
def test_another_process_with_other_hashes_answers_to_the_last_digit(tmp_path: Path) -> None:
    script = "import json, sys; from pathlib import Path; from tests.golden import bench, studies\n"
    script += "for name in sys.argv[1:]: print(json.dumps(bench.run(studies.STUDIES[name], Path())))"
    places = os.pathsep.join([str(ROOT), str(Path(lw.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", script, *SAMPLE],
        env={
            **os.environ,
            "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0",
            "PYTHONPATH": places,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        bench.run(STUDIES[name], tmp_path / name) for name in SAMPLE
    ]


def test_what_differs_is_named_and_what_does_not_is_not() -> None:
    before = {"picks": [["AB", 1]], "mean": [1.0, 2.0, 0.0], "gone": None}
    after = {"picks": [["AC", 1]], "mean": [1.0 + 1e-7, 2.0 + 1e-3, 1e-12], "new": 1}
    named = {d.place: d.relative for d in differences(before, after, 1e-6)}
    assert named.keys() == {"picks[0][0]", "mean[1]", "gone", "new"}
    assert named["mean[1]"] == pytest.approx(5e-4, rel=1e-2)
    assert math.isinf(named["picks[0][0]"])
    assert {d.place for d in differences(before, after, 0.0)} == {*named, "mean[0]", "mean[2]"}
    assert not list(differences(before, before, 0.0))


def test_every_kind_of_space_has_a_study() -> None:
    """So that whoever changes one sees what changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spaces = {type(golden.space()) for golden in STUDIES.values()}
    public = {value for name in lw.__all__ if isinstance(value := getattr(lw, name), type)}
    assert {kind for kind in public if issubclass(kind, lw.Space) and kind is not lw.Space} <= spaces
