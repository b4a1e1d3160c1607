"""What a report says: values to rows, lines and words, for every form."""
