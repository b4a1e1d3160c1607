"""Writes the table of keys into docs/terminals.md. With --check it only says whether the table is up to date."""

import sys
from pathlib import Path

from diskprof.tui.shell.keytable import markdown

DOCUMENT = Path(__file__).parents[1] / "docs" / "terminals.md"
BEGIN, END = "<!-- keys: begin -->\n", "<!-- keys: end -->\n"


def renewed(document: str) -> str:
    """`document` with the table between its marks as it should be."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{markdown()}\n{END}{after}"


def main() -> int:
    document = DOCUMENT.read_text(encoding="utf-8")
    wanted = renewed(document)
    if "--check" in sys.argv[1:]:
        if document != wanted:
            print("docs/terminals.md is out of date: python scripts/keys_table.py", file=sys.stderr)
        return int(document != wanted)
    DOCUMENT.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
