"""The whole app on a machine made by hand: devices that are plugged in by the test, plans and starts that it can watch."""

import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from msgspec.structs import replace
from recorded import FAST, make_plan
from stored_screens import Driver, settle, until

from diskprof.model.advice import Advice
from diskprof.model.device import Device, DeviceKind, DeviceTree, DiskCounters, Health, Mount, Transport
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.plan import Hazard, OtherTarget, Plan, RawDevice, Severity, WritePermission
from diskprof.model.preset import Category, EngineName, Job, Parameter, ParameterKind, Preset, Test
from diskprof.model.run_series import SeriesPlan
from diskprof.model.target import Target, TargetKind
from diskprof.presets.library import Library
from diskprof.runner.leftovers import Leftover
from diskprof.runner.plan.watch_plan import watch_plan
from diskprof.runner.session import Place, Session, Wish
from diskprof.store import Store, this_process
from diskprof.tui.app import DiskprofApp
from diskprof.tui.kit.charts.glyphs import Charset

GIB = 1 << 30


def make_device(name: str, *, kind: DeviceKind = DeviceKind.DISK, size: int = 500 * GIB, **more: object) -> Device:
    return Device(name, f"/dev/{name}", kind, 8, 0, size, **more)  # type: ignore[arg-type]


def make_preset(name: str, title: str, category: Category = Category.QUICK, **more: object) -> Preset:
    parameters = (
        Parameter("size", ParameterKind.SIZE, "1g", "size of the test file"),
        Parameter("runtime", ParameterKind.DURATION, "5s", "time to measure"),
    )
    test = Test("read", "Random read", EngineName.FIO, (Job("read", (("rw", "randread"),)),))
    return Preset(name, title, f"What {title} is for.", category, "an article", parameters, (test,), **more)  # type: ignore[arg-type]


DATA = Mount("/mnt/data", "ext4", ("rw",), 480 * GIB, 120 * GIB)
DISKS = (
    make_device("sda", model="Spinning Rust 500", transport=Transport.SATA, rotational=True, children=("sda1", "sda2")),
    make_device("sda1", kind=DeviceKind.PARTITION, size=GIB, parents=("sda",), fs_type="ext4", fs_label="boot"),
    make_device("sda2", kind=DeviceKind.PARTITION, size=499 * GIB, parents=("sda",), fs_type="ext4", mounts=(DATA,)),
    make_device("loop0", kind=DeviceKind.LOOP, size=0),
)
PRESETS = (
    make_preset("quick", "Quick check"),
    make_preset("crystal", "As CrystalDiskMark"),
    make_preset("ioping-latency", "Latency with ioping", Category.LATENCY),
)


def _raw(target: Target, permission: WritePermission) -> tuple[RawDevice, ...]:
    if not permission.allowed:
        return ()
    return (RawDevice(target.device, target.path, 8, 0, 500 * GIB, 8 << 20, serial="S4EWNX0R"),)


def _overwriting(permission: WritePermission, signatures: tuple[str, ...]) -> Iterator[Hazard]:
    """What the guard says of a device with these signatures on it."""
    if not permission.allowed:
        yield Hazard(
            "raw-write",
            Severity.BLOCKS,
            "The test writes to the device itself.",
            Advice("Say --allow-write.", "Switch writing on."),
        )
        return
    for kind in signatures:
        given = kind in permission.signatures
        severity = Severity.WARNS if given else Severity.BLOCKS
        words = f"It holds {kind}: all files on it would be lost."
        yield Hazard("signature", severity, words, "Type it out.", "" if given else kind)


class BenchMonitor:
    """Readable when something was plugged in or out, through a pipe, as the real one through its sockets."""

    def __init__(self, bench: "Bench") -> None:
        self._bench = bench

    def __enter__(self) -> "BenchMonitor":
        self._read, self._write = os.pipe()
        self._bench.on_change = lambda: os.write(self._write, b"!")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bench.on_change = lambda: 0
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        return self._read

    def changed(self, timeout_s: float | None = 0) -> bool:
        if not self._bench.changed:
            return False
        self._bench.changed = False
        os.read(self._read, 4096)
        return True


def bench_sentence(plan: Plan) -> str:
    """In the place of `plan_sentence`: which preset it is shows in it."""
    return f"Tests {plan.target.path} with {plan.preset}."


@dataclass
class Bench:
    """What the app is given, and what it did with it."""

    path: Path
    devices: tuple[Device, ...] = DISKS
    presets: tuple[Preset, ...] = PRESETS
    hazards: tuple[Hazard, ...] = ()
    plan_error: DiskprofError | None = None
    start_error: DiskprofError | None = None
    counters: Mapping[str, DiskCounters] = field(default_factory=dict)
    planned: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    started: list[Plan] = field(default_factory=list)
    series: list[SeriesPlan] = field(default_factory=list)
    beside: list[bool] = field(default_factory=list)
    labels: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    left: list[Leftover] = field(default_factory=list)
    remove_error: DiskprofError | None = None
    overwrites: bool = False
    signatures: tuple[str, ...] = ()
    permissions: list[WritePermission] = field(default_factory=list)
    saved: list[Preset] = field(default_factory=list)
    save_error: DiskprofError | None = None
    stopped: list[str] = field(default_factory=list)
    untraced: UsageError | None = None
    hold_start: threading.Event | None = None
    changed: bool = False
    on_change: Callable[[], int] = lambda: 0

    def plug(self, *devices: Device) -> None:
        """From now on these are the devices, and the monitor says so."""
        self.devices, self.changed = devices, True
        self.on_change()

    def block(self, message: str, advice: str = "") -> None:
        self.hazards = (Hazard("test", Severity.BLOCKS, message, advice),)

    def session(self) -> "BenchSession":
        return BenchSession(self)


