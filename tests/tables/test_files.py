"""Files are written whole or not at all, stay as private as they were, and a kill leaves nothing that lasts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from likewise.errors import StorageError
from likewise.tables.writing import back_up, exclusive, replace_file

posix = pytest.mark.skipif(os.name == "nt", reason="permissions, links and signals of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def modes_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The permissions of every file in a folder, looked at whenever content is forced to disk."""
    seen: set[int] = set()

    def look(file: int) -> None:
        seen.update(path.stat().st_mode & 0o777 for path in folder.iterdir())

    monkeypatch.setattr(os, "fsync", look)
    return seen


@posix
def test_copies_of_a_private_table_are_never_open_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b"secret")
    table.chmod(0o600)
    seen = modes_seen(tmp_path, monkeypatch)
    backup = back_up(table)
    replace_file(table, b"new")
    assert seen == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (table, backup)} == {0o600}
    assert (table.read_bytes(), backup.read_bytes()) == (b"new", b"secret")


@posix
def test_a_new_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    replace_file(tmp_path / "t.csv", b"new")
    assert (tmp_path / "t.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from likewise.tables import writing
    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(*eval(sys.argv[3]), die)
    table = Path(sys.argv[1])
    writing.back_up(table) if sys.argv[2] == "back_up" else writing.replace_file(table, b"new")
""")


@posix
@pytest.mark.parametrize("moment", ["(os, 'fsync')", "(files.shutil, 'copymode')", "(files.shutil, 'copystat')"])
@pytest.mark.parametrize("work", ["back_up", "replace_file"])
def test_what_a_killed_process_left_is_gone_after_the_next(tmp_path: Path, work: str, moment: str) -> None:
    table = tmp_path / "t.csv"
    for _ in range(2):
        table.write_bytes(b"old")
        subprocess.run([sys.executable, "-c", KILLED, str(table), work, moment], check=False)
        assert all(path.read_bytes() in (b"old", b"new") for path in tmp_path.iterdir() if path.name[0] != ".")
        # One fixed name, however often processes are killed.
        assert sum(path.name[0] == "." for path in tmp_path.iterdir()) <= 1
    for backup in tmp_path.glob("*.bak*"):
        backup.unlink()
    replace_file(table, b"newer")
    back_up(table)
    assert names(tmp_path) == ["t.csv", "t.csv.bak"]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"newer"}


@posix
def test_a_full_disk_leaves_no_half_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b"old")

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for work in (back_up, lambda path: replace_file(path, b"new")):
        with pytest.raises(OSError, match="No space"):
            work(table)
    assert (names(tmp_path), table.read_bytes()) == (["t.csv"], b"old")


def test_many_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    contents = [bytes([65 + k]) * 200_000 for k in range(8)]
    errors: list[BaseException] = []

    def write(content: bytes) -> None:
        try:
            for _ in range(5):
                replace_file(table, content)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if table.exists():
            assert table.read_bytes() in contents
        time.sleep(0.001)
    assert not errors
    assert names(tmp_path) == ["t.csv"]


@posix
def test_backups_are_made_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    (tmp_path / "t.csv").write_bytes(b"old")
    assert [back_up(tmp_path / "t.csv").name for _ in range(2)] == ["t.csv.bak", "t.csv.bak1"]
    assert names(tmp_path) == ["t.csv", "t.csv.bak", "t.csv.bak1"]


@posix
def test_links_in_reserved_places_are_not_followed(tmp_path: Path) -> None:
    table, victim, made = tmp_path / "t.csv", tmp_path / "victim", tmp_path / "made"
    table.write_bytes(b"old")
    victim.write_bytes(b"precious")
    for target in (victim, made):
        for name in (f".t.csv.{os.getuid()}.new", f".t.csv.bak.{os.getuid()}.new"):
            (tmp_path / name).symlink_to(target)
        replace_file(table, b"new")
        back_up(table).unlink()
        lock = tmp_path / ".t.csv.lock"
        lock.symlink_to(target)
        with pytest.raises(StorageError, match=r"\.t\.csv\.lock is a link.*remove it"), exclusive(table, lambda: None):
            pass
        lock.unlink()
    assert names(tmp_path) == ["t.csv", "victim"]
    assert (table.read_bytes(), victim.read_bytes()) == (b"new", b"precious")


@posix
def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    code = (
        "import sys, time; from pathlib import Path; from likewise.tables.writing import exclusive\n"
        "with exclusive(Path(sys.argv[1]), print): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(table)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with exclusive(table, lambda: pytest.fail("nobody holds it")):
            pass
    assert names(tmp_path) == []
