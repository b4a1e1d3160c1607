"""Pictures of the screens: the real app on recorded runs, with a machine made by hand and clocks that stand still.

`make screenshots` draws some of them for the documents, `tests/tui/test_snapshots.py` holds all of them against what is stored.
"""

import asyncio
import contextlib
import importlib
import os
import pkgutil
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import recorded
from msgspec.structs import replace
from recorded.volume import targets_plan
from stored_screens import LONG_S, SIZES, Driver, StillSession, altered, copy_of, see, until
from textual.message_pump import MessagePump
from textual.timer import Timer

import diskprof.tui
from diskprof.engines.tools import Tool
from diskprof.model.device import Device, DeviceKind, DeviceTree, DiskCounters, Health, Mount, Transport, Wear
from diskprof.model.errors import UsageError
from diskprof.model.fleet import FleetMember, FleetRun, MemberState, MemberStatus
from diskprof.model.plan import Hazard, Plan, Severity
from diskprof.model.preset import Preset
from diskprof.model.run import FleetPlace, Status
from diskprof.model.target import Target, TargetKind
from diskprof.presets.library import Library, load_library
from diskprof.runner.plan import planner
from diskprof.runner.session import Session, Wish
from diskprof.store import Store, fleets, this_process
from diskprof.tui.app import DiskprofApp
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.palette import Depth
from diskprof.tui.kit.theme import SIXTEEN
from diskprof.tui.run.screen import RunScreen

