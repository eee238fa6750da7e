"""Do intervals hold what they say? `python -m benchmarks.calibration` simulates hundreds of problems and counts."""
