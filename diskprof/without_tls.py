"""What diskprof does without."""

import sys


def without_tls() -> None:
    """To be called before asyncio is imported, which takes OpenSSL along where it is there (F57). diskprof connects to nobody."""
    # So Python spells a module that is not to be had.
    sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]
