"""Several objectives: fronts found by likewise, BoTorch, Optuna and chance. `python -m benchmarks.objectives`."""
