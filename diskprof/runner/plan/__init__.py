"""Preset x target -> plan."""
