"""A user's table as a problem: what is in it, how it is read, and which rows cannot be used."""
