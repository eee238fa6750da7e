"""New similarities from old: sums, products, powers, parts of records."""
