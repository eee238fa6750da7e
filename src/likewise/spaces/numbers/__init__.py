"""Numbers that a person can set: ranges, steps, and what ties several of them together."""
