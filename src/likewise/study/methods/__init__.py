"""Ways to choose what to try next; a study knows them by one protocol."""
