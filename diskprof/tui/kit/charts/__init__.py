"""Charts that move, drawn line by line."""
