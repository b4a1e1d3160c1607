"""Devices on the Run screen as rows of a tree. Pure functions."""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from msgspec import Struct, field

from diskprof.devices.guard.target_doubts import Doubt, doubts, system_disks
from diskprof.model.cells import fit, shorten_middle
from diskprof.model.device import Activity, Device, DeviceKind, DeviceTree, Mount, branches
from diskprof.model.plan import Severity
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.reports.words import SEVERITIES
from diskprof.runner.session import Place
from diskprof.tui.kit.charts.glyphs import Charset, GlyphTrack, draw, progress_bar
from diskprof.tui.kit.painted import Line, Piece, width_of
from diskprof.tui.kit.paragraphs import signed
from diskprof.tui.kit.table import Row
from diskprof.tui.run.device_activity import at_rest
from diskprof.tui.shell.run_signs import sign_of

_LOWEST_TOP = 1e6
"""Bytes per second that a graph is high at least: a little traffic must not look like much."""
_NOTHING = 0.01
_NARROW, _WIDE = 36, 44
_SIZE = 7
"""Cells of a size with the blank before it."""
_BAR = 5
_FILLING, _FULL = 0.85, 0.95
_RECENT = 3
_KNOWN_BY = 7
_ROOMY = 12
_WORD = " more"


class DevicesView(Struct, frozen=True, dict=True):
    """What device rows are drawn from: `history` is what each device did, second by second, the newest last.

    `own` has the id of the run of diskprof's that works on a device now; `since_own` the seconds since one last did, of the
    devices of which that is known. `marked` has the letter of each target of a series, by the key of its row.
    """

    history: Mapping[str, Sequence[Activity]] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    since_own: Mapping[str, int] = field(default_factory=dict)
    charset: Charset = Charset.BRAILLE
    show_all: bool = False
    marked: Mapping[str, str] = field(default_factory=dict)

    def recent(self, name: str) -> Sequence[Activity]:
        """The last few seconds, for one alone would come and go; none in which a run of diskprof's made the traffic."""
        seconds = min(_RECENT, self.since_own.get(name, _RECENT))
        return tuple(self.history.get(name, ()))[-seconds:] if seconds else ()

    def doubts(self, device: Device, tree: DeviceTree, system: frozenset[str]) -> tuple[Doubt, ...]:
        """All doubts about a device; `system` are the `system_disks`."""
        return doubts(device, tree, self.recent(device.name), system, self.own.get(device.name, ""))

    def last(self, name: str) -> Activity | None:
        history = self.history.get(name)
        return history[-1] if history else None


def key_of(place: Place) -> str:
    """The key of a place's row."""
    return f"device:{place.device}" if place.device else f"path:{place.path}"


def place_of(key: str | None) -> Place | None:
    """The place that has a row's key."""
    kind, _, name = (key or "").partition(":")
    if not name:
        return None
    return Place(device=name) if kind == "device" else Place(path=name)


class DeviceTable:
    """The person's own paths, then the tree as lsblk draws it: name, a doubt's sign, load, size, free, mount point or model.

    `headings` are the titles of these columns with the cell that each begins at.

    What is the same for all seconds is found once: where everything stands, and the rows of devices at rest.
    """

    def __init__(self, tree: DeviceTree, paths: Sequence[str], view: DevicesView, width: int) -> None:
        self._tree, self._view, self._width = tree, view, width
        self._paths = [
            Row(
                key_of(Place(path=path)),
                [*_marks(Place(path=path), view), (shorten_middle(clean(path), width - _gutter(view)), "strong")],
            )
            for path in paths
        ]
        walked = list(tree.walk(show_empty=view.show_all))
        prefixes = branches([depth for depth, _ in walked])
        names = [prefix + clean(device.label) for prefix, (_, device) in zip(prefixes, walked, strict=True)]
        column = min(max([len(name) for name in names] + [6]), 18 if width >= 40 else 14 if width >= _NARROW else 12)
        self._cells = 8 if width >= _WIDE else 4 if width >= _NARROW else 0
        self._system = system_disks(tree)
        gutter = _gutter(view)
        load = gutter + column + 1 + (width >= _WIDE)
        sizes = load + self._cells + _SIZE
        self._style = _style([device for _, device in walked], width - sizes - 1)
        mounts = sizes + _room_of(self._style) + 1
        named = [
            (gutter, "Device"),
            (load, "Load" if width >= _NARROW else ""),
            (sizes - 4, "Size"),
            (sizes + _SIZE - 4, "Free" if self._style is not _Style.NOTHING else ""),
            (mounts, "Mounted on" if width > mounts + 10 else "Mount"),
        ]
        self.headings = [(at, title) for at, title in named if title]
        self._devices: list[tuple[Device, Piece]] = [
            (device, (fit(shorten_middle(name, column), column), "" if depth else "strong"))
            for name, (depth, device) in zip(names, walked, strict=True)
        ]
        self._resting: dict[str, Row] = {}

    def rows(self) -> list[Row]:
        """The rows by what the devices did up to now."""
        return [*self._paths, *(self._row(device, name) for device, name in self._devices)]

    def _row(self, device: Device, name: Piece) -> Row:
        if not at_rest(self._view.history.get(device.name, ())):
            return self._make_row(device, name)
        if device.name not in self._resting:
            self._resting[device.name] = self._make_row(device, name)
        return self._resting[device.name]

    def _make_row(self, device: Device, name: Piece) -> Row:
        view, width = self._view, self._width
        doubtful = bool(view.doubts(device, self._tree, self._system))
        line: list[Piece] = [
            *_marks(Place(device=device.name), view),
            name,
            (("!" if doubtful else " ") + " " * (width >= _WIDE), "warn"),
            *traffic(view.history.get(device.name, ()), self._cells, view.charset),
        ]
        line.append((fit(_short_size(device.size_bytes), _SIZE, right=True), "quiet"))
        line += _carries(device, max(0, width - width_of(line)), self._style, view.charset)
        return Row(key_of(Place(device=device.name)), line)


