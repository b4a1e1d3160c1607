"""Curves that stand still: in text, for the terminal and as SVG."""
