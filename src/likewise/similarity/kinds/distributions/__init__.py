"""Distributions as objects."""
