"""A pool scored whole: one engine, in memory, on disk or on a cluster."""
