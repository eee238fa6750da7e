"""Runs: what was suggested, under which name, and how its results come back into the table."""
