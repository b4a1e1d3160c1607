"""diskprof: what a disk can do, measured with fio and ioping, watched live and kept."""

__version__ = "0.1.0"
