"""What became of objects: written down, read again, and kept in step with the storage."""
