"""Finite lists of objects: in memory, from files, encoded once."""
