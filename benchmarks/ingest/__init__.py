"""How fast a reading reaches the catalog, beside the least that PostgreSQL could do with the same."""
