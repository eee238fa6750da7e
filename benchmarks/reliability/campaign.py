"""A case from its start to its verdict."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

import sqlalchemy as sa

import likewise as lw
from benchmarks.reliability.cases import Case
from benchmarks.reliability.judge import Promises, Verdict, judge
from benchmarks.reliability.killer import Kills, run_wave, start
from benchmarks.reliability.results import Record, is_sound, record
from benchmarks.reliability.server import Server, serving
from likewise.study.storage.base import open_storage
from likewise.study.storage.database import parse


class Databases:
    """New databases by their kind; the server starts when it is first needed."""

    def __init__(self) -> None:
        self._serving: AbstractContextManager[Server] | None = None
        self._server: Server | None = None

    def new_url(self, kind: str, folder: Path) -> str:
        return f"sqlite:///{folder / 'study.db'}" if kind == "sqlite" else self.server().new_url()

    def server(self) -> Server:
        if self._server is None:
            self._serving = serving(durable=True)
            self._server = self._serving.__enter__()
        return self._server

    def restart(self) -> None:
        self.server().kill_and_restart()

    def close(self) -> None:
        if self._serving is not None:
            self._serving.__exit__(None, None, None)


def warm_up() -> None:
    """Load in this process what every forked one would have to load for itself; no file is opened."""
    for url in ("sqlite:///nowhere.db", "postgresql://localhost/nowhere"):
        sa.create_engine(parse(url))
    open_storage("sqlite://").close()
    study = lw.Study(lw.Pool([0, 1, 2]), initial=1)
    for s in study.ask(2):
        study.tell(s, 1.0)
    study.ask()


def run_case(case: Case, databases: Databases) -> tuple[Record, list[str]]:
    """What came of a case, and the errors that ended processes. The folder of a case with a fault is kept."""
    folder = Path(tempfile.mkdtemp(prefix="likewise-soak-"))
    url = databases.new_url(case.database, folder)
    kills, faults = Kills(), Verdict()
    waves = [folder / f"wave{number}" for number in range(len(case.waves))]
    for number, wave in enumerate(waves):
        run_wave(case, number, wave, url, databases.restart, kills)
        faults = _judged(case, url, waves[: number + 1], folder)
    promises = Promises()
    for wave in waves:
        promises.read(wave)
    found = record(case, kills, faults, promises.errors, promises.away)
    if is_sound(found):
        shutil.rmtree(folder, ignore_errors=True)
        return found, []
    return found, [f"kept: {folder}", *promises.errors]


def _judged(case: Case, url: str, waves: list[Path], folder: Path) -> Verdict:
    out = folder / "verdict.json"
    out.unlink(missing_ok=True)
    start(judge, case, url, waves, len(waves) == len(case.waves), out).join()
    # A judge that cannot open the study has said why, and nothing was found.
    return Verdict(**json.loads(out.read_text())) if out.exists() else Verdict(stuck=1)
