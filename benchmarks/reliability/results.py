"""The figures of a campaign: a small file with a line for each case, and the tables of docs/reliability.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.commit import commit
from benchmarks.reliability.cases import Case
from benchmarks.reliability.judge import FAULTS, Verdict
from benchmarks.reliability.killer import Kills
from benchmarks.store import locked, machine, replace_file

ROOT = Path(__file__).parents[2]
OUT = ROOT / "benchmarks" / "results" / "reliability.json"
DOCS = ROOT / "docs" / "reliability.md"
PLANNED = 10_000
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"
Record = dict[str, Any]
ALWAYS = ("acknowledged", "lost", "duplicated")
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def source(found: Record) -> str:
    """Whose study the workers use, and how they were started."""
    if found["inherited"]:
        return "inherited by fork"
    return f"own, by {found['start']}" + ("" if found["parent"] == "without a study" else " from one with a study")


COLUMNS: dict[str, Callable[[Record], int]] = {
    "cases": lambda r: 1,
    "kills": lambda r: r["workers_killed"] + r["parents_killed"] + r["servers_killed"],
    "tells acknowledged": lambda r: r["acknowledged"],
    "lost": lambda r: r["lost"],
    "duplicated": lambda r: r["duplicated"],
    "other faults": lambda r: sum(r.get(name, 0) for name in FAULTS if name not in ("lost", "duplicated")),
    "errors": lambda r: r.get("errors", 0) + r.get("hung", 0),
    "in flight, given back": lambda r: r.get("given_back", 0),
}
GROUPS: dict[str, Callable[[Record], str]] = {
    "database and level": lambda r: f"{NAMES[r['database']]}, {r['level']}",
    "workers": lambda r: str(r["workers"]),
    "workers' study": source,
    "parent": lambda r: r["parent"],
    "server": lambda r: "server killed too" if r["servers_killed"] else "server not killed, or none",
}


def record(case: Case, kills: Kills, verdict: Verdict, errors: Sequence[str], away: int) -> Record:
    """A case and what came of it; what is zero and should be is left out."""
    wanted = ("seed", "number", "database", "level", "workers", "start", "parent", "inherited")
    faults = {name: value for name, value in asdict(verdict).items() if value or name in ALWAYS}
    more = {"hung": kills.hung, "errors": len(errors), "server_away": away}
    return {
        **{name: getattr(case, name) for name in wanted},
        "workers_killed": kills.workers,
        "parents_killed": kills.parents,
        "servers_killed": kills.servers,
        **faults,
        **{name: value for name, value in more.items() if value},
        "commit": commit(),
    }


def is_sound(found: Record) -> bool:
    """Whether every promise was kept."""
    return not any(found.get(name) for name in (*FAULTS, "errors", "hung"))


def read(path: Path) -> list[Record]:
    return json.loads(path.read_text())["cases"] if path.exists() else []


def write(path: Path, cases: Iterable[Record]) -> None:
    """A line for each case, the file replaced whole; the caller has locked its folder."""
    ordered = sorted(cases, key=lambda r: (r["seed"], r["number"]))
    text = ",\n".join(json.dumps(one) for one in ordered)
    replace_file(path, f'{{"machine": {json.dumps(machine())},\n"cases": [\n{text}\n]}}\n')


def add(path: Path, found: Record) -> None:
    """Put a case into the file, in place of an earlier run of it; several campaigns may write at once."""
    with locked(path.parent):
        others = [one for one in read(path) if (one["seed"], one["number"]) != (found["seed"], found["number"])]
        write(path, [*others, found])


def kills_of(found: Record) -> int:
    return COLUMNS["kills"](found)


def tables(cases: Sequence[Record]) -> str:
    """The whole, then each way of dividing it."""
    whole = _table("", {"all": list(cases)})
    return "\n\n".join([_origin(cases), whole, *(_table(name, _divided(cases, by)) for name, by in GROUPS.items())])


def write_docs(cases: Sequence[Record], path: Path = DOCS) -> None:
    """Put how far the campaign is, and the tables, between the marks of the page."""
    before, rest = path.read_text().split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{progress(cases)}\n\n{tables(cases)}\n\n{END}{after}")


def progress(cases: Sequence[Record]) -> str:
    """How much of the campaign has been run, and how to run the rest."""
    done = sum(map(kills_of, cases))
    rest = f" `make soak KILLS={PLANNED - done}` runs the rest." if done < PLANNED else ""
    return f"The campaign is {PLANNED:,} kills, of which {done:,} have been run.{rest}"


def _origin(cases: Sequence[Record]) -> str:
    names = sorted({str(one["commit"]) for one in cases})
    seeds = sorted({one["seed"] for one in cases})
    kinds = {kind: sum(one[f"{kind}_killed"] for one in cases) for kind in ("workers", "parents", "servers")}
    killed = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items())
    return f"Seeds {', '.join(map(str, seeds))}; commits {', '.join(names)}; killed: {killed}."


def _divided(cases: Sequence[Record], by: Callable[[Record], str]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for one in cases:
        found.setdefault(by(one), []).append(one)
    return dict(sorted(found.items(), key=lambda pair: (len(pair[0]) if pair[0].isdecimal() else 0, pair[0])))


def _table(name: str, groups: dict[str, list[Record]]) -> str:
    head = f"| {name} | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}"
    rows = [
        f"| {group} | {' | '.join(f'{sum(map(count, some)):,}' for count in COLUMNS.values())} |"
        for group, some in groups.items()
    ]
    return "\n".join([head, *rows])
