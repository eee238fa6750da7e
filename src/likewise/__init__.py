"""Bayesian optimisation over anything you can compare."""

__version__ = "0.1.0"
