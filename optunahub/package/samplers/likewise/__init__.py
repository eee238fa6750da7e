"""Bayesian optimisation in which choices are compared by a similarity or a distance."""

from likewise.integrations.optuna import LikewiseSampler

__all__ = ["LikewiseSampler"]
