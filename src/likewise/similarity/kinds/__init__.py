"""One file for each kind of object."""
