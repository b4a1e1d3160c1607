"""Dialogs that several modes open."""
