"""A study in a table: which columns mean what, what is measured, what comes next."""
