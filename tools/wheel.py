"""Build wheel and source distribution, look what is in them, and try both in fresh environments away from the sources.

python -m tools.wheel                # into dist/; needs the packages `build` and `twine`
python -m tools.wheel --extras ""    # without the libraries that the demo needs, and without the demo
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("likewise/__init__.py", "likewise/__init__.pyi", "likewise/py.typed", "likewise/testing/similarities.py")
TRY = """
import likewise as lw
study = lw.Study(lw.Strings("ACGT", length=4), seed=0)
for s in study.ask(6):
    study.tell(s, float(s.object.count("A")))
print(lw.__file__, study.ask()[0].object, lw.__version__)
for name in lw.__all__:
    getattr(lw, name)
"""


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel, made of the source distribution, and that one, as a package index would get them."""
    _run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], cwd=ROOT)
    wheel, source = (max(folder.glob(f"likewise-*{end}"), key=_age) for end in (".whl", ".tar.gz"))
    _run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source)], cwd=ROOT)
    return wheel, source


def _age(path: Path) -> float:
    return path.stat().st_mtime


def faults(names: Sequence[str]) -> list[str]:
    """What a wheel with these files has too much, and what it lacks."""
    folders = {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")}
    return [
        *(f"{folder}/ does not belong into the wheel" for folder in sorted(folders - {"likewise"})),
        *(f"{name} is missing" for name in NEEDED if name not in names),
    ]


def attempt(wheel: Path, extras: str) -> None:
    """Install it where nothing else is, load every public name, and run the demo if its libraries are wanted."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        _run([sys.executable, "-m", "venv", "env"], cwd=place)
        programs = place / "env" / ("Scripts" if os.name == "nt" else "bin")
        wanted = f"{wheel.resolve()}[{extras}]" if extras else str(wheel.resolve())
        _run([str(programs / "python"), "-m", "pip", "install", "--quiet", wanted], cwd=place)
        _run([str(programs / "python"), "-c", TRY], cwd=place)
        _run([str(programs / "likewise"), "--version"], cwd=place)
        if {"molecules", "plots"} <= set(extras.split(",")):
            _run([str(programs / "likewise"), "demo", "demo", "--rounds", "1"], cwd=place)
            if not (place / "demo" / "report.html").exists():
                raise SystemExit("likewise demo has left no report")


def _run(command: Sequence[str], cwd: Path) -> None:
    # The sources must not be found by chance.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if code := subprocess.run(command, cwd=cwd, env=environment, check=False).returncode:
        raise SystemExit(f"{' '.join(command)} ended with code {code}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    parser.add_argument("--extras", default="molecules,plots", help="extras to install with it")
    given = parser.parse_args()
    wheel, source = build(given.out)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    if found := faults(names):
        raise SystemExit(f"{wheel.name}: {'; '.join(found)}")
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1e6:.2f} MB")
    attempt(wheel, given.extras)
    attempt(source, "")


if __name__ == "__main__":
    main()
