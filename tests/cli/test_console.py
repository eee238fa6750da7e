"""Whatever cells, columns, files and studies are called, no terminal obeys it."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.cli import console
from likewise.cli.console import CONTROLS, Console, visible

Run = Callable[..., Any]
Save = Callable[..., Path]

# Clears the screen, sets the title, as one byte, rings, overwrites the line, turns the writing round.
EVIL = "a\x1b[2J\x1b]0;title\x07\x9b31m\x08\rb\u202ec\x7f"
SEEN = r"a\x1b[2J\x1b]0;title\x07\x9b31m\x08\rb\u202ec\x7f"


@given(st.text(st.characters()))
def test_only_line_ends_and_tabs_are_left(text: str) -> None:
    shown = visible(text)
    assert not CONTROLS.search(shown)
    assert visible(shown) == shown
    assert shown == text or CONTROLS.search(text)


@pytest.fixture
def hostile(save: Save) -> Path:
    """A table whose every name and text is hostile."""
    lines = [f'"{EVIL}object","{EVIL}value"']
    lines += [
        f'"{EVIL}{letter * 3}x{letter}",{place if place < 8 else ""}' for place, letter in enumerate("ABCDEFGHIJKL")
    ]
    return save("\n".join(lines) + "\n", "t\x1b[31m\x9b.csv")


def test_answers_notes_and_errors_are_shown_not_obeyed(run: Run, save: Save, hostile: Path) -> None:
    columns = ("-o", f"{EVIL}object", "-v", f"{EVIL}value", "-s", "ngrams(2)")
    results = save(f'"{EVIL}object","{EVIL}value"\n"{EVIL}AAAxA",7\n', "r\x1b[31m.csv")
    shown = run("suggest", hostile, *columns)
    assert r"\x1b[2J" in shown.out
    assert r"\x1b[31m" in shown.err
    for command in (
        ("suggest", hostile, *columns),
        ("suggest", hostile, *columns, "--out", "n\x1b[31m.csv"),
        ("suggest", hostile, "-o", EVIL),
        ("suggest", EVIL),
        ("suggest", hostile, "--space", EVIL),
        ("explain", hostile, f"{EVIL}AAAxA", *columns),
        ("compare", hostile, "-o", f"{EVIL}object", "-v", f"{EVIL}value"),
        ("diagnose", hostile, *columns),
        ("tell", hostile, results, *columns[:4]),
        ("tell", hostile, results, *columns[:4], "--on-conflict", "keep"),
        (EVIL,),
        (f"--{EVIL}",),
        ("suggest", f"--{EVIL}"),
        ("suggest", hostile, "-n", EVIL),
        ("studies", EVIL),
    ):
        answer = run(*command)
        assert not CONTROLS.search(answer.out + answer.err), command


def test_studies_and_exports_are_shown_not_obeyed(run: Run, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    lw.Study(lw.Pool(["a", "b"]), lambda x, y: 1.0, storage=url, name=EVIL).tell("a", 1.0)
    for command in (
        ("studies", url),
        ("export", url, EVIL, "--out", "out.csv"),
        ("export", url, EVIL + "x", "--out", "o.csv"),
    ):
        answer = run(*command)
        assert not CONTROLS.search(answer.out + answer.err), command
    assert SEEN in run("studies", url).out
    assert run("studies", url, "--json").data["studies"][0]["name"] == EVIL


def test_json_is_as_harmless_and_means_the_same(run: Run, hostile: Path) -> None:
    answer = run("suggest", hostile, "-o", f"{EVIL}object", "-v", f"{EVIL}value", "-s", "ngrams(2)", "--json")
    assert not CONTROLS.search(answer.out + answer.err)
    assert answer.data["suggestions"][0]["object"].startswith(EVIL)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_not_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with Console().working(f"{EVIL}[/red]", 2) as progress:
        progress.advance()
        progress.stage(f"{EVIL}[red]second", 2)
    assert not any(harm in screen.getvalue() for harm in ("\x1b[2Ja", "\x1b]0;", "\x9b", "\u202e", "\x07"))
    assert "second" in screen.getvalue()


def test_a_traceback_is_shown_not_obeyed(tmp_path: Path) -> None:
    code = "from likewise.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "suggest", "t\x1b[2J.csv", "--debug"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "\x1b" not in done.stderr


def test_texts_are_shown_as_they_are_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("c1:c:o:1", "[red]x[/red]", "Lösung µ → β 5\u202f%", "two\nlines"):
        console.say(text)
        console.say_table(("name",), [(text,)])
        first, *_ = text.split("\n")
        assert capsys.readouterr().out.count(first) == 2


def test_long_cells_are_cut_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    console.say_table(("object",), [("x" * 10**6,)])
    console.complain(f"row 3: {'y' * 10**6} is no number; correct it.")
    shown = capsys.readouterr()
    assert len(shown.out) < 5_000
    assert len(shown.err) < 6_000
    assert shown.err.startswith("row 3: ")
    assert shown.err.endswith("correct it.\n")
