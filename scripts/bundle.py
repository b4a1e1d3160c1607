"""Writes the bundle, dist/diskprof-VERSION-linux-MACHINE.tar.gz: diskprof with the Python of .venv and this system's C library."""

import sys
from pathlib import Path

from diskprof.fleet.hosts.bundle import bundle_name, write_bundle

ROOT = Path(__file__).parents[1]
LIMIT = 40_000_000


def main() -> int:
    """Writes it and says how large it is; 1 if that is too large."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / f"dist/{bundle_name()}.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bundle(
        path, (ROOT / "LICENSE", ROOT / "README.md", ROOT / "share/man/man1/diskprof.1", *(ROOT / "docs").glob("*.md"))
    )
    size = path.stat().st_size
    print(f"{path} ({size / 1e6:.1f} MB)")
    if size > LIMIT:
        print(f"It may be no larger than {LIMIT / 1e6:.0f} MB.", file=sys.stderr)
    return int(size > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
