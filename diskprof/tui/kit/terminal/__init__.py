"""What goes to the terminal and comes from it, around Textual's own ways."""