GIB = 1 << 30
NOW = recorded.FIRST_START + timedelta(days=9, minutes=4)
"""What the clock says: four minutes after the run under way began."""
_SOON_S = 1.0
_NEVER_S = 1e6
_SECONDS = 14
_SURROUNDINGS = {"TZ": "UTC", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
_QUIET = 3
"""So often in a row nothing must be under way: a thread that is done may still have a message on its way."""
_HELD = ("diskprof.", "textual.widgets._input")
"""Whose intervals never come: those of the screens, and the blinking of the cursor in a field."""


@dataclass(frozen=True)
class Scene:
    """One picture: what is in the store, what is opened, the keys that lead there, and a few words that must stand on it.

    `running` is the preset of the run under way, `open` the recorded runs that are looked at: one in Live or, with two, both
    in Compare. `blocked`: every plan is refused. `empty`: there are no runs yet. What lies over a screen is drawn in one of the
    `sizes` only.
    """

    name: str
    keys: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    running: str = ""
    open: tuple[str, ...] = ()
    blocked: bool = False
    empty: bool = False
    sizes: tuple[tuple[int, int], ...] = SIZES


_SMALL = SIZES[:1]
SCENES = (
    Scene("run", ("down", "up"), ("Plan", "Quick check")),
    Scene("run-first", ("down", "up"), ("Plan", "Quick check"), empty=True, sizes=_SMALL),
    Scene("run-refused", ("down", "up"), ("is mounted",), blocked=True),
    Scene("run-filter", ("slash", *"cloud"), ("Alibaba",), sizes=_SMALL),
    Scene("run-start", ("enter",), ("Start Quick check?",), sizes=_SMALL),
    Scene("run-question", ("Q",), ("Is it slow now?",), sizes=_SMALL),
    Scene("run-edit", ("e",), ("runtime",), sizes=_SMALL),
    Scene("run-commands", ("C",), ("Commands", "fio"), sizes=_SMALL),
    Scene("live", ("2",), ("IOPS",), running="quick"),
    Scene("live-percentiles", ("2", "m", "m"), ("p99.9",), running="mixed-70-30"),
    Scene("live-heatmap", ("2", "m", "m", "m"), ("ms",), running="mixed-70-30"),
    Scene("live-kernel", ("2", "K"), ("r_await",), running="quick"),
    Scene("live-cursor", ("2", "left", "left", "left"), ("IOPS",), running="quick", sizes=_SMALL),
    Scene("live-sweep", ("2",), ("64 KiB",), running="sweep"),
    Scene("live-rounds", ("2",), ("Round 7 of at most 25",), running="rounds"),
    Scene("live-limit", ("2",), ("of at most 12", "kept it"), running="limit"),
    Scene("live-limit-over", ("2", "X"), ("trials", "kept it"), running="limit-over"),
    Scene("live-curve", ("2",), ("Latency by load", "p99 doubles"), running="limit-over"),
    Scene("live-map", ("2",), ("Read/write map", "p99"), running="map"),
    Scene("live-fleet", ("2",), ("4 hosts", "sum of 3"), running="fleet"),
    Scene("live-empty", ("2",), ("Press 1",), empty=True, sizes=_SMALL),
    Scene("live-over", (), ("Quick check",), open=("first",)),
    Scene("live-compared", (), ("new best",), open=("second",)),
    Scene("stop", ("2", "s"), ("Stop",), running="quick", sizes=_SMALL),
    Scene("quit", ("q",), ("Quit diskprof?",), running="quick", sizes=_SMALL),
    Scene("result", ("3", "end", "enter"), ("Quick check",)),
    Scene("result-failed", ("3", "slash", *"w4b7", "enter", "enter"), ("No space left",), sizes=_SMALL),
    Scene("runs", ("3",), ("h2k7t6zp", "mean")),
    Scene("runs-empty", ("3",), ("run",), empty=True, sizes=_SMALL),
    Scene("runs-tags", ("3", "end", "t"), ("Tags",), sizes=_SMALL),
    Scene("runs-delete", ("3", "end", "d"), ("Delete",), sizes=_SMALL),
    Scene("runs-export", ("3", "end", "r"), ("Markdown",), sizes=_SMALL),
    Scene("compare", (), ("old-server", "worse"), open=("first", "slow")),
    Scene("compare-test", ("enter",), ("old-server", "p99.9"), open=("first", "slow")),
    Scene("compare-four", (), ("old-server", "-54%"), open=("first", "second", "slow", "cancelled")),
    Scene("compare-conditions", ("a",), ("db-01", "backup-7"), open=("first", "slow"), sizes=_SMALL),
    Scene("compare-same", (), ("db-01",), open=("first", "second")),
    Scene("compare-sweep", (), ("4K rand read QD1",), open=("sweep", "smaller")),
    Scene("compare-empty", ("4",), ("compare",), empty=True, sizes=_SMALL),
    Scene("help-run", ("question_mark",), ("Help: Run",)),
    Scene("help-live", ("2", "question_mark"), ("Help: Live",), running="quick", sizes=_SMALL),
    Scene("help-runs", ("3", "question_mark"), ("Help: Runs",), sizes=_SMALL),
    Scene("help-compare", ("question_mark",), ("Help: Compare",), open=("first", "slow"), sizes=_SMALL),
    Scene("palette", ("ctrl+p",), ("Go to Compare",)),
)


def scene(name: str) -> Scene:
    return next(scene for scene in SCENES if scene.name == name)


# the machine


def _device(name: str, size: int, **more: Any) -> Device:
    return Device(name, f"/dev/{name}", more.pop("kind", DeviceKind.DISK), 8, 0, size, **more)


def _part(name: str, size: int, parent: str, **more: Any) -> Device:
    return _device(name, size, kind=DeviceKind.PARTITION, parents=(parent,), rotational=False, **more)


DATA = Mount("/mnt/data", "ext4", ("rw", "noatime"), 916 * GIB, 570 * GIB)
TREE = DeviceTree(
    (
        _device(
            "nvme0n1",
            1_000_204_886_016,
            model="Samsung SSD 980 PRO 1TB",
            serial="S5GXNF0R912345K",
            transport=Transport.NVME,
            rotational=False,
            scheduler="none",
            children=("nvme0n1p1",),
        ),
        _part(
            *("nvme0n1p1", 1_000_203_091_968, "nvme0n1"),
            fs_type="ext4",
            fs_label="data",
            mounts=(DATA,),
            scheduler="none",
        ),
        _device(
            "sda",
            240_057_409_536,
            model="INTEL SSDSC2KB240G8",
            transport=Transport.SATA,
            rotational=False,
            scheduler="mq-deadline",
            children=("sda1", "sda2", "sda3"),
        ),
        _part("sda1", 512 << 20, "sda", fs_type="vfat", mounts=(Mount("/boot/efi", "vfat", ("rw",), GIB, 500 << 20),)),
        _part("sda2", 215 * GIB, "sda", fs_type="ext4", mounts=(Mount("/", "ext4", ("rw",), 211 * GIB, 142 * GIB),)),
        _part("sda3", 8 * GIB, "sda", swap=True),
        _device("sdb", 4_000_787_030_016, model="ST4000VN008-2DR166", transport=Transport.SATA, rotational=True),
    )
)


HEALTH = {
    "nvme0n1": Health("nvme0n1", True, 41.0, Wear("nvme0n1", 3, 41 << 40)),
    "sda": Health("sda", True, 33.0, Wear("sda", 18, 96 << 40)),
}

_TRAFFIC = (3, 1, 2, 6, 2, 1, 4, 9, 3, 2, 5)
"""What is done from one reading to the next, over and over."""


class _Counters:
    """Counters that go on between two readings, so that the devices look alive."""

    def __init__(self) -> None:
        self._readings = self._done = 0

    def read(self) -> dict[str, DiskCounters]:
        self._readings += 1
        self._done += _TRAFFIC[self._readings % len(_TRAFFIC)]
        at, n = self._readings * 10**9, self._done
        sda = DiskCounters(at, 40 * n, 0, 720_000 * n, 0, 130 * n, 0, 2_400_000 * n, 0, 0, 160 * n, 0)
        return {"sda": sda, "sda2": sda, "nvme0n1p1": replace(sda, reads=0, read_bytes=0, io_ticks_ms=0)}


def _target(text: str, _tree: DeviceTree) -> Target:
    return Target(TargetKind.DIRECTORY, text, text, "nvme0n1p1", "/mnt/data", "ext4")


def _plan(wish: Wish, target: Target | None, *_others: object) -> Plan:
    if target is None:
        return targets_plan(recorded.VOLUME)
    plan = recorded.make_plan("quick")
    parameters = tuple((dict(plan.parameters) | dict(wish.settings)).items())
    return replace(plan, preset=wish.preset.name, preset_title=wish.preset.title, target=target, parameters=parameters)


def _estimate(wish: Wish) -> Plan:
    """As the planner does, with an fio and ioping that nobody starts."""
    path = "/mnt/data"
    target = Target(TargetKind.DIRECTORY, path, path, "nvme0n1p1", path, "ext4")
    slots = {slot.name: target for slot in wish.preset.targets}
    with _set(planner, "find_tool", lambda name, _waiting: Tool(name, f"/usr/bin/{name}", "3.33")):
        return planner.make_plan(wish.preset, None if slots else target, wish.settings, wish.tree, named=slots)


def _refused(*words: Any) -> Plan:
    mounted = "/dev/nvme0n1p1 is mounted on /mnt/data: a write would destroy its file system."
    return replace(_plan(*words), hazards=(Hazard("mounted", Severity.BLOCKS, mounted, "Choose another device."),))


def _never_saved(_preset: Preset) -> Path:
    raise UsageError("The machine of the pictures keeps no presets.")


def session_of(path: Path, scene: Scene, library: Library) -> Session:
    return altered(
        StillSession(path),
        scan=lambda: TREE,
        read_counters=_Counters().read,
        health=lambda disks: [HEALTH[disk.name] for disk in disks if disk.name in HEALTH],
        load_library=lambda: library,
        resolve_target=_target,
        suggest_directory=lambda device: device.mounts[0].path if device.mounts else None,
        default_device=lambda tree: tree.get("nvme0n1p1"),
        make_plan=_refused if scene.blocked else _plan,
        estimate=_estimate,
        neighbours=lambda *_words: (),
        save_preset=_never_saved,
    )


# the runs


class Recordings:
    """Stores with recorded runs, made once each in `directory`; each scene gets a copy."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.library = load_library(directory / "none")
        self._ids: dict[str, str] = {}

    def store(self, running: str = "", *, empty: bool = False) -> Path:
        """The store with every kind of run, and one of the preset `running` under way; or without any."""
        path = self._directory / f"{'empty' if empty else running or 'idle'}.db"
        if path.exists():
            return path
        if running:
            shutil.copy(self.store(), path)
        with Store.open(path) as store:
            if running:
                self._record(store, running)
            elif not empty:
                ids = recorded.record_library(store)
                # A list says how long it took: no clock of today has a say in that.
                ended = store.run(ids["running"]).started_at + timedelta(seconds=21)
                store.finish_run(ids["running"], status=Status.CANCELLED, reason="Stopped.", ended_at=ended)
                self._ids = ids | recorded.record_volumes(store)
        return path

    def _record_fleet(self, store: Store, started: datetime) -> None:
        """Four hosts in the same test, one of which cannot be reached."""
        members = tuple(FleetMember(f"db{at}", "/srv") for at in range(1, 5))
        states = (MemberState.RUNNING, MemberState.RUNNING, MemberState.LOST, MemberState.RUNNING)
        statuses = tuple(
            MemberStatus(state, "Connection timed out" if state is MemberState.LOST else "") for state in states
        )
        head = ("f4p8v2ye", Status.RUNNING, "", "quick", "Quick check", members, statuses, started)
        with store._database.write() as db:
            fleets.insert(db, FleetRun(*head), this_process(), datetime.now(UTC))
        for at, factor in enumerate((1.0, 0.98, 1.01, 0.6)):
            recorded.record_run(
                store,
                "quick",
                stop_in=(1, 0.72),
                end=Status.RUNNING,
                runner=this_process(),
                run_id=f"n4p8v2y{at + 2}",
                seed=11 + at,
                factor=factor,
                started_at=started,
                fleet=FleetPlace("f4p8v2ye", at),
            )

    def _record(self, store: Store, running: str) -> None:
        options: dict[str, Any] = {"stop_in": (1 if running == "quick" else 0, 0.72)}
        if running == "sweep":
            plan = recorded.sweep_plan(recorded.VOLUME)
            options = {"plan": plan, "machine": recorded.VOLUME, "stop_in": (24, 0.6)}
        started = recorded.FIRST_START + timedelta(days=9)
        if running == "fleet":
            self._record_fleet(store, started)
            return
        if running == "limit":
            recorded.record_limit(store, trials=5, started_at=started, run_id="n4p8v2ye")
            return
        if running == "map":
            recorded.record_map(store, cells=58, started_at=started, run_id="n4p8v2ye")
            return
        if running == "limit-over":
            recorded.record_limit(store, curve=10, started_at=started, run_id="n4p8v2ye")
            return
        if running == "rounds":
            # A disk that was empty, and is not yet steady.
            course = (2.4, 1.9, 1.45, 1.2, 1.08, 1.0)
            recorded.record_rounds(store, course, started_at=started, run_id="n4p8v2ye")
            return
        recorded.record_run(
            store,
            running,
            **options,
            end=Status.RUNNING,
            runner=this_process(),
            run_id="n4p8v2ye",
            seed=11,
            started_at=started,
        )

    @contextlib.asynccontextmanager
    async def open(self, scene: Scene, size: tuple[int, int], theme: str = "") -> AsyncIterator[Driver]:
        """The app as `scene` shows it, `size` in columns and rows."""
        original = self.store(scene.running, empty=scene.empty)
        copies = self._directory / scene.name
        copies.mkdir(exist_ok=True)
        session = session_of(copy_of(original, copies), scene, self.library)
        with still_clocks():
            app = DiskprofApp(session, charset=Charset.BRAILLE, depth=Depth.SIXTEEN if theme == SIXTEEN else Depth.TRUE)
            async with app.run_test(size=size) as pilot:
                if theme:
                    app.theme = theme
                await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen.draft.tree is not None)
                await idle(pilot)
                if not scene.open:
                    _tick(app)
                elif len(scene.open) > 1:
                    app.compare_runs([self._ids[name] for name in scene.open])
                else:
                    app.show_run(self._ids[scene.open[0]])
                await idle(pilot)
                for key in scene.keys:
                    await pilot.press(key)
                    await idle(pilot)
                await see(pilot, *scene.shows)
                await idle(pilot)
                yield pilot


def _tick(app: DiskprofApp) -> None:
    """Seconds go by on the Run screen: what is busy shows only from the second reading on."""
    beat = getattr(app.screen, "_tick", None)
    if beat:
        for _ in range(_SECONDS):
            beat()


async def idle(pilot: Driver) -> None:
    """Everything that was begun is done and drawn, what waits for a moment too, and what followed from it."""
    quiet = 0
    async with asyncio.timeout(LONG_S):
        while quiet < _QUIET:
            await pilot.pause()
            quiet = 0 if _at_work(pilot.app) else quiet + 1


def _at_work(app: Any) -> bool:
    pumps = [app, *(node for screen in app.screen_stack for node in (screen, *screen.walk_children()))]
    timers = (timer for pump in pumps for timer in pump._timers)
    return (
        any(not worker.is_finished for worker in app.workers)
        or any(map(_comes_soon, timers))
        # Drawn sixty times a second at the most; what is behind a dialog is not laid out any more.
        or (app.screen._layout_required or app.screen._repaint_required or app.screen._scroll_required)
        or bool(app.screen._dirty_widgets or app.screen._callbacks)
    )


def _comes_soon(timer: Timer) -> bool:
    task = timer._task
    return timer._repeat == 0 and timer._interval < _SOON_S and task is not None and not task.done()


# the clocks


class _StillDatetime(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), tz or UTC)


@contextlib.contextmanager
def still_clocks() -> Iterator[None]:
    """For the screens the time is NOW and does not pass: what comes round by an interval never comes. One is in /home/me."""
    for found in pkgutil.walk_packages(diskprof.tui.__path__, "diskprof.tui."):
        importlib.import_module(found.name)
    set_interval = MessagePump.set_interval

    def never(pump: MessagePump, interval: float, callback: Any = None, **more: Any) -> Timer:
        # Textual draws by an interval of its own. A timer that is only paused would be collected as garbage.
        held = getattr(callback, "__module__", "").startswith(_HELD)
        return set_interval(pump, _NEVER_S if held else interval, callback, **more)

    with contextlib.ExitStack() as undo:
        undo.enter_context(_surroundings())
        undo.enter_context(_set(os, "getcwd", lambda: "/home/me"))
        for found in pkgutil.walk_packages(diskprof.tui.__path__, "diskprof.tui."):
            module = importlib.import_module(found.name)
            if getattr(module, "datetime", None) is datetime:
                undo.enter_context(_set(module, "datetime", _StillDatetime))
            if getattr(module, "time", None) is time:
                undo.enter_context(_set(module, "time", SimpleNamespace(monotonic=lambda: 1e6)))
        undo.enter_context(_set(MessagePump, "set_interval", never))
        yield


@contextlib.contextmanager
def _surroundings() -> Iterator[None]:
    """The time zone and the terminal that the pictures are drawn for."""
    before = {name: os.environ.pop(name, None) for name in (*_SURROUNDINGS, "NO_COLOR")}
    os.environ.update(_SURROUNDINGS)
    time.tzset()
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        time.tzset()


@contextlib.contextmanager
def _set(holder: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, before)
