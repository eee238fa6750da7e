"""The list of tasks, each built when it is asked for."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from benchmarks.tasks.base import Task
from benchmarks.tasks.expectation import INTEGRANDS, expectation
from benchmarks.tasks.functions import FUNCTIONS
from benchmarks.tasks.pool import Pool
from benchmarks.tasks.qap import Assignment, assignment
from benchmarks.tasks.table import Table, pool

DATA_VARIABLE = "LIKEWISE_BENCHMARK_DATA"


def data_folder() -> Path:
    """Where the tables are: the environment variable, or `../shared/data` beside the project."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    return Path(os.environ.get(DATA_VARIABLE, beside))


HPO = (
    "activation_fn_1", "activation_fn_2", "lr_schedule", "batch_size", "dropout_1", "dropout_2", "init_lr",
    "n_units_1", "n_units_2",
)  # fmt: skip
PROTEIN = "protein_structure_val_loss"
METALS = ("ni_load", "fe_load", "co_load", "mn_load", "ce_load", "la_load")
WAVELENGTH = "E isomer pi-pi* wavelength in nm"
SOLUBILITY = "measured log solubility in mols per litre"
ARYLATION = ("Base_SMILES", "Ligand_SMILES", "Solvent_SMILES", "Concentration", "Temp_C")

TABLES = {
    "photoswitch": Table(Path("photoswitch/photoswitches.csv"), ("SMILES",), WAVELENGTH, "molecules"),
    "esol": Table(Path("esol/esol.csv"), ("smiles",), SOLUBILITY, "molecules"),
    "freesolv_max": Table(Path("freesolv/freesolv.csv"), ("smiles",), "expt", "molecules"),
    "freesolv_min": Table(Path("freesolv/freesolv.csv"), ("smiles",), "expt", "molecules", minimize=True),
    "direct_arylation": Table(Path("direct_arylation/direct_arylation.csv"), ARYLATION, "yield", "reaction"),
    "buchwald_hartwig": Table(
        Path("buchwald_hartwig/buchwald_hartwig.csv.gz"),
        ("ligand", "additive", "base", "aryl halide"),
        "yield",
        "reaction",
    ),
    "nasbench_macro": Table(Path("nasbench_macro/nasbench_macro_cifar10.csv"), ("arch",), "mean_acc", "string"),
    "crossed_barrel": Table(Path("olympus/crossed_barrel.csv"), ("n", "theta", "r", "t"), "toughness", "vector"),
    "oer": Table(Path("olympus/oer_plate_3496.csv"), METALS, "overpotential", "composition", minimize=True),
    "covid3month": Table(Path("timeseries/covid3month.csv"), ("values",), "target", "series"),
    "tfbind8": Table(Path("tfbind8/tfbind8_SIX6_REF_R1.csv.gz"), ("seq",), "escore", "string"),
    "hpolib_protein": Table(
        Path("hpolib_fcnet/hpolib_fcnet_valloss.csv.gz"),
        HPO,
        PROTEIN,
        "mixed",
        minimize=True,
        log=(PROTEIN, "batch_size", "init_lr", "n_units_1", "n_units_2"),
    ),
    "zinc50k": Table(Path("zinc250k/zinc250k.csv.gz"), ("smiles",), "penalized_logp", "molecules", rows=50_000),
}
BUDGETS = {"covid3month": 50}
LARGE = ("tfbind8", "hpolib_protein", "zinc50k")
SMALL = tuple(name for name in TABLES if name not in LARGE)
MOLECULES = tuple(name for name, table in TABLES.items() if table.kind == "molecules")
# Where descriptors decide, which likewise sees and its peers do not.
DESCRIBED = ("esol", "freesolv_max", "freesolv_min", "zinc50k")
QAP = ("nug12", "nug20", "chr15a")
FIVE = ("branin", "hartmann6", "ackley10", "levy10", "rosenbrock5")


def expectations(*dimensions: int) -> tuple[str, ...]:
    """The names of the expectation tasks in these dimensions."""
    return tuple(f"expectation{d}_{integrand}" for d in dimensions for integrand in INTEGRANDS)


NAMES = (*TABLES, *FUNCTIONS, *expectations(1, 2, 5, 10), *QAP)


@cache
def outline(name: str) -> Task:
    """The task without its data: what it is called, of which kind it is, how many evaluations it has."""
    if name in TABLES:
        table = TABLES[name]
        return Pool(name, table.kind, (), np.empty(0), table.sign, budget=BUDGETS.get(name, 90))
    return Assignment(name, np.empty((0, 0)), np.empty((0, 0)), 0.0) if name in QAP else task(name)


@lru_cache(maxsize=4)
def task(name: str) -> Task:
    """The task of this name."""
    if name in TABLES:
        located = replace(TABLES[name], path=data_folder() / TABLES[name].path)
        return pool(name, located, budget=BUDGETS.get(name, 90))
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name in QAP:
        return assignment(data_folder() / "qaplib" / f"{name}.dat")
    if name in NAMES:
        head, integrand = name.split("_", 1)
        return expectation(int(head.removeprefix("expectation")), integrand)
    raise SystemExit(f"no task is called {name!r}; choose from {', '.join(NAMES)}")
