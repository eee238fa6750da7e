"""likewise inside Optuna: a sampler whose parameters are compared by what they stand for."""

from likewise.integrations.optuna.sampler import LikewiseSampler

__all__ = ["LikewiseSampler"]
