"""Conditions as text: what may be proposed, in a small language of its own."""
