"""What a similarity computes once per object, and how it is kept."""
