"""Runs out of a store into a file, and back."""
