"""Text for a terminal that has only ASCII, in the cells that Textual counts."""

from rich.cells import cell_len

from diskprof.model.text import ascii_table

_TABLE = ascii_table(cell_len)


def plain(text: str) -> str:
    """`text`, which may hold control sequences, in ASCII and in as many cells."""
    return text if text.isascii() else text.translate(_TABLE)
