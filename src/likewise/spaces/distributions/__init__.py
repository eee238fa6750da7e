"""Spaces of distributions."""
