"""What is done with the values before anything is modelled: their scale, limits and blocks, and which are far."""
