"""Prints the house: its rooms, what they import from each other, and which files one call runs through."""
