"""`python -m diskprof`."""

from diskprof.cli.main import run

run()
