"""Several objectives: fronts found by likewise, BoTorch, BayBE, Optuna, chance. `python -m benchmarks.objectives`."""
