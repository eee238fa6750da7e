"""The journal of a table: what was suggested, on which grounds, and what came of it, in a file beside the table.

`table.csv` has `table.csv.likewise.jsonl`: a line of JSON for each round, each suggestion and each result. Lines are
only ever added. A line that was cut short, as a process was killed while it wrote, is passed over.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from likewise.campaign.runs.merged import TOLD, Base
from likewise.campaign.sheets.sheet import Sheet
from likewise.errors import TableError

SUFFIX = ".likewise.jsonl"


@dataclass(frozen=True)
class Journal:
    """The journal of a table; each line is a mapping whose `kind` is round, suggestion or result."""

    path: Path

    @classmethod
    def of(cls, table: Path) -> Journal:
        """The journal beside a table."""
        return cls(table.with_name(table.name + SUFFIX))

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """Every line that can be read, the oldest first."""
        try:
            texts = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise TableError(f"{self.path} cannot be read: {error.strerror or error}; check its permissions.") from None
        found = (_line(text) for text in texts)
        return [line for line in found if line is not None]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind, the oldest first."""
        return [line for line in self.lines if line.get("kind") == kind]

    @property
    def last_round(self) -> dict[str, Any] | None:
        """What was asked for in the last round."""
        return next(iter(reversed(self.of_kind("round"))), None)

    @cached_property
    def suggestions(self) -> dict[str, dict[str, Any]]:
        """The last line of each run that was suggested."""
        return {str(line.get("run")): line for line in self.of_kind("suggestion")}

    @property
    def base(self) -> Base:
        """The cells of each run as they were suggested, and the results that were told last."""
        found = {run: dict(line.get("cells", {})) for run, line in self.suggestions.items()}
        for line in self.of_kind("result"):
            told = found.setdefault(str(line.get("run")), {})
            if "value" in line:
                told[""] = line.get("said") or repr(line["value"])
            told |= {f"{TOLD}{name}": text for name, text in line.get("outcomes", {}).items()}
        return found

    def time_told(self, results: Path) -> str | None:
        """When a file was last told as it is; None if it was not, or was changed since."""
        lines = [line for line in self.of_kind("told") if line.get("file") == results.name]
        return str(lines[-1].get("time")) if lines and lines[-1].get("hash") == file_hash(results) else None

    def add(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines, which are on the disk when this returns."""
        texts = [json.dumps(line, ensure_ascii=False, default=str).encode("utf-8", "replace") for line in lines]
        if not texts:
            return
        try:
            with self.path.open("ab+") as file:
                # After a line that was cut short, the next one begins on a line of its own.
                end = file.seek(0, os.SEEK_END)
                file.seek(max(0, end - 1))
                torn = end > 0 and file.read(1) != b"\n"
                file.write((b"\n" if torn else b"") + b"".join(text + b"\n" for text in texts))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise TableError(
                f"{self.path} cannot be written: {error.strerror or error}; it keeps why each run was suggested. "
                "Check the folder."
            ) from error
        self.__dict__.pop("lines", None)
        self.__dict__.pop("suggestions", None)


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def file_hash(path: Path) -> str:
    """What stands for the content of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def told_line(results: Path) -> dict[str, Any]:
    """The line that says that a file was told."""
    return {"kind": "told", "time": now(), "file": results.name, "hash": file_hash(results)}


def now() -> str:
    """The time of a line, with its time zone."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def data_hash(sheet: Sheet | None) -> str:
    """What stands for the observations that an answer rests on: the same for the same rows in any order."""
    rows = [] if sheet is None else [_facts(sheet, place) for place in (*sheet.measured, *sheet.states)]
    digest = hashlib.sha256("\n".join(sorted(rows)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _facts(sheet: Sheet, place: int) -> str:
    state = sheet.states.get(place)
    kind = None if state is None else state.kind.value
    value = repr(sheet.values[place])
    facts = [sheet.objects[place], value, sheet.std(place), kind]
    stds = {name: sheet.std(place, name) for name in sheet.others if sheet.has_stds(name)}
    return json.dumps(facts + ([sheet.results(place), stds] if sheet.others else []), sort_keys=True, default=str)


def history(journal: Journal, run: str) -> Sequence[dict[str, Any]]:
    """All lines about a run, the oldest first."""
    return [line for line in journal.lines if line.get("run") == run]
