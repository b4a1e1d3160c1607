"""One guest for all tests of the lane, with the checkout's diskprof: booted with fresh disks, or that of `make vm-shell`."""

from collections.abc import Generator, Iterator

import pytest
from vm.build import Unfit, prepare, reserved, state_directory
from vm.guest import Guest
from vm.machine import Machine

_LOG_CHARACTERS = 20_000
_ORDER = ("test_devices", "test_guard", "test_hotplug", "test_faults", "test_suspend", "test_power")
"""The power is cut last: what the others set up is gone then."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: next((at for at, name in enumerate(_ORDER) if item.path.stem == name), 0))


@pytest.fixture(scope="session")
def booted() -> Iterator[Guest]:
    """The guest. What boots it here ends it, whatever happens."""
    state = state_directory()
    machine = Machine(state)
    guest = Guest(machine)
    if machine.pid():
        guest.install()
        yield guest
        return
    try:
        with reserved(state):
            prepare(state)
            try:
                machine.boot(fresh=True)
                guest.install()
                yield guest
            finally:
                machine.cut_power()
    except Unfit as error:
        pytest.exit(f"the lane does not run here: {error}", returncode=2)


@pytest.fixture
def guest(booted: Guest) -> Guest:
    booted.log.clear()
    return booted


@pytest.fixture(scope="session")
def storage(booted: Guest) -> None:
    """The disks are in use in every way (inside/storage.sh)."""
    booted.run("test -e /run/storage || { bash /opt/lane/storage.sh && touch /run/storage; }", patience_s=1200)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and (guest := getattr(item, "funcargs", {}).get("guest")):
        report.sections.append(("what was done in the guest", "\n".join(guest.log)[-_LOG_CHARACTERS:]))
        report.sections.append(("the guest's console", guest.machine.console_tail()))
    return report
