"""A fleet run as blocks of a report."""
