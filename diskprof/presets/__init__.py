"""Presets: TOML files, shipped and the person's own, read into values and resolved with parameters."""
