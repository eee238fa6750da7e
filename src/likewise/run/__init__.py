"""Who evaluates: here, in threads, in processes, on an executor or a cluster."""
