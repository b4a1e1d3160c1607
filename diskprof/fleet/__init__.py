"""Other hosts: the system's ssh reaches them, diskprof runs there."""
