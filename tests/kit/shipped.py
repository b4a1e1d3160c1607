"""The presets that come with diskprof, read once for all tests of a process that ask for them while they are collected."""

from pathlib import Path

from diskprof.presets.library import load_library

SHIPPED = load_library(Path("/nonexistent"))
