"""What was noticed about a run: one module a family of rules, find.py calls them all."""
