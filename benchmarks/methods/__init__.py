"""Who optimises. Each method is a function of a task and a seed that gives something to ask and to tell."""

from __future__ import annotations

from importlib import import_module

from benchmarks.methods.base import Method

# Module and name, imported when used: a run of one method loads no other.
METHODS = {
    "likewise": ("analogical", "LIKEWISE"),
    "paper": ("analogical", "PAPER"),
    "likewise-fingerprints": ("analogical", "FINGERPRINTS"),
    "likewise-kl": ("analogical", "KL"),
    "likewise-embedding": ("analogical", "EMBEDDING"),
    "likewise-bhattacharyya": ("analogical", "BHATTACHARYYA"),
    "likewise-wasserstein": ("analogical", "WASSERSTEIN"),
    "likewise-sequential": ("analogical", "SEQUENTIAL"),
    "likewise-twostage": ("analogical", "TWO_STAGE"),
    "likewise-topscore": ("analogical", "TOP_SCORE"),
    "likewise-0.1": ("earlier", "EARLIER"),
    "botorch": ("botorch_gp", "BOTORCH"),
    "botorch-descriptors": ("botorch_gp", "BOTORCH_DESCRIPTORS"),
    "botorch-qlogei": ("botorch_noise", "Q_LOG_EI"),
    "botorch-qlognei": ("botorch_noise", "Q_LOG_NEI"),
    "optuna-tpe": ("optuna_samplers", "TPE"),
    "optuna-gp": ("optuna_samplers", "GP"),
    "skopt": ("skopt_gp", "SKOPT"),
    "ga": ("genetic", "GA"),
    "random": ("uniform", "RANDOM"),
}
OURS = "likewise"
PEERS = ("botorch", "optuna-tpe", "optuna-gp", "skopt", "ga", "random")
# Each with what the other sees of molecules; beside the peers, not among them.
CONTROLS = ("likewise-fingerprints", "botorch-descriptors")
# Of `benchmarks.noise`, not of the suite.
OF_NOISE = ("likewise-0.1", "botorch-qlogei", "botorch-qlognei")


def method(name: str) -> Method:
    """The method of this name."""
    if name not in METHODS:
        raise SystemExit(f"no method is called {name!r}; choose from {', '.join(METHODS)}")
    module, constant = METHODS[name]
    found: Method = getattr(import_module(f"benchmarks.methods.{module}"), constant)
    return found
