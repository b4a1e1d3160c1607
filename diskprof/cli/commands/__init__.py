"""One module a command; click finds them by name (main.py)."""