def _gutter(view: DevicesView) -> int:
    """Cells for the cursor and, as soon as a row is marked, for the letters, which must not be read as part of the name."""
    return 3 if view.marked else 1


def _marks(place: Place, view: DevicesView) -> Line:
    """The room of the cursor, and of the letter."""
    if not view.marked:
        return [(" ", "")]
    return [(" ", ""), (f"{view.marked.get(key_of(place), ''):<2}", "mark")]


def traffic(history: Sequence[Activity], cells: int, charset: Charset) -> Line:
    """What a device read and wrote in the last seconds, a column each, against the most of them; blank where it rested."""
    if not cells:
        return []
    columns = cells * charset.columns
    shown = list(history)[-columns:]
    reads = [activity.read_bytes_per_s for activity in shown]
    sums = [activity.read_bytes_per_s + activity.write_bytes_per_s for activity in shown]
    top = max([_LOWEST_TOP, *sums])
    if max(sums, default=0.0) < _NOTHING * top:
        return [(" " * cells, "")]
    blank = [0.0] * (columns - len(shown))

    def shares(values: Sequence[float]) -> list[float | None]:
        return [value / top if value >= _NOTHING * top else 0.0 for value in (*blank, *values)]

    tracks = [GlyphTrack(shares(sums), "write"), GlyphTrack(shares(reads), "read")]
    # What lies in front is the last in braille and the first in steps.
    return draw(tracks if charset is Charset.BRAILLE else tracks[::-1], cells, 1, charset)[0]


class _Style(IntEnum):
    """How much is shown of what is free, the most first."""

    BAR = 0
    FREE = 1
    NOTHING = 2


def _room_of(style: _Style) -> int:
    """The cells of the column Free."""
    return {_Style.BAR: _SIZE + 1 + _BAR, _Style.FREE: _SIZE, _Style.NOTHING: 0}[style]


def _style(devices: Sequence[Device], room: int) -> _Style:
    """The richest style that leaves room to know every mount point by, so that all rows are alike."""
    mounted = [device for device in devices if device.mounts]
    for style, known_by in ((_Style.BAR, 2 * _KNOWN_BY), (_Style.FREE, _KNOWN_BY)):
        needed = [min(len(device.mounts[0].path), known_by) + len(_more(device)) for device in mounted]
        if needed and max(needed) + _room_of(style) <= room:
            return style
    return _Style.NOTHING


def _free(mount: Mount, style: _Style, charset: Charset) -> Line:
    if mount.free_bytes is None or style is _Style.NOTHING:
        return [(" " * _room_of(style), "")]
    words = fit(_short_size(mount.free_bytes), _SIZE, right=True)
    bar = [(" ", ""), *used_bar(mount, _BAR, charset)] if style is _Style.BAR else []
    return [(words, ""), *bar]


def _more(device: Device) -> str:
    return f" +{len(device.mounts) - 1}" if len(device.mounts) > 1 else ""


def _carries(device: Device, width: int, style: _Style, charset: Charset) -> Line:
    """What is free and where it is mounted, else its model or what is on it."""
    sign: list[Piece] = [("ro ", "strong")] if device.read_only and width >= _ROOMY else []
    width -= 3 * len(sign) + 1
    if device.mounts:
        more, path = _more(device), clean(device.mounts[0].path)
        width -= _room_of(style)
        if more and width >= len(path) + len(more) + len(_WORD):
            more += _WORD
        shown = shorten_middle(path, max(4, width - len(more))) + more
        return [*_free(device.mounts[0], style, charset), (" ", ""), *sign, (shown, "")]
    if device.swap:
        words = "swap"
    elif device.fs_type:
        label = f" {clean(device.fs_label)}" if device.fs_label else ""
        words = f"{clean(device.fs_type)}{label}"
    elif device.kind is DeviceKind.LOOP and device.backing_file:
        words = clean(device.backing_file)
    else:
        words = clean(device.model)
    return [(" ", ""), *sign, (shorten_middle(words, width), "quiet")]


def used_bar(mount: Mount, cells: int, charset: Charset) -> Line:
    """How much of a file system is in use."""
    share = _used(mount)
    ink = "danger" if share > _FULL else "warn" if share > _FILLING else "accent"
    return progress_bar(share, cells, charset, ink=ink)


def _used(mount: Mount) -> float:
    """The share of a file system that is in use or kept back, 0 to 1."""
    if not mount.size_bytes or mount.free_bytes is None:
        return 0.0
    return min(1.0, max(0.0, 1 - mount.free_bytes / mount.size_bytes))


def _short_size(size: int | None) -> str:
    """A size without a blank and in at most six characters: `84G`, `1.2T`."""
    words = format_size(size or 0).split()
    return words[0].removesuffix(".00") + words[1][:1] if len(words) == 2 else words[0]


def doubt_lines(found: Sequence[Doubt], width: int) -> list[Line]:
    """Each doubt under its sign."""
    sign, ink = sign_of(SEVERITIES[Severity.WARNS])
    return [line for doubt in found for line in signed((sign, ink), clean(doubt.words), width, ink)]
