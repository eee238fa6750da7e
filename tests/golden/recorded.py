"""What was recorded, and in what it differs from an answer of today."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cholesky

FOLDER = Path(__file__).parent
# 0 asks for every digit, as a change of names and files alone must keep them.
TOLERANCE = float(os.environ.get("GOLDEN_TOLERANCE", "1e-6"))
LIBRARIES = ("numpy", "scipy", "rapidfuzz", "rdkit", "networkx")
# Where the processor rounds otherwise than the one on which it was recorded.
ELSEWHERE = 1e-3
MISSING = object()


@dataclass(frozen=True)
class Difference:
    """A place in an answer where something else was recorded."""

    place: str
    recorded: Any
    answered: Any

    @property
    def relative(self) -> float:
        """How far two numbers are apart, as a share of the larger one; infinite for anything else."""
        if not (is_number(self.recorded) and is_number(self.answered)):
            return math.inf
        return abs(self.recorded - self.answered) / max(abs(self.recorded), abs(self.answered))

    def __str__(self) -> str:
        apart = "" if math.isinf(self.relative) else f"  ({self.relative:.1e})"
        return f"{self.place}: recorded {shown(self.recorded)}, now {shown(self.answered)}{apart}"


def shown(value: Any) -> str:
    text = "nothing" if value is MISSING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 90 else f"{text[:87]}…"


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def differences(recorded: Any, answered: Any, tolerance: float = TOLERANCE, place: str = "") -> Iterator[Difference]:
    """Where two answers differ: text and whole numbers at all, other numbers by more than the tolerance."""
    if isinstance(recorded, Mapping) and isinstance(answered, Mapping):
        for name in dict.fromkeys([*recorded, *answered]):
            inner = recorded.get(name, MISSING), answered.get(name, MISSING)
            yield from differences(*inner, tolerance, f"{place}.{name}" if place else name)
    elif isinstance(recorded, list) and isinstance(answered, list):
        for i, inner in enumerate(zip_longest(recorded, answered, fillvalue=MISSING)):
            yield from differences(*inner, tolerance, f"{place}[{i}]")
    elif not alike(recorded, answered, tolerance):
        yield Difference(place, recorded, answered)


def alike(recorded: Any, answered: Any, tolerance: float) -> bool:
    if isinstance(recorded, float) and is_number(answered):
        # A thousandth of a unit in the last digit that counts is nothing, where a number is all but 0.
        return math.isclose(recorded, answered, rel_tol=tolerance, abs_tol=1e-3 * tolerance)
    return type(recorded) is type(answered) and bool(recorded == answered)


def path_of(what: str) -> Path:
    return FOLDER / f"{what}.json"


def read(what: str) -> dict[str, Any]:
    """The answers by name; none where nothing was recorded yet."""
    path = path_of(what)
    return dict(json.loads(path.read_text(encoding="utf-8"))["answers"]) if path.exists() else {}


def write(what: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
    """One line for each part of an answer, so that a change shows what it changes."""
    studies = []
    for name, answer in answers.items():
        parts = [f"   {json.dumps(part)}: {json.dumps(value, ensure_ascii=False)}" for part, value in answer.items()]
        studies.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n  }")
    head = f' "recorded with": {json.dumps(versions())},\n "answers": {{\n'
    path_of(what).write_text("{\n" + head + ",\n".join(studies) + "\n }\n}\n", encoding="utf-8")


def arithmetic() -> str:
    """A digest of how this processor and its libraries round."""
    a = np.sin(np.arange(40.0 * 40.0).reshape(40, 40) ** 1.5)
    symmetric = a @ a.T + np.eye(40)
    parts = [symmetric, np.linalg.eigh(symmetric)[0], cholesky(symmetric), np.exp(a), np.linalg.solve(symmetric, a[0])]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:12]


def versions() -> dict[str, str]:
    """Python, the libraries on which an answer depends, and how they round here."""
    here = {"python": platform.python_version(), "arithmetic": arithmetic()}
    for library in LIBRARIES:
        try:
            here[library] = version(library)
        except PackageNotFoundError:
            here[library] = ""
    return here


def recorded_with(what: str) -> dict[str, str]:
    """The versions on which the answers were recorded."""
    return dict(json.loads(path_of(what).read_text(encoding="utf-8"))["recorded with"])
