"""Forms that programs read: JSON, CSV, Nagios."""
