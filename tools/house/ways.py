"""The ways through the house: which files and functions one call enters, in which order.

Each call runs in a process of its own, `python -m tools.house.ways NAME`, under Python's profiler hook, and prints the
answer as JSON. Code that runs because a module is imported is not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field
from io import StringIO
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

from tools.house.source import PACKAGE, ROOT

CO_OPTIMIZED = 1  # functions have this flag, bodies of modules and classes do not
Work = Callable[[], object]


@dataclass
class Way:
    """What one call ran through."""

    files: dict[str, str] = field(default_factory=dict)
    """The files in the order in which they were entered, each with the function that was entered first."""
    functions: int = 0
    """How many different functions of the package were entered."""
    loaded: list[str] = field(default_factory=list)
    """The files of the package that Python had loaded at the end."""


class Tracer:
    """Follows the calls of every thread while it is on."""

    def __init__(self) -> None:
        self.way = Way()
        self._local = threading.local()
        self._names: dict[CodeType, str | None] = {}
        self._entered: set[CodeType] = set()

    def follow(self, work: Work) -> Way:
        threading.setprofile(self._event)
        sys.setprofile(self._event)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        self.way.functions = len(self._entered)
        self.way.loaded = sorted(_loaded())
        return self.way

    def _event(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or (name := self._name(code)) is None:
            return
        state = self._local.__dict__
        if not code.co_flags & CO_OPTIMIZED:
            state["importing"] = state.get("importing", 0) + (1 if event == "call" else -1)
        elif state.get("importing", 0) <= 0 and event == "call":
            self._entered.add(code)
            self.way.files.setdefault(name, code.co_qualname)

    def _name(self, code: CodeType) -> str | None:
        if code not in self._names:
            self._names[code] = _below_package(code.co_filename)
        return self._names[code]


def _below_package(path: str) -> str | None:
    prefix = f"{PACKAGE}{os.sep}"
    return path.removeprefix(prefix).replace(os.sep, "/") if path.startswith(prefix) else None


def _loaded() -> set[str]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {name for path in files if path and (name := _below_package(path))}


WORDS = ["".join(letters) for letters in product("ABE", repeat=4)]


def _score(word: str) -> float:
    return sum(place + 1.0 for place, letter in enumerate(word) if letter in "AE")


def _ask() -> Work:
    """One ask of a study of words, 17 of 81 measured, with `similarity="auto"`."""
    import likewise as lw

    study = lw.Study(lw.Pool(WORDS), seed=0)
    for word in WORDS[::5]:
        study.tell(word, _score(word))
    return study.ask


def _maximize() -> Work:
    """One `maximize` of a plain function over a box of two dimensions, twelve evaluations."""

    def run() -> None:
        import likewise as lw

        lw.maximize(lambda x: -float(x @ x), lw.Box([-1.0, -1.0], [1.0, 1.0]), budget=12, seed=0, progress=False)

    return run


def _suggest() -> Work:
    """One `likewise suggest` for a table of words, 17 of 81 measured."""

    def run() -> None:
        from likewise.cli.main import main

        rows = [f"{word},{_score(word) if i % 5 == 0 else ''}" for i, word in enumerate(WORDS)]
        Path("words.csv").write_text("\n".join(["word,score", *rows]), encoding="utf-8")
        sys.argv = ["likewise", "suggest", "words.csv", "-n", "3", "--out", "next.csv"]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
            try:
                main()
            except SystemExit as end:
                if end.code:
                    raise SystemExit(f"likewise suggest failed: {said.getvalue()}") from None

    return run


WAYS: dict[str, Callable[[], Work]] = {"ask": _ask, "maximize": _maximize, "suggest": _suggest}


def walk(name: str) -> Way:
    """Run one of the ways in a process of its own."""
    places = os.pathsep.join([str(ROOT), str(PACKAGE.parent)])
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tools.house.ways", name]
        environment = {**os.environ, "PYTHONPATH": places}
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"the way of one {name} failed:\n{ran.stderr}")
    return Way(**json.loads(ran.stdout))


def main() -> None:
    print(json.dumps(asdict(Tracer().follow(WAYS[sys.argv[1]]()))))


if __name__ == "__main__":
    main()
