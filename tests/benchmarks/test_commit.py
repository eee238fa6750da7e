"""A run names the commit it was made with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")

from benchmarks.commit import commit


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e"]
    done = subprocess.run(["git", "-C", str(folder), *who, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_commit_of_the_source_and_whether_it_changed(tmp_path: Path) -> None:
    try:
        git(tmp_path, "init")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    source = tmp_path / "src"
    source.mkdir()
    assert commit(tmp_path / "absent") is None
    (source / "a.py").write_text("a = 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "one")
    head = git(tmp_path, "rev-parse", "--short", "HEAD")
    (tmp_path / "results.json").write_text("{}")
    commit.cache_clear()
    assert commit(source) == head
    (source / "a.py").write_text("a = 2\n")
    commit.cache_clear()
    assert commit(source) == f"{head}+"
