"""A run on a host, followed from here: the two ends of the line, what they say, and the copy of the run."""
