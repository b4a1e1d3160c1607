"""Foreign bytes against everything that reads them: `make fuzz`, or `python -m fuzz --help`."""
