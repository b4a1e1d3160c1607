"""What surrounds every mode: first and last line, keys, help, the store that is watched."""
