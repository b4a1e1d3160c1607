"""What a write would destroy, and what else speaks against a target."""
