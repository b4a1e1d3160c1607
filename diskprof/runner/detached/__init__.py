"""A runner in a session of its own: how it is started, and what it does there."""
