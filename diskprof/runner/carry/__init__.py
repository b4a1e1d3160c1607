"""A run from its begin to its end."""
