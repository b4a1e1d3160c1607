"""Mode 4: runs side by side."""
