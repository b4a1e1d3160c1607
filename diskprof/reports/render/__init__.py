"""Forms that people read: text, Markdown, HTML."""
