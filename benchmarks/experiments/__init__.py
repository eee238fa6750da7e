"""The experiments that the paper has no numbers of: distributions, batches in high dimension, only a similarity."""
