"""Preset files: TOML in and out, checked."""
