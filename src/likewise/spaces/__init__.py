"""Where do new objects come from? The protocol of a space, and one file per kind."""
