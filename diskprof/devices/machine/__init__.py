"""The machine that a run happens on, and what its kernel counts meanwhile."""