class BenchSession(Session):
    """What the app is given of a bench."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench.path)
        self.bench = bench

    def hostname(self) -> str:
        return "db-01"

    def scan(self) -> DeviceTree:
        return DeviceTree(self.bench.devices)

    def monitor(self) -> BenchMonitor:
        return BenchMonitor(self.bench)

    def read_counters(self) -> dict[str, DiskCounters]:
        return dict(self.bench.counters)

    def health(self, disks: Sequence[Device]) -> Sequence[Health]:
        return ()

    def load_library(self) -> Library:
        return Library(self.bench.presets, ())

    def resolve_target(self, text: str, tree: DeviceTree) -> Target:
        if text.startswith("/gone"):
            raise UsageError(f"{text} does not exist.", "Give a directory that is there.")
        device = next((device for device in tree.devices if device.node == text), None)
        kind = TargetKind.DEVICE if device else TargetKind.DIRECTORY
        return Target(kind, text, text, device.name if device else "sda2", "" if device else "/mnt/data", "ext4")

    def suggest_directory(self, device: Device) -> str | None:
        return device.mounts[0].path if device.mounts else None

    def default_device(self, tree: DeviceTree) -> Device | None:
        return next((device for device in tree.devices if device.mounts), None)

    def make_plan(
        self,
        wish: Wish,
        target: Target | None,
        named: Mapping[str, Target],
        waiting: Callable[[str], None] | None = None,
    ) -> Plan:
        bench, preset = self.bench, wish.preset
        assert set(named) == {slot.name for slot in preset.targets}
        (slot, first), *others = named.items() or [("", target)]
        assert first is not None
        bench.planned.append((preset.name, first.path, dict(wish.settings)))
        if bench.plan_error:
            raise bench.plan_error
        plan = make_plan("ioping-latency" if preset.name.startswith("ioping") else "quick")
        hazards, raw = bench.hazards, ()
        if bench.overwrites and first.kind is TargetKind.DEVICE:
            bench.permissions.append(wish.permission)
            hazards = (*hazards, *_overwriting(wish.permission, bench.signatures))
            raw = _raw(first, wish.permission)
        return replace(
            plan,
            preset=preset.name,
            preset_title=preset.title,
            target=first,
            slot=slot,
            others=tuple(OtherTarget(name, other) for name, other in others if other),
            parameters=tuple(wish.settings.items()),
            hazards=hazards,
            expectations=tuple(wish.expectations),
            disk_class=wish.disk_class,
            raw_devices=raw,
        )

    def watch_plan(self, place: Place, tree: DeviceTree) -> tuple[Plan, UsageError | None]:
        device = tree.get(place.device or self.resolve_target(place.path, tree).device)
        if device is None:
            raise UsageError(f"{place.path} is not on a block device.")
        engine = EngineName.KERNEL if self.bench.untraced else EngineName.TRACE
        return watch_plan(device, place.path or device.node, engine=engine), self.bench.untraced

    def estimate(self, wish: Wish) -> Plan:
        return replace(make_plan("quick"), preset=wish.preset.name)

    def start_detached(
        self,
        planned: Plan | SeriesPlan,
        store_path: Path,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        concurrent: bool = False,
    ) -> str:
        bench = self.bench
        series = planned if isinstance(planned, SeriesPlan) else None
        plan = planned.plans[0] if isinstance(planned, SeriesPlan) else planned
        if bench.hold_start:
            assert bench.hold_start.wait(20)
        if bench.start_error:
            raise bench.start_error
        bench.started.append(plan)
        bench.series += [series] if series else []
        bench.labels.append((tuple(tags), note))
        bench.beside.append(concurrent)
        with Store.open(store_path) as store:
            run_id = store.create_run(
                plan, FAST.environment, runner=this_process(), series=series.new if series else None
            )
            place = store.run(run_id).series
        return place.series_id if place else run_id

    def request_stop(self, store: Store, run_id: str) -> None:
        self.bench.stopped.append(run_id)

    def save_preset(self, preset: Preset, *, force: bool = False) -> Path:
        if self.bench.save_error:
            raise self.bench.save_error
        self.bench.saved.append(preset)
        self.bench.presets = (*self.bench.presets, preset)
        return Path(f"/home/me/{preset.name}.toml")

    def leftovers(self, places: Sequence[str]) -> Sequence[Leftover]:
        return tuple(self.bench.left)

    def remove_leftover(self, leftover: Leftover) -> None:
        if self.bench.remove_error:
            raise self.bench.remove_error
        self.bench.left.remove(leftover)


@contextlib.asynccontextmanager
async def open_bench(
    bench: Bench, size: tuple[int, int] = (80, 24), *, charset: Charset = Charset.BRAILLE, wait: bool = True
) -> AsyncIterator[Driver]:
    """The app as it is when the devices, the presets and, with `wait`, the first plan are there."""
    app = DiskprofApp(bench.session(), charset=charset)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        if wait and bench.devices and bench.presets:
            await until(pilot, lambda: bool(bench.planned))
        await settle(pilot)
        yield pilot


@contextlib.contextmanager
def second_connection(path: Path) -> Iterator[Store]:
    """What a runner has: the app must notice what comes through it."""
    with Store.open(path) as store:
        yield store
