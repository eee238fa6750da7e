"""Batches and noisy measurements, beside BoTorch: `python -m benchmarks.noise`."""
