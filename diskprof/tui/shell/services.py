"""What the screens need of the rest of diskprof, as one value, so that a test can give them a machine of its own."""

from __future__ import annotations

import contextlib
import importlib
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from diskprof.model.device import Device, DeviceTree, DiskCounters
    from diskprof.model.plan import Plan, WritePermission
    from diskprof.model.preset import Preset
    from diskprof.model.target import Target
    from diskprof.presets.library import Library
    from diskprof.runner.leftovers import Leftover
    from diskprof.runner.neighbours import Neighbour
    from diskprof.store import Store


class DeviceMonitor(Protocol):
    """Tells that a block device came, went or changed: readable `fileno`, then `changed`."""

    def fileno(self) -> int: ...

    def changed(self, timeout_s: float | None = 0) -> bool: ...


@dataclass(frozen=True)
class Services:
    """Functions that touch the machine or the store. All but those that open or take the store may be called from a thread.

    `start_detached` is told whether to start beside other runs on the same disk; `neighbours` are those runs. `leftovers`
    looks in directories beside those where runs worked; it and `remove_leftover` open the store for themselves.
    """

    open_store: Callable[[], Store]
    scan: Callable[[], DeviceTree]
    monitor: Callable[[], contextlib.AbstractContextManager[DeviceMonitor]]
    read_counters: Callable[[], dict[str, DiskCounters]]
    load_library: Callable[[], Library]
    resolve_target: Callable[[str, DeviceTree], Target]
    suggest_directory: Callable[[Device], str | None]
    default_device: Callable[[DeviceTree], Device | None]
    make_plan: Callable[
        [Preset, Target | None, Mapping[str, str], DeviceTree, Mapping[str, Target], WritePermission], Plan
    ]
    plan_sentence: Callable[[Plan], str]
    neighbours: Callable[[Plan, Store, DeviceTree], Sequence[Neighbour]]
    start_detached: Callable[[Plan, Path, bool], str]
    request_stop: Callable[[Store, str], None]
    hostname: Callable[[], str]
    save_preset: Callable[[Preset], Path]
    leftovers: Callable[[Sequence[str]], Sequence[Leftover]]
    remove_leftover: Callable[[Leftover], None]


def real_services(store_path: Path | None) -> Services:
    """The machine that diskprof runs on and the store at `store_path` (None: the person's own).

    Each part is imported when it is first asked for, mostly in a thread: the first screen is drawn before that (F44).
    """

    def open_store() -> Store:
        from diskprof.store import Store

        return Store.open(store_path)

    def make_plan(
        preset: Preset,
        target: Target | None,
        settings: Mapping[str, str],
        tree: DeviceTree,
        named: Mapping[str, Target],
        permission: WritePermission,
    ) -> Plan:
        from diskprof.runner.plan import planner

        return planner.make_plan(preset, target, settings, tree, named=named, permission=permission)

    def start_detached(plan: Plan, path: Path, concurrent: bool) -> str:
        from diskprof.runner.detached import launch

        return launch.start_detached(plan, path, concurrent=concurrent)

    def leftovers(places: Sequence[str]) -> Sequence[Leftover]:
        from diskprof.runner import leftovers as left

        with open_store() as store:
            store.reap()
            return list(left.leftovers(store, (*places, *store.targets()), patient=False))

    def remove_leftover(leftover: Leftover) -> None:
        from diskprof.runner import leftovers as left

        with open_store() as store:
            left.remove(store, leftover)

    def save_preset(preset: Preset) -> Path:
        from diskprof.presets import library
        from diskprof.presets.files import write

        return write.save_preset(preset, library.user_directory())

    return Services(
        open_store=open_store,
        scan=_late("diskprof.devices.scan.udev", "scan"),
        monitor=_late("diskprof.devices.scan.udev", "Monitor"),
        read_counters=_late("diskprof.devices.scan.sysfs", "read_counters"),
        load_library=_late("diskprof.presets.library", "load_library"),
        resolve_target=_late("diskprof.devices.targets", "resolve_target"),
        suggest_directory=_late("diskprof.devices.targets", "suggest_directory"),
        default_device=_late("diskprof.devices.targets", "default_device"),
        make_plan=make_plan,
        plan_sentence=_late("diskprof.reports.content.plan", "plan_sentence"),
        neighbours=_late("diskprof.runner.neighbours", "neighbours"),
        start_detached=start_detached,
        request_stop=_late("diskprof.runner.detached.launch", "request_stop"),
        hostname=socket.gethostname,
        save_preset=save_preset,
        leftovers=leftovers,
        remove_leftover=remove_leftover,
    )


def _late(module: str, name: str) -> Callable[..., Any]:
    """`name` of `module`, imported at the first call."""

    def call(*arguments: object) -> Any:
        return getattr(importlib.import_module(module), name)(*arguments)

    return call
