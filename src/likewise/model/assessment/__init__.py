"""Is the model any good? What it says of values it has not seen."""
