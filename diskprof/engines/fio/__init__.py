"""What fio prints: documents to samples, and how a test ended."""
