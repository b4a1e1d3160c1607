"""Mode 3: the runs of the store, and the result of each."""
