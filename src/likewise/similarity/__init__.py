"""How alike are two objects? The protocol, its algebra, and one file per kind of object."""
