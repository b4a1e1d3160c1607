"""A fleet run on Live: the table of its members."""
