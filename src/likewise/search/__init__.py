"""How is the best object found? Trajectories uphill to equilibria, and batches picked from them."""
