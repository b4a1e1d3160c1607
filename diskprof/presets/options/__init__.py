"""The options that may reach fio and ioping, and how their values are read (F26)."""
