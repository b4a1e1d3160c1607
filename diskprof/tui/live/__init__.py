"""Mode 2: a run as it happens."""
