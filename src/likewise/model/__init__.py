"""What do the data say? From scores to influence, posterior, evidence and committee."""
