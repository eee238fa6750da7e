"""Solvents compared by how polar they are, and a temperature in steps of five degrees."""

import optuna
import optunahub

SOLVENTS = {"THF": 7.6, "MeTHF": 7.0, "DMF": 36.7, "DMSO": 46.7, "MeCN": 37.5, "water": 80.1}


def objective(trial: optuna.Trial) -> float:
    solvent = trial.suggest_categorical("solvent", list(SOLVENTS))
    return abs(SOLVENTS[solvent] - 40) + abs(trial.suggest_float("temperature", 20, 120, step=5) - 80) / 10


if __name__ == "__main__":
    module = optunahub.load_module("samplers/likewise")
    sampler = module.LikewiseSampler(distance={"solvent": lambda a, b: abs(SOLVENTS[a] - SOLVENTS[b])})
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=20)
    print(study.best_params, study.best_value)
