"""What tests need of the machine, and no skip that goes unnoticed. A pytest plugin (`-p skips` in pyproject.toml).

    @pytest.mark.needs("root", "loop", "mkfs.ext4")

skips the test where one of these is not to be had, with the reason "needs loop". Tests may also skip for themselves with a reason
of the same form: `pytest.skip("needs blkio-throttle: no io controller in this cgroup")`.

With CI set, a run fails if it skipped a test although its needs are met here, or for want of a program that `make test` installs,
or for a reason of any other form. Without CI it says so and passes.
"""

import fcntl
import os
import platform
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_LOOP_CTL_GET_FREE = 0x4C82
_CAP_SYS_ADMIN = 21
_SBIN = ":/usr/local/sbin:/usr/sbin:/sbin"


def _program(name: str) -> bool:
    return shutil.which(name, path=os.environ.get("PATH", "") + _SBIN) is not None


def _root() -> bool:
    return os.geteuid() == 0


def _no_root() -> bool:
    return not _root()


def _sys_admin() -> bool:
    """Whether this process may mount and make devices: root in a container often may not."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    return bool(found and int(found[1], 16) >> _CAP_SYS_ADMIN & 1)


def _loop() -> bool:
    if not (_sys_admin() and _program("losetup")):
        return False
    try:
        control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
        try:
            number = fcntl.ioctl(control, _LOOP_CTL_GET_FREE)
        finally:
            os.close(control)
        # In a container the number of a free device is no promise of a node for it.
        return Path(f"/dev/loop{number}").is_block_device()
    except OSError:
        return False


def _device_mapper() -> bool:
    return _loop() and _program("dmsetup") and Path("/sys/class/misc/device-mapper").exists()


def _blkio_throttle() -> bool:
    """A cgroup in which this process may set limits for a device (F41): version 1's blkio, or version 2's io."""
    if not _root():
        return False
    first = Path("/sys/fs/cgroup/blkio")
    if (first / "blkio.throttle.read_iops_device").exists() or any(first.glob("*/blkio.throttle.read_iops_device")):
        return os.access(first, os.W_OK)
    top = Path("/sys/fs/cgroup")
    if not (top / "cgroup.controllers").exists() or not os.access(top, os.W_OK):
        return False
    # Only the machine's own root group, which has no type, may have both members and groups with limits below it.
    granted = "cgroup.subtree_control" if (top / "cgroup.type").exists() else "cgroup.controllers"
    return "io" in (top / granted).read_text().split()


def _udevd() -> bool:
    return Path("/run/udev/control").exists()


def _fuse() -> bool:
    return os.access("/dev/fuse", os.R_OK | os.W_OK) and _program("fusermount3")


def _tracefs() -> bool:
    """Whether this process may mount tracefs, or has it already."""
    from diskprof.devices.requests.tracefs import tracefs

    known = "\ttracefs\n" in Path("/proc/filesystems").read_text()
    place = tracefs()
    return known and _sys_admin() and (place is None or os.access(place / "instances", os.W_OK))


def _no_udevd() -> bool:
    return not _udevd()


def _io_uring() -> bool:
    from diskprof.runner.plan.ioengines import why_unusable

    return not why_unusable("io_uring")


def _package_index() -> bool:
    """Whether pip can be expected to find packages: an index that it was told of, or the public one by its name."""
    if any(os.environ.get(name) for name in ("PIP_INDEX_URL", "PIP_FIND_LINKS", "https_proxy", "HTTPS_PROXY")):
        return True
    try:
        return bool(socket.getaddrinfo("pypi.org", 443))
    except OSError:
        return False


def _fio_examples() -> bool:
    """fio's own example job files, a package of their own in Debian (fio-examples)."""
    return any(Path("/usr/share/doc/fio/examples").glob("*.fio"))


def _x86_64() -> bool:
    """For numbers of system calls."""
    return platform.machine() == "x86_64"


NEEDS: dict[str, Callable[[], bool]] = {
    "x86-64": _x86_64,
    "root": _root,
    "no-root": _no_root,
    "sys-admin": _sys_admin,
    "loop": _loop,
    "device-mapper": _device_mapper,
    "blkio-throttle": _blkio_throttle,
    "udevd": _udevd,
    "fuse": _fuse,
    "tracefs": _tracefs,
    "no-udevd": _no_udevd,
    "io_uring": _io_uring,
    "package-index": _package_index,
    "fio-examples": _fio_examples,
}
"""Needs that are more than a program."""

