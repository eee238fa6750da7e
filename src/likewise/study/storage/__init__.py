"""Where studies are kept: the protocol, in memory, SQLite and PostgreSQL."""
