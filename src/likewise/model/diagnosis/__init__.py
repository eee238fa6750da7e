"""Is this similarity any good here? Left-out errors, calibration, a verdict, and comparisons."""
