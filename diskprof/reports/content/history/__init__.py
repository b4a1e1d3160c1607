"""What is said of like runs: their history, and a gate against it."""