INSTALLED = frozenset(
    {
        *("fio", "ioping", "git", "tmux", "ssh", "sshd", "losetup", "dmsetup"),
        *("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "zsh", "fish", "sshfs"),
    }
)
"""Programs that `make test` installs where it may (scripts/setup.sh)."""

PACKAGES = frozenset({"prometheus_client", "junitparser"})
"""Packages of Python that `make test` installs (pyproject.toml), and an older .venv may lack."""

PROGRAMS = INSTALLED | {
    *("make", "mount", "mkswap", "blockdev", "sfdisk", "fsfreeze", "setpriv", "unshare", "ssh-keygen"),
    *("shellcheck", "uv", "pipx", "groff", "bash", "jq", "benchstat", "sqlite3"),
    *("ansible-playbook", "kubernetes-validate"),
}
"""Programs that tests may need."""


@cache
def met(need: str) -> bool:
    """Whether this machine has `need`. Raises KeyError for a need that nobody defined."""
    if need in NEEDS:
        return NEEDS[need]()
    if need in PACKAGES:
        return find_spec(need) is not None
    if need in PROGRAMS:
        return _program(need)
    raise KeyError(need)


def unmet(*needs: str) -> str:
    """The reason to skip a test with these needs; empty if the machine has them all."""
    missing = [need for need in needs if not met(need)]
    return f"needs {', '.join(missing)}" if missing else ""


def objection(reason: str) -> str:
    """What speaks against a skip for this reason on this machine; empty if it is justified."""
    match = re.match(r"needs ([^:(]+)", reason)
    if not match:
        return "its reason is not of the form 'needs NAME: ...'"
    names = [re.sub(r"^(an?|the) ", "", name.strip()) for name in re.split(r",| and ", match[1])]
    if os.environ.get("CI") and (promised := (INSTALLED | PACKAGES).intersection(names)):
        return f"`make test` should have installed {', '.join(sorted(promised))}"
    try:
        if all(met(name) for name in names):
            return "this machine has what it needs"
    except KeyError as error:
        return f"{error} is no need that tests/kit/skips.py knows"
    return ""


# --- The plugin -----------------------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*names): what the test needs of the machine (tests/kit/skips.py)")
    config.pluginmanager.register(_Skips(), "diskprof-skips")


def needs_of(item: pytest.Item) -> list[str]:
    named = [str(name) for mark in item.iter_markers("needs") for name in mark.args]
    return named + [name for name in ("root", "fio", "ioping") if item.get_closest_marker(name)]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if reason := unmet(*needs_of(item)):
        pytest.skip(reason)


class _Skips:
    """Collects the skips of a run, in the process that reports it."""

    def __init__(self) -> None:
        self._skipped: dict[tuple[str, str], int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._add(report.nodeid, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._add(report.nodeid, report.longrepr)

    def _add(self, where: str, longrepr: Any) -> None:
        text = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
        key = (where.split("::")[0], text.removeprefix("Skipped: "))
        self._skipped[key] = self._skipped.get(key, 0) + 1

    def _objections(self) -> Iterator[str]:
        for (where, reason), count in sorted(self._skipped.items()):
            if against := objection(reason):
                yield f"{where}: {count} skipped, {reason!r}: {against}"

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if is_worker(session.config) or not os.environ.get("CI"):
            return
        if exitstatus == pytest.ExitCode.OK and any(self._objections()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        if is_worker(config) or not self._skipped:
            return
        terminalreporter.section("skipped, and what for")
        for (where, reason), count in sorted(self._skipped.items()):
            against = objection(reason)
            terminalreporter.line(f"{count:4} {where}: {reason}" + (f"  <-- {against}" if against else ""))
        if any(self._objections()):
            fails = "That fails a run with CI set." if os.environ.get("CI") else "With CI set, that would fail the run."
            terminalreporter.line(f"Marked skips should not have happened. {fails}", red=True)


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of xdist's workers, whose reports another process gathers."""
    return hasattr(config, "workerinput")
