"""Presets out of other programs' files and commands: fio, ioping, DiskSpd."""
