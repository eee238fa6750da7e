"""How alike are two objects? The protocol, how similarities combine, and one file for each kind of object."""
