"""What every test has: a home of its own, so that none can touch a person's store or presets. And a store, for those that ask."""

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from diskprof.store import Store

# Tests that a shell started in the background ignore ctrl+c, those under nohup the end of the terminal, and so would all that
# they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

gc.set_threshold(5_000, 20, 20)

# How long an example takes says more about what else the machine does than about the code. The examples of properties are the
# same on every machine and every day; `make fuzz` draws others (--hypothesis-profile=random).
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("random", deadline=None, derandomize=False, print_blob=True, max_examples=500)
settings.load_profile("same")


def pytest_collection_finish() -> None:
    """Thousands of tests would be walked through at every full collection: a fifth of the time of those of screens."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    for name in ("DISKPROF_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # What the disks of this machine say of their wear is in no expected text.
    monkeypatch.setenv("DISKPROF_SMARTCTL", "")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store; for a screen that is open on it, what a runner has: a connection of its own."""
    with Store.open(tmp_path / "runs.db") as store:
        yield store
