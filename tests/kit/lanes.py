"""Which tests run side by side, and how long each lane took. A pytest plugin (`-p lanes` in pyproject.toml).

Under xdist, the tests in tests/real that work on disks of their own (loop devices, mounts) run one after the other in one process,
whatever else runs beside them: a disk is not shared. So do the others there, which start many programs and wait for them, in
four processes more: engines, examples, hosts and programs. All other tests are the rest, a file in whichever process is free.
Tests that need nothing of the machine give way to those that do, which mostly wait and should not be kept waiting.
"""

import os
from contextlib import suppress
from typing import Any

import pytest
from skips import is_worker, needs_of

_REST = "the rest"
_WITH_DISKS = (
    "test_devices",
    "test_fault_places",
    "test_guard",
    "test_hostile",
    "test_known",
    "test_network",
    "test_power",
)
_EXAMPLES = ("test_examples", "test_imported")
_WITH_ENGINES = ("test_engine", "test_equal", "test_fault", "test_kill", "test_runner")
_WITH_HOSTS = ("test_fleet", "test_over_ssh", "test_share", "test_ssh")
_LONG = "test_benchmarks.py"
"""The file of the rest that takes longest, most of it waiting: begun last, it would be waited for."""


def _is_real(nodeid: str) -> bool:
    return "real" in nodeid.split("::")[0].split("/")[:-1]


def _lane(nodeid: str) -> str:
    """`disks`, `engines`, `examples`, `hosts` or `programs` for a test of tests/real, otherwise `the rest`."""
    if not _is_real(nodeid):
        return _REST
    name = nodeid.split("::")[0].split("/")[-1]
    if name.startswith(_WITH_DISKS):
        return "disks"
    if name.startswith(_WITH_ENGINES):
        return "engines"
    if name.startswith(_WITH_HOSTS):
        return "hosts"
    return "examples" if name.startswith(_EXAMPLES) else "programs"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # They take longest, so the processes that have them should begin with them.
    items.sort(key=lambda item: (not _is_real(item.nodeid), _LONG not in item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    # xdist's own groups (--dist loadgroup) do nothing with pytest 9.2: it sets an attribute that pytest no longer reads.
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class DisksTogether(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            lane = _lane(nodeid)
            return lane if lane != _REST else str(super()._split_scope(nodeid))

    return DisksTogether(config, log)


_NICENESS = os.nice(0)
_GIVES_WAY = 5


def _give_way(item: pytest.Item) -> None:
    """A test that needs nothing of the machine can wait for those that do."""
    wanted = _NICENESS + (0 if _is_real(item.nodeid) or needs_of(item) else _GIVES_WAY)
    if os.nice(0) != wanted:
        # Only root can take back what it gave.
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, wanted)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if is_worker(item.config):
        _give_way(item)


class _Times:
    """When each lane began and ended, in the process that reports them."""

    def __init__(self) -> None:
        self._spans: dict[str, tuple[float, float, int]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        began, ended, count = self._spans.get(_lane(report.nodeid), (report.start, report.stop, 0))
        span = min(began, report.start), max(ended, report.stop), count + (report.when == "call")
        self._spans[_lane(report.nodeid)] = span

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        if is_worker(config) or not config.getoption("numprocesses", None):
            return
        terminalreporter.section("lanes, from their first test to their last")
        for lane, (began, ended, count) in sorted(self._spans.items(), key=lambda item: item[1][0] - item[1][1]):
            terminalreporter.line(f"{ended - began:6.0f} s  {lane}: {count} tests")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Times(), "diskprof-lanes")
