"""Ask, tell, remember: the running optimisation and where it is kept."""
