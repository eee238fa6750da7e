"""docs/experiments.md out of the results: tables, curves, and how often the paper's method won and lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.curves import draw
from benchmarks.experiments.figures import LOOKS, draw_notebook
from benchmarks.experiments.plan import EXPERIMENTS, RESULTS, REUSED, Experiment
from benchmarks.measures import Measures, bootstrap, geometric_mean, paired, ratio, shared
from benchmarks.sections import write_section
from benchmarks.tables import all_measures, markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "experiments.md"
TITLES = {
    "distributions": "Experiment 1: distributions",
    "families": "Experiment 1, continued: a Gamma family, and full covariances",
    "batches": "Experiment 2: batches in high dimension",
    "similarity": "Experiment 3: only a similarity",
}
# Whom the variants of the paper's method are held against, in each experiment.
OPPONENTS = {
    "distributions": ("random", "gp-ucb", "botorch", "airbo-like", "likewise"),
    "families": ("random", "gp-ucb", "botorch", "likewise"),
    "batches": ("random", "botorch-qucb", "botorch-qlogei", "turbo-1", "likewise"),
    "similarity": ("random", "cego-clip", "cego-flip", "likewise-given"),
}
# Fewer shared seeds make nothing sure.
ENOUGH = 3

Tables = Mapping[str, Mapping[str, Measures]]


def write(folder: Path = RESULTS, out: Path = PAGE) -> None:
    """Write the made part of the page, and the pictures in a folder beside it; the rest of the page stays."""
    pictures = out.with_suffix("")
    pictures.mkdir(parents=True, exist_ok=True)
    draw_notebook(pictures)
    sections = [_section(EXPERIMENTS[name], folder, pictures) for name in TITLES]
    if not out.exists():
        out.write_text("# The experiments\n")
    write_section("made", "\n".join(sections), out)


def _section(experiment: Experiment, folder: Path, pictures: Path) -> str:
    contents = experiment.contents(folder)
    tables = {name: all_measures(content, order(experiment)) for name, content in contents.items()}
    picture = pictures / f"{experiment.name}.png"
    draw(contents, tables, picture, LOOKS[experiment.name])
    sizes = sorted({f"{c['task']['initial']} + {c['task']['budget']} evaluations" for c in contents.values()})
    each = f", in batches of {experiment.batch}" if experiment.batch > 1 else ""
    return "\n".join(
        [
            f"## {TITLES[experiment.name]}\n\n{'; '.join(sizes)}{each}.\n",
            "Final regret; seeds in brackets, the lowest mean in bold:\n",
            grid(experiment, tables, lambda m: m.final),
            "AUC regret:\n",
            grid(experiment, tables, lambda m: m.auc),
            "Processor seconds of a tell and an ask:\n",
            seconds(experiment, tables),
            "The paper's method against the others, by AUC regret: tasks won : lost, of these the sure ones, ratio:\n",
            duels(experiment, tables),
            f"![regret after each evaluation]({pictures.name}/{picture.name})\n",
            settings(experiment, contents),
        ]
    )


def order(experiment: Experiment) -> list[str]:
    """The methods, the paper's first, then the others; those of the suite among them."""
    names = [*experiment.methods, *(REUSED.values() if experiment.reused else ())]
    return sorted(dict.fromkeys(names), key=lambda name: (not name.startswith("paper"), name))


def grid(experiment: Experiment, tables: Tables, of: Callable[[Measures], Any]) -> str:
    """A row for each method and a column for each task: mean ± standard error of a measure."""
    best = {task: min((float(of(m).mean()) for m in table.values()), default=0.0) for task, table in tables.items()}
    rows = []
    for name in order(experiment):
        cells = []
        for task, table in tables.items():
            if name not in table:
                cells.append("")
                continue
            values = of(table[name])
            text = _number(float(values.mean())) + (f" ± {_number(_error(values))}" if len(values) > 1 else "")
            shown = f"**{text}**" if float(values.mean()) <= best[task] else text
            cells.append(f"{shown} ({len(values)})")
        rows.append([name, *cells])
    return markdown(["method", *tables], rows) + "\n"


def seconds(experiment: Experiment, tables: Tables) -> str:
    rows = [
        [name, *(f"{table[name].cpu_seconds.mean():.2g}" if name in table else "" for table in tables.values())]
        for name in order(experiment)
    ]
    return markdown(["method", *tables], rows) + "\n"


def duels(experiment: Experiment, tables: Tables) -> str:
    """Each variant of the paper's method against each opponent: tasks won and lost, the sure ones, the mean ratio."""
    variants = [name for name in order(experiment) if name.startswith("paper")]
    rows = [[name, *(_duel(name, other, tables) for other in OPPONENTS[experiment.name])] for name in variants]
    return markdown(["method", *(f"against {other}" for other in OPPONENTS[experiment.name])], rows) + "\n"


def _duel(name: str, other: str, tables: Tables) -> str:
    pairs = [(table[name], table[other]) for table in tables.values() if name in table and other in table]
    pairs = [pair for pair in pairs if shared(*pair)]
    if not pairs:
        return ""
    signs, certain = [float(np.sign(np.subtract(*paired(*pair)).mean())) for pair in pairs], [sure(*p) for p in pairs]
    mean = geometric_mean([ratio(*pair) for pair in pairs])
    won, lost = ([found.count(sign) for found in (signs, certain)] for sign in (-1, 1))
    return f"{won[0]} : {lost[0]}, sure {won[1]} : {lost[1]}, ×{mean:.2f}"


def sure(ours: Measures, theirs: Measures) -> int:
    """−1 where our AUC regret is lower, 1 where it is higher, 0 where the 90 % interval of the difference holds 0."""
    if len(shared(ours, theirs)) < ENOUGH:
        return 0
    low, high = bootstrap(*paired(ours, theirs))
    return int(low > 0) - int(high < 0)


def settings(experiment: Experiment, contents: Mapping[str, Mapping[str, Any]]) -> str:
    said: dict[str, str] = {}
    for content in contents.values():
        for name, entry in content["methods"].items():
            said.setdefault(name, entry["settings"])
    return markdown(["method", "settings"], [[name, said[name]] for name in order(experiment) if name in said]) + "\n"


def _error(values: Any) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _number(value: float) -> str:
    return f"{value:.0e}" if 0 < value < 1e-3 else f"{value:.3f}"


def missing(experiment: Experiment, tables: Tables) -> Sequence[str]:
    """Cells without a run."""
    return [f"{task} {name}" for task, table in tables.items() for name in order(experiment) if name not in table]
