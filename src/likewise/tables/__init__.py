"""Files of rows, below everything else: safe writing, locks, and reading of files that may be damaged or hostile."""
