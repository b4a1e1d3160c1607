"""Mode 1: devices, presets, plan, start."""
