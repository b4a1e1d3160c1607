"""Every run, kept in one SQLite file; nothing else imports sqlite3."""

from diskprof.store.histogram_blocks import BlockSpan
from diskprof.store.liveness import ProcessIdentity, is_alive, is_elsewhere, this_process
from diskprof.store.paths import as_owner_of, default_path, sync
from diskprof.store.reading import Item, ItemKind, SampleBatch, SystemBatch
from diskprof.store.store import Store

__all__ = [
    "BlockSpan",
    "Item",
    "ItemKind",
    "ProcessIdentity",
    "SampleBatch",
    "Store",
    "SystemBatch",
    "as_owner_of",
    "default_path",
    "is_alive",
    "is_elsewhere",
    "sync",
    "this_process",
]
